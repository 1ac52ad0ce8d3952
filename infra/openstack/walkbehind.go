package openstack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what is behind the load balancer of an API server.
var (
	rowC24 = &walk.Row{
		ID: "openstack.C24", Of: clusterKind,
		Asks:      "a listener and a pool for each port of the load balancer, by their names alone",
		None:      walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates it, and puts the control plane behind it"},
		Differs:   walk.Halts.Says("CAPO takes the listener of the name for the load balancer's, or creates a pool that Octavia refuses, and the port is served by nothing"),
		Condition: code.InfrastructureUnasked,
		Source:    "reconcileAPILoadBalancerListener, getOrCreateListener, getOrCreatePool: pkg/cloud/services/loadbalancer/loadbalancer.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC24b = &walk.Row{
		ID: "openstack.C24b", Of: clusterKind,
		Asks:      "the allowed CIDRs of the listener, which are to be those of spec and the cluster's own subnets, routers and bastion, as it last set them",
		None:      walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO takes the addresses of the bastion out, because the status that has them is gone, and puts them in again once it has found the bastion ready"},
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO sets them back, and shuts out everyone who was let in since the backup"},
		Condition: code.InfrastructureUnasked,
		Source:    "getCanonicalAllowedCIDRs, getOrUpdateAllowedCIDRs: pkg/cloud/services/loadbalancer/loadbalancer.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC24c = &walk.Row{
		ID: "openstack.C24c", Of: clusterKind,
		Asks:      "the health monitor of each port of the load balancer, whose delay, timeout and retries it sets back from release 0.13 on: none of them is read here, and it is noted where spec has a monitor",
		Condition: code.InfrastructureUnasked,
		Source:    "ensureMonitor: pkg/cloud/services/loadbalancer/loadbalancer.go v0.13.0 to v0.15.0-beta.0",
	}
	rowC27 = &walk.Row{
		ID: "openstack.C27", Of: clusterKind,
		Asks:      "the availability zones of Nova",
		None:      walk.Halts.Says("CAPO is refused as well, and never calls the cluster ready"),
		Refused:   "availability zones, to an account that is not the backup's, or because nobody answered",
		Condition: code.InfrastructureUnasked,
		Source:    "reconcileNormal: controllers/openstackcluster_controller.go; GetAvailabilityZones: pkg/cloud/services/compute/availabilityzone.go v0.9.0 to v0.15.0-beta.0",
	}
	rowM10 = &walk.Row{
		ID: "openstack.M10", Of: machineKind,
		Asks:      "the server of a control-plane machine among the members of each pool, by its name and with its address",
		None:      walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO puts the server behind the load balancer again"},
		Several:   walk.Waits.Says("Octavia refuses a second member with the address, and CAPO never calls the machine ready"),
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO takes the member out, and puts the server in with the address that it has"},
		Condition: code.InfrastructureUnasked, // of a machine with an identity of its own: pools are listed with the cluster's
		Source:    "reconcileLoadBalancerMember: controllers/openstackmachine_controller.go; ReconcileLoadBalancerMember: pkg/cloud/services/loadbalancer/loadbalancer.go v0.9.0 to v0.15.0-beta.0",
	}
)

// Facts of what is behind a load balancer, with its name behind them, in JSON.
const (
	FactListener = "listener" // a Listener
	FactMembers  = "members"  // of a pool: addresses, by the members' names
	FactHeld     = "heldPort" // of a port that is to be a trunk: the server that has it
)

// Listener is what is read of a listener.
type Listener struct {
	Balancer, Pool string   `json:",omitempty"` // ids
	CIDRs          []string `json:",omitempty"`
}

// Listed is the probe of a list that was read and holds anything.
const Listed = "listed"

var (
	trunkExtension = infra.Key{Kind: KeyExtension, Value: "trunk"}
	zones          = infra.Key{Kind: KeyZone, Value: Listed}
)

// portNames returns the names of a cluster's listeners, which its pools have, too.
func (l *location) portNames(id backup.ClusterID) (names []string) {
	d := &l.record.Data
	if !d.balanced() {
		return nil
	}
	port := int64(6443)
	if d.Port.Known && d.Port.N != 0 {
		port = d.Port.N
	}
	var more []int64
	_ = json.Unmarshal([]byte(d.LBPorts), &more) // absent in most
	for _, n := range append([]int64{port}, more...) {
		names = append(names, balancerName(id)+"-"+strconv.FormatInt(n, 10))
	}
	return names
}

// behind returns the probes of availability zones and of what is behind a load balancer. An
// inventory that lacks them leaves a condition.
func (l *location) behind(id backup.ClusterID) (keys []infra.Key) {
	if l.record == nil {
		return nil
	}
	for _, name := range l.portNames(id) {
		keys = append(keys, infra.Key{Kind: KeyListener, Value: ByName + name}, infra.Key{Kind: KeyPool, Value: ByName + name})
	}
	return append(keys, zones)
}

// askZones asks C27.
func (q *questions) askZones(id backup.ClusterID) {
	const object = "the list of availability zones"
	q.look(rowC27, id, func(p *place) walk.Answer {
		why, unread := p.FactsUnread.Get(KeyZone.String())
		refusal, refused := p.Fact(FactRefused + "/" + KeyZone.String())
		switch {
		case refused:
			return answer(walk.None, object, refusal, "may be read by CAPO")
		case unread:
			return walk.Answer{Found: walk.Unread, Why: why, Objects: []string{object}}
		case !p.Asks(zones):
			return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
		}
		return pass
	})
}

// listenedAnswer asks C24.
func (l *location) listenedAnswer(id backup.ClusterID, p *place) walk.Answer {
	balancers, object := p.balancersOf(id), "load balancer "+balancerName(id)
	if len(balancers) != 1 {
		return walk.Answer{} // C21 says it
	}
	for _, name := range l.portNames(id) {
		listener, pool := infra.Key{Kind: KeyListener, Value: ByName + name}, infra.Key{Kind: KeyPool, Value: ByName + name}
		f, known := factOf[Listener](p, FactListener+"/"+name)
		switch {
		case !p.Asks(listener), p.Finds(listener) && !known:
			return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
		case p.IsSilent(listener), p.IsSilent(pool):
			return walk.Answer{} // L7 says it
		case !p.Finds(listener):
			return answer(walk.None, object, object+" has no listener "+name, "has it")
		case f.Balancer != balancers[0].id:
			return answer(walk.Differs, object, fmt.Sprintf("listener %s is another load balancer's than %s", name, object), "has a listener of the name")
		case !p.Finds(pool) && f.Pool != "":
			return answer(walk.Differs, object, fmt.Sprintf("listener %s has a pool that is not called as it is", name), "has a pool of the name")
		case !p.Finds(pool):
			return answer(walk.None, object, object+" has no pool "+name, "has it")
		}
	}
	return pass
}

// factOf reads a Fact that is JSON.
func factOf[T any](p *place, name string) (of T, known bool) {
	text, known := p.Fact(name)
	return of, known && json.Unmarshal([]byte(text), &of) == nil
}

// allowedAnswer asks C24b. Where the cloud knows no allowed CIDRs a listener has none.
func (l *location) allowedAnswer(id backup.ClusterID, p *place) walk.Answer {
	object := "load balancer " + balancerName(id)
	var want []string
	_ = json.Unmarshal([]byte(l.record.Data.LBAllowed), &want)
	for _, name := range l.portNames(id) {
		f, known := factOf[Listener](p, FactListener+"/"+name)
		switch {
		case !known:
			return walk.Answer{} // C24 says it
		case want == nil && given(l.record.Data.LBAllows):
			return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
		case !slices.Equal(sorted(f.CIDRs), sorted(want)):
			return answer(walk.Differs, object, fmt.Sprintf("listener %s allows %s, and CAPO last set %s", name, cidrs(f.CIDRs), cidrs(want)), "allows the same")
		}
	}
	switch router, known := l.newRouter(p); {
	case !given(l.record.Data.LBAllows):
	case !known:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	case router != "":
		return answer(walk.Differs, object, fmt.Sprintf("%s allows the addresses of router %s, and spec.router leads to router %s now", object, l.record.Data.Router.ID, router), "is for the addresses of the first one by spec.allowedCIDRs, too")
	}
	if ip := l.record.Data.bastionAllowed(want); ip != "" {
		return answer(walk.None, object, fmt.Sprintf("%s allows the bastion's address %s, which spec.allowedCIDRs does not", object, ip), "is for the addresses of the bastion by spec.allowedCIDRs, too")
	}
	return pass
}

// bastionAllowed returns an address of the bastion that is among the allowed ones by the cluster's
// status alone, or "".
func (c *clusterRecord) bastionAllowed(cidrs []string) string {
	var spec []string
	_ = json.Unmarshal([]byte(c.LBAllows), &spec) // absent: all are
	for _, ip := range []string{c.BastionFloatingIP, c.BastionIP} {
		if len(spec) > 0 && slices.Contains(cidrs, ip+"/32") && !slices.Contains(spec, ip) && !slices.Contains(spec, ip+"/32") {
			return ip
		}
	}
	return ""
}

func sorted(all []string) []string {
	out := slices.Clone(all)
	slices.Sort(out)
	return slices.Compact(out)
}

func cidrs(all []string) string {
	if len(all) == 0 {
		return "all"
	}
	return infra.Brief(fmt.Sprint(sorted(all)))
}

// askRegistered asks M10.
func (q *questions) askRegistered(m *member) {
	l := q.objs.locations[m.cluster]
	if l.record == nil || l.record.Paused || m.machine == nil || !q.objs.snapshot.Machines[m.index].ControlPlane {
		return
	}
	own, _, _, _ := q.objs.strong(m)
	q.Steps = append(q.Steps, infra.Step{
		Step: walk.Step{Row: rowM10, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index},
		Look: func(inv *infra.Inventory) walk.Answer {
			p := q.place(inv, m.home)
			if p == nil {
				return walk.Answer{}
			}
			at := p.server(own)
			if at == nil {
				return walk.Answer{}
			}
			return l.registeredAnswer(m, p, at)
		},
	})
}

// elsewhere answers what CAPO asks with the identity of the machine, and was listed only with that of
// its cluster.
func elsewhere(m *member) walk.Answer {
	return walk.Answer{Found: walk.Unseen, Objects: []string{infra.ClusterTitle(m.cluster)}}
}

func (l *location) registeredAnswer(m *member, p *place, at *infra.Instance) walk.Answer {
	found := walk.Answer{}
	for _, pool := range l.portNames(m.cluster) {
		members, known := factOf[map[string]string](p, FactMembers+"/"+pool)
		switch {
		case !known && m.home != l.home:
			return elsewhere(m)
		case !known:
			return walk.Answer{} // C24 says it
		}
		name, object := pool+"-"+m.machine.Name, "server "+at.Name
		switch address, there := members[name]; {
		case !there && slices.ContainsFunc(slices.Collect(maps.Values(members)), func(held string) bool { return slices.Contains(at.Addresses, held) }):
			return answer(walk.Several, object, fmt.Sprintf("pool %s has a member with an address of %s that is not called %s", pool, object, name), "is a member of the name")
		case !there:
			return answer(walk.None, object, fmt.Sprintf("pool %s has no member %s", pool, name), "is one")
		case !slices.Contains(at.Addresses, address):
			return answer(walk.Differs, object, fmt.Sprintf("member %s of pool %s has address %s, which %s has not", name, pool, infra.Brief(address), object), "has the address of the member")
		}
		found = pass
	}
	return found
}

// trunked asks S8 of the trunks of a machine. Of a port that is not there, or that no server has,
// CAPO makes one.
func (p *place) trunked(trunks []infra.Key) walk.Answer {
	for _, k := range append([]infra.Key{trunkExtension}, trunks...) {
		name := strings.TrimPrefix(k.Value, ByName)
		object := k.Kind.String() + " " + name
		why, unread := p.FactsUnread.Get(k.Kind.String())
		refusal, refused := p.Fact(FactRefused + "/" + k.Kind.String())
		switch _, held := p.Fact(FactHeld + "/" + name); {
		case p.Finds(k):
		case refused:
			return answer(walk.None, object, refusal, "may be read by CAPO")
		case unread:
			return walk.Answer{Found: walk.Unread, Why: why, Objects: []string{object}}
		case !p.Asks(k):
			return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
		case k == trunkExtension:
			return answer(walk.None, object, p.title()+" has no "+object, "is there")
		case held:
			return answer(walk.Differs, object, "port "+name+" is no trunk, and a server has it", "exists")
		}
	}
	return pass
}

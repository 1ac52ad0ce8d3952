package openstack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// clusterRow returns a row of something that the cluster was given, which CAPO never makes.
func clusterRow(id, asks, source string) *walk.Row {
	return &walk.Row{
		ID: "openstack." + id, Of: clusterKind, Asks: asks,
		None:    walk.Halts.Says("CAPO never creates one that the cluster was given, and never calls the cluster ready"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Source:  source + " v0.10.0 to v0.15.0-beta.0",
	}
}

// Rows of what an OpenStackCluster was given.
var (
	rowC5 = &walk.Row{
		ID: "openstack.C5", Of: clusterKind,
		Asks:    "the only external network that the project sees, where spec.externalNetwork names none",
		None:    walk.Halts.Says("CAPO gives the load balancer of the API server no floating IP without one, and never calls the cluster ready"),
		Several: walk.Halts.Says("CAPO takes none of several (failed to get external network), and never calls the cluster ready"),
		Source:  "ReconcileExternalNetwork: pkg/cloud/services/networking/network.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC6 = differing(walk.Halts.Says("CAPO sets that as the gateway's of the router with the addresses of spec.externalRouterIPs, which Neutron refuses, because they are of the first one, and never calls the cluster ready"),
		clusterRow("C6", "the external network that spec.externalNetwork names; by a filter, among external ones", "getNetworkByFilter: pkg/cloud/services/networking/network.go; setRouterExternalIPs: router.go"))
	rowC7 = &walk.Row{
		ID: "openstack.C7", Of: clusterKind,
		Asks:    "no more than one of spec.managedSubnets",
		Several: walk.Halts.Says("CAPO takes one or none, and never calls the cluster ready"),
		Source:  "reconcileNetworkComponents: controllers/openstackcluster_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC8 = differing(walk.Halts.Says("CAPO takes another network than that of the machines for the cluster's: it finds none of the subnets there, or takes every member out of the load balancer of the API server, because no server has an address in that network"),
		clusterRow("C8", "the network that spec.network names, or where it names none that of the first of spec.subnets: the one that its machines are in", "reconcilePreExistingNetworkComponents: controllers/openstackcluster_controller.go; ReconcileLoadBalancerMember: pkg/cloud/services/loadbalancer/loadbalancer.go"))
	rowC8b = &walk.Row{
		ID: "openstack.C8b", Of: clusterKind,
		Asks:      "the same, where CAPO makes no load balancer and spec.subnets names none by its id",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.InstancesNeverJoin, What: "CAPO takes another network than that of the machines for the cluster's: machines that it creates from then on are in that one and never join"},
		Condition: code.InfrastructureUnasked,
		Source:    "reconcilePreExistingNetworkComponents: controllers/openstackcluster_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC9 = &walk.Row{
		ID: "openstack.C9", Of: clusterKind,
		Asks:     "the subnets of its network, where spec.subnets names none: one, or one of each version of IP",
		None:     walk.Halts.Says("CAPO finds no subnet, and never calls the cluster ready"),
		Differs:  walk.Halts.Says("CAPO refuses more than one subnet of a version of IP, and never calls the cluster ready"),
		Versions: "v0.10 to v0.14",
		Source:   "getClusterSubnets: controllers/openstackcluster_controller.go; ValidateSubnets: pkg/utils/controllers/controllers.go v0.10.0 to v0.14.7",
	}
	rowC10 = differing(walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO takes another subnet for the cluster's: it gives the rules for node ports and the allowed CIDRs of the load balancer the addresses of that one, and release 0.14 creates machines there"},
		clusterRow("C10", "each subnet that spec.subnets names; by a filter, in the cluster's network", "GetNetworkSubnetByParam: pkg/cloud/services/networking/network.go"))
	rowC11 = clusterRow("C11", "the router that spec.router names", "GetRouterByParam: pkg/cloud/services/networking/router.go")
	rowC16 = &walk.Row{
		ID: "openstack.C16", Of: clusterKind,
		Asks:    "the network that the load balancer of the API server was given, and its subnets, by their ids alone",
		None:    walk.Halts.Says("CAPO never creates one that the cluster was given, and never calls the cluster ready"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Differs: walk.Halts.Says("CAPO takes no subnet but by its id and in that network, and never calls the cluster ready"),

		Condition: code.InfrastructureUnasked,
		Source:    "resolveLoadBalancerNetwork: controllers/openstackcluster_controller.go v0.10.0 to v0.14.7",
	}
	rowC15      = clusterRow("C15", "the subnet of each of spec.externalRouterIPs", "ReconcileRouter: pkg/cloud/services/networking/router.go")
	clusterRows = []*walk.Row{rowC5, rowC6, rowC7, rowC8, rowC8b, rowC9, rowC10, rowC11, rowC15, rowC16}
)

// differing returns a row of what has to be the thing that the backup records, too: of what it
// finds by a filter CAPO writes a new status.
func differing(does walk.Does, r *walk.Row) *walk.Row {
	r.Differs, r.Condition = does, code.InfrastructureUnasked
	return r
}

// askNetworks asks for what the cluster was given.
func (q *questions) askNetworks(id backup.ClusterID, l *location) {
	d := &l.record.Data
	q.askServices(id, l)
	q.askCompute(id, l)
	q.askThings(id, l)
	if row := l.networkRow(); row != nil {
		q.look(row, id, l.networkAnswer)
	}
	if !d.noExternal() && !given(d.SpecExternal) {
		q.look(rowC5, id, func(p *place) walk.Answer { return externalAnswer(p, d) })
	}
	var managed []json.RawMessage
	_ = json.Unmarshal([]byte(d.ManagedSubnets), &managed) // in another form there are none
	object := clusterKind + " " + l.record.Namespace + "/" + l.record.Name
	switch {
	case len(managed) > 1:
		q.Note(rowC7, id, answer(walk.Several, object, fmt.Sprintf("%s has %d managedSubnets", object, len(managed)), "has one"))
	case len(managed) == 1:
		q.Note(rowC7, id, pass)
	}
	if k := l.anySubnets(); !k.IsZero() {
		q.look(rowC9, id, func(p *place) walk.Answer { return subnetsAnswer(p, k) })
	}
	parts := d.balancerGiven()
	for _, part := range parts {
		if part.kind == KeySubnet && part.id == "" {
			q.Note(rowC16, id, answer(walk.Differs, object, "the load balancer of "+object+" was given a subnet by a filter", "names it by its id"))
			break
		}
	}
	if len(parts) > 1 {
		q.look(rowC16, id, func(p *place) walk.Answer { return p.insideAnswer(parts[0].param, parts[1:]) })
	}
}

// insideAnswer asks C16 whether subnets are in a network.
func (p *place) insideAnswer(network param, subnets []balancerPart) walk.Answer {
	in, known := p.meant(network, KeyNetwork)
	for _, s := range subnets {
		at, _ := p.meant(s.param, KeySubnet)
		object, k := thingSubnet+" "+at.id, network.key(KeyNetwork)
		switch found := p.Finds(k) && p.Finds(s.key(KeySubnet)) && !p.FindsSeveral(k); {
		case s.id == "" || !found: // others say it
		case !known || at.network == "":
			return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
		case at.network != in.id:
			return answer(walk.Differs, object, fmt.Sprintf("%s is not in network %s, which the load balancer was given", object, in.id), "is in the network of the load balancer")
		}
	}
	return walk.Answer{}
}

// networkRow returns the row that asks which network the cluster was given is; nil where CAPO made it.
func (l *location) networkRow() *walk.Row {
	d := &l.record.Data
	byID := func(raw json.RawMessage) bool { return paramOf(string(raw)).id != "" }
	switch {
	case d.manages() || l.network() == "" || !given(d.SpecNetwork) && !given(d.SpecSubnets) && !given(d.SpecSubnet):
		return nil
	case d.balanced() || slices.ContainsFunc(d.givenSubnets(), byID):
		return rowC8
	}
	return rowC8b
}

// meantNetwork returns the id of the network that CAPO takes for the cluster's, where that was given.
func (l *location) meantNetwork(p *place) (id string, known bool) {
	if network := paramOf(l.record.Data.SpecNetwork); network.given {
		a, known := p.meant(network, KeyNetwork)
		return a.id, known
	}
	a, _ := p.meant(l.subnet(0), KeySubnet)
	return a.network, a.network != ""
}

// subnet returns the i-th that the cluster was given, as CAPO looks for it: the first in any network
// where none is given, and the others in that of the first.
func (l *location) subnet(i int) param {
	d := &l.record.Data
	s := paramOf(string(d.givenSubnets()[i]))
	if i == 0 && !given(d.SpecNetwork) {
		return s.anywhere()
	}
	return s.with("network_id", l.network())
}

// networkAnswer asks C8 and C8b.
func (l *location) networkAnswer(p *place) walk.Answer {
	id, known := l.meantNetwork(p)
	object, network := thingNetwork+" "+l.network(), paramOf(l.record.Data.SpecNetwork)
	k := network.key(KeyNetwork)
	if !network.given {
		k = l.subnet(0).key(KeySubnet)
	}
	switch {
	case known && id != l.network():
		return answer(walk.Differs, object, fmt.Sprintf("%s is the cluster's in the backup, and its object leads to network %s now", object, id), "is the one that the object of the cluster leads to, best by its id")
	case known:
		return pass
	case !p.Finds(k) || p.FindsSeveral(k):
		return walk.Answer{} // others say it
	}
	return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
}

// askThings asks for each thing without which CAPO does nothing for the cluster.
func (q *questions) askThings(id backup.ClusterID, l *location) {
	for _, d := range q.things[id] {
		q.look(d.row, id, func(p *place) walk.Answer {
			a, k := p.thing(d.keys[0], d.kind+" "+d.name), d.keys[0]
			all, recorded := p.answered[k], l.recorded(d.row)
			isQuery := strings.HasPrefix(k.Value, ByQuery) || strings.HasPrefix(k.Value, ByName)
			switch {
			case a.Found != walk.Passed || len(recorded) == 0 || !isQuery:
				return a
			case len(all) != 1:
				return walk.Answer{Found: walk.Unseen, Objects: []string{infra.ClusterTitle(id)}}
			case all[0].network != "" && all[0].network != l.network():
				return walk.Answer{} // C8 says it
			case !slices.Contains(recorded, all[0].id):
				object := d.kind + " " + all[0].id
				return answer(walk.Differs, object, fmt.Sprintf("%s is what the cluster's object leads to (%s) now, and the backup has %s", object, d.name, strings.Join(recorded, ", ")), "is named so no more, or the cluster's object names the other one by its id")
			}
			return a
		})
	}
}

// recorded returns the ids of what CAPO found before the backup, where it matters that it finds the
// same: the external network only to set the addresses of a router.
func (l *location) recorded(r *walk.Row) (ids []string) {
	d := &l.record.Data
	switch {
	case r == rowC10:
		ids = slices.Clone(d.Subnets)
	case r == rowC6 && d.manages() && given(d.RouterIPs):
		ids = []string{d.External.ID}
	}
	for i := range ids {
		ids[i] = UUIDOf(ids[i])
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// Values of probes of external networks.
const (
	SeveralExternal = "several" // the project sees more than one
	OneExternal     = "one"     // the project sees any
)

// externalAnswer asks C5. Without a load balancer the machines of the control plane ask for the
// network, and nobody else.
func externalAnswer(p *place, d *osCluster) walk.Answer {
	const object = "external network"
	any := infra.Key{Kind: KeyExternal, Value: OneExternal}
	switch {
	case p.Finds(infra.Key{Kind: KeyExternal, Value: SeveralExternal}):
		return walk.Answer{Found: walk.Several, Why: p.title() + " sees several external networks, and spec.externalNetwork names none", Until: object + " is named by spec.externalNetwork", Objects: []string{object}}
	case p.Finds(any):
		return pass
	case p.IsSilent(any) || !d.balanced() || d.noFloatingIP():
		return walk.Answer{}
	}
	return answer(walk.None, object, p.title()+" sees no external network", "is shared with the project")
}

// anySubnets returns the probe of the subnets of a network that the cluster was given without any;
// it is zero from release 0.15 on, which takes them all.
func (l *location) anySubnets() infra.Key {
	d := &l.record.Data
	if d.manages() || given(d.SpecSubnets) || given(d.SpecSubnet) || !given(d.SpecNetwork) || l.release == byNameAlone || l.release >= recording {
		return infra.Key{}
	}
	network := paramOf(d.SpecNetwork).id
	if network == "" {
		network = d.Network.ID
	}
	return idKey(KeyInside, UUIDOf(network))
}

// subnetsAnswer asks C9.
func subnetsAnswer(p *place, k infra.Key) walk.Answer {
	versions, known := p.Fact(FactSubnets + "/" + k.Value)
	object := "network " + k.Value
	all := strings.Fields(versions)
	slices.Sort(all)
	switch {
	case p.IsSilent(k) || !known:
		return walk.Answer{}
	case len(all) == 0:
		return answer(walk.None, object, object+" has no subnet", "has one")
	case len(all) > len(slices.Compact(slices.Clone(all))):
		return answer(walk.Differs, object, fmt.Sprintf("%s has %d subnets, and spec.subnets names none", object, len(all)), "has one subnet of each version of IP, or spec.subnets names them")
	}
	return pass
}

// FactSubnets names, with the id of a network behind it, its subnets: the version of IP of each.
const FactSubnets = "subnetsOf"

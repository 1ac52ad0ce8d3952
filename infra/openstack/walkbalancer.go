package openstack

import (
	"fmt"
	"net/netip"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of the load balancer and the floating IP of the API server.
var (
	rowC19 = &walk.Row{
		ID: "openstack.C19", Of: clusterKind,
		Asks:    "spec.controlPlaneEndpoint of its own, where its Cluster has one; without it, the floating or fixed IP of the API server in spec",
		None:    walk.Halts.Says("CAPO comes to no endpoint, and never calls the cluster ready"),
		Differs: walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates a floating IP, writes that as the endpoint of the OpenStackCluster, and puts it on a server of the control plane; Neutron refuses that for one that has a floating IP, and its machine waits"},
		Source:  "reconcileControlPlaneEndpoint: controllers/openstackcluster_controller.go; getAPIServerFloatingIP: pkg/cloud/services/loadbalancer/loadbalancer.go; GetOrCreateFloatingIP: pkg/cloud/services/networking/floatingip.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC21 = &walk.Row{
		ID: "openstack.C21", Of: clusterKind,
		Asks:    "the load balancer of the API server, by its name; of several it takes the first",
		None:    walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates one"},
		Several: walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "CAPO takes the first of several, and which one that is nobody knows"},
		Differs: walk.Halts.Says("CAPO creates a second load balancer, which gets no listeners, because those of the first one have their names: the floating IP moves to it, and nothing answers there; without a floating IP the address is taken, and the cluster is never ready"),
		Source:  "getOrCreateAPILoadBalancer, checkIfLbExists: pkg/cloud/services/loadbalancer/loadbalancer.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC22 = &walk.Row{
		ID: "openstack.C22", Of: clusterKind,
		Asks:    "the load balancer of that name to be ACTIVE",
		Differs: walk.Halts.Says("CAPO waits until it is ACTIVE, and does not call the cluster ready before (openstack loadbalancer failover repairs most)"),
		None:    walk.Retries.Says("CAPO waits as long as Octavia is changing it"),
		Source:  "ReconcileLoadBalancer, waitForLoadBalancerActive: pkg/cloud/services/loadbalancer/loadbalancer.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC23 = &walk.Row{
		ID: "openstack.C23", Of: clusterKind,
		Asks:      "the floating IP of the API server, by its address, and puts it on the port of the load balancer, even if something else has it",
		None:      walk.Halts.Says("CAPO asks for the same address, which only an administrator of OpenStack may choose, and never calls the cluster ready"),
		Differs:   walk.Does{Effect: walk.Writes, Code: code.AddressTaken, What: "CAPO takes the floating IP of the API server away from where it is"},
		Condition: code.HostResolves,
		Source:    "getAPIServerFloatingIP: pkg/cloud/services/loadbalancer/loadbalancer.go; AssociateFloatingIP: pkg/cloud/services/networking/floatingip.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC25 = &walk.Row{
		ID: "openstack.C25", Of: clusterKind,
		Asks:      "the address of the load balancer, which it writes into spec.controlPlaneEndpoint where the API server has no floating IP",
		Differs:   walk.Halts.Says("another load balancer has the name, so that nothing answers at the recorded endpoint, and CAPO's webhook refuses to change that"),
		Condition: code.InfrastructureUnasked,
		Source:    "reconcileControlPlaneEndpoint: controllers/openstackcluster_controller.go; ValidateUpdate: pkg/webhooks/openstackcluster_webhook.go v0.10.0 to v0.15.0-beta.0",
	}
	balancerRows = []*walk.Row{rowC19, rowC21, rowC22, rowC23, rowC24, rowC24b, rowC24c, rowC25, rowC27}
)

// Facts of what is before an API server, beside those of [infra.Listing.NoteOwn].
const (
	// FactBalancer names, with a name behind it, a load balancer of that name: id, provisioning
	// status, the id of the port of its address, and that.
	FactBalancer = "loadBalancer"
	// FactFloating names, with an address behind it, the id of the port that has the floating IP; it
	// is empty where none has.
	FactFloating = "floatingIP"
)

// askBalancer asks for what is before the API server.
func (q *questions) askBalancer(id backup.ClusterID, l *location) {
	d := &l.record.Data
	q.askEndpoint(id, l)
	if d.balanced() {
		q.look(rowC21, id, func(p *place) walk.Answer { return l.balancerAnswer(id, p) })
		q.look(rowC22, id, func(p *place) walk.Answer { return l.statusAnswer(id, p) })
		q.look(rowC24, id, func(p *place) walk.Answer { return l.listenedAnswer(id, p) })
		q.look(rowC24b, id, func(p *place) walk.Answer { return l.allowedAnswer(id, p) })
		if d.noFloatingIP() && isAddress(d.Endpoint) {
			q.look(rowC25, id, func(p *place) walk.Answer { return l.pointedAnswer(id, p) })
		}
		if l.address() != "" {
			q.look(rowC23, id, func(p *place) walk.Answer { return l.takenAnswer(id, p) })
		}
	}
	if d.balanced() && d.LBMonitor { // a member of spec that releases from 0.13 on have
		q.Note(rowC24c, id, walk.Answer{Found: walk.Unseen, Objects: []string{"health monitors of load balancer " + balancerName(id)}})
	} else {
		q.Note(rowC24c, id, pass)
	}
	if !d.balanced() {
		q.Note(rowC24, id, pass)
		q.Note(rowC24b, id, pass)
	}
	if _, err := netip.ParseAddr(d.Endpoint); err != nil && d.Endpoint != "" && d.FloatingIP == "" && !d.noFloatingIP() && l.release != byNameAlone {
		object := infra.Brief(d.Endpoint)
		if l.address() != "" {
			object += " to " + l.address()
		}
		q.Note(rowC23, id, walk.Answer{Found: walk.Unseen, Objects: []string{object}})
	}
}

// askEndpoint asks C19.
func (q *questions) askEndpoint(id backup.ClusterID, l *location) {
	d, c := &l.record.Data, q.objs.known[id]
	object := clusterKind + " " + l.record.Namespace + "/" + l.record.Name
	lacks := func(found walk.Found, also string) walk.Answer {
		return answer(found, object, object+" has no spec.controlPlaneEndpoint, which its Cluster has"+also, "has the endpoint of its Cluster")
	}
	switch {
	case c == nil || c.Endpoint == "":
	case d.Endpoint != "" || d.FloatingIP != "" && !d.noFloatingIP() || d.noFloatingIP() && (d.balanced() || d.FixedIP != ""):
		q.Note(rowC19, id, pass)
	case d.noFloatingIP():
		q.Note(rowC19, id, lacks(walk.None, ", and no spec.apiServerFixedIP"))
	case d.balanced():
		q.Note(rowC19, id, lacks(walk.None, ", and no spec.apiServerFloatingIP: CAPO creates another floating IP, which Neutron refuses for the port of the load balancer"))
	default:
		q.look(rowC19, id, func(p *place) walk.Answer {
			if k := (infra.Key{Kind: KeyExternal, Value: OneExternal}); !given(d.SpecExternal) && p.Lacks(k) {
				return lacks(walk.None, ", and "+p.title()+" sees no external network")
			}
			return lacks(walk.Differs, "")
		})
	}
}

// balancer is what a place says of one.
type balancer struct{ id, status, port, address string }

// balancersOf returns those of the name that a cluster's has. One that is being deleted is none.
func (p *place) balancersOf(id backup.ClusterID) (all []balancer) {
	for _, text := range p.Facts.All(FactBalancer + "/" + balancerName(id)) {
		f := append(strings.Fields(text), "", "", "", "")
		if f[1] != "PENDING_DELETE" && f[1] != "DELETED" {
			all = append(all, balancer{f[0], f[1], f[2], f[3]})
		}
	}
	return all
}

// balancerAnswer asks C21.
func (l *location) balancerAnswer(id backup.ClusterID, p *place) walk.Answer {
	name := infra.Key{Kind: KeyBalancer, Value: ByName + balancerName(id)}
	here := idKey(KeyBalancer, l.record.Data.LB.ID)
	object := "load balancer " + balancerName(id)
	switch n := len(p.balancersOf(id)); {
	case n > 1:
		return answer(walk.Several, object, fmt.Sprintf("%s has %d load balancers of the name %s", p.title(), n, balancerName(id)), "is one alone")
	case n == 0 && len(p.Facts.All(FactBalancer+"/"+balancerName(id))) > 0:
		return answer(walk.None, object, object+" is being deleted", "is created again")
	case n == 1 || p.Finds(name):
		return pass
	case p.IsSilent(name):
		return walk.Answer{}
	case p.Finds(here):
		object = "load balancer " + here.Value
		return answer(walk.Differs, object, object+" has another name", "is called "+balancerName(id)+" again")
	}
	return answer(walk.None, object, fmt.Sprintf("%s has no %s", p.title(), object), "exists")
}

// statusAnswer asks C22.
func (l *location) statusAnswer(id backup.ClusterID, p *place) walk.Answer {
	all := p.balancersOf(id)
	if len(all) == 0 {
		return walk.Answer{}
	}
	object := "load balancer " + balancerName(id)
	for _, b := range all {
		switch {
		case b.status == "ERROR":
			return answer(walk.Differs, object, fmt.Sprintf("%s is in provisioning status %s", object, b.status), "is ACTIVE")
		case strings.HasPrefix(b.status, "PENDING_"):
			return answer(walk.None, object, fmt.Sprintf("%s is in provisioning status %s", object, infra.Brief(b.status)), "is ACTIVE")
		}
	}
	return pass
}

// takenAnswer asks C23 for who has the floating IP; that there is one is asked with the other things.
func (l *location) takenAnswer(id backup.ClusterID, p *place) walk.Answer {
	port, known := p.Fact(FactFloating + "/" + l.address())
	all := p.balancersOf(id)
	if !known || port == "" || len(all) != 1 || all[0].port == "" || all[0].port == port {
		return walk.Answer{}
	}
	object := "floating IP " + l.address()
	return answer(walk.Differs, object, fmt.Sprintf("%s is on port %s, which is not that of load balancer %s", object, port, balancerName(id)), "is on the port of the load balancer")
}

// pointedAnswer asks C25.
func (l *location) pointedAnswer(id backup.ClusterID, p *place) walk.Answer {
	all, object := p.balancersOf(id), "load balancer "+balancerName(id)
	if len(all) != 1 {
		return walk.Answer{} // C21 says it
	}
	have, err := netip.ParseAddr(all[0].address)
	want, _ := netip.ParseAddr(l.record.Data.Endpoint)
	switch {
	case err != nil:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	case have != want:
		return answer(walk.Differs, object, fmt.Sprintf("%s has address %s, and the recorded endpoint is %s", object, have, want), "has the recorded address")
	}
	return pass
}

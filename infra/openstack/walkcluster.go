package openstack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
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
	rowC6 = clusterRow("C6", "the external network that spec.externalNetwork names; by a filter, among external ones", "getNetworkByFilter: pkg/cloud/services/networking/network.go")
	rowC7 = &walk.Row{
		ID: "openstack.C7", Of: clusterKind,
		Asks:    "no more than one of spec.managedSubnets",
		Several: walk.Halts.Says("CAPO takes one or none, and never calls the cluster ready"),
		Source:  "reconcileNetworkComponents: controllers/openstackcluster_controller.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC8 = clusterRow("C8", "the network that spec.network names", "reconcilePreExistingNetworkComponents: controllers/openstackcluster_controller.go")
	rowC9 = &walk.Row{
		ID: "openstack.C9", Of: clusterKind,
		Asks:     "the subnets of its network, where spec.subnets names none: one, or one of each version of IP",
		None:     walk.Halts.Says("CAPO finds no subnet, and never calls the cluster ready"),
		Differs:  walk.Halts.Says("CAPO refuses more than one subnet of a version of IP, and never calls the cluster ready"),
		Versions: "v0.10 to v0.14",
		Source:   "getClusterSubnets: controllers/openstackcluster_controller.go; ValidateSubnets: pkg/utils/controllers/controllers.go v0.10.0 to v0.14.7",
	}
	rowC10 = clusterRow("C10", "each subnet that spec.subnets names; by a filter, in the cluster's network", "GetNetworkSubnetByParam: pkg/cloud/services/networking/network.go")
	rowC11 = clusterRow("C11", "the router that spec.router names", "GetRouterByParam: pkg/cloud/services/networking/router.go")
	rowC16 = &walk.Row{
		ID: "openstack.C16", Of: clusterKind,
		Asks:    "the network that the load balancer of the API server was given, and its subnets, by their ids alone",
		None:    walk.Halts.Says("CAPO never creates one that the cluster was given, and never calls the cluster ready"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Differs: walk.Halts.Says("CAPO looks for no subnet by a filter, and never calls the cluster ready"),
		Source:  "resolveLoadBalancerNetwork: controllers/openstackcluster_controller.go v0.10.0 to v0.14.7",
	}
	rowC15      = clusterRow("C15", "the subnet of each of spec.externalRouterIPs", "ReconcileRouter: pkg/cloud/services/networking/router.go")
	clusterRows = []*walk.Row{rowC5, rowC6, rowC7, rowC8, rowC9, rowC10, rowC11, rowC15, rowC16}
)

// askNetworks asks for what the cluster was given.
func (q *questions) askNetworks(id backup.ClusterID, l *location) {
	d := &l.record.Data
	q.askServices(id, l)
	q.askCompute(id, l)
	q.askThings(id)
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
	for _, part := range d.balancerGiven() {
		if part.kind == KeySubnet && part.id == "" {
			q.Note(rowC16, id, answer(walk.Differs, object, "the load balancer of "+object+" was given a subnet by a filter", "names it by its id"))
			break
		}
	}
}

// askThings asks for each thing without which CAPO does nothing for the cluster.
func (q *questions) askThings(id backup.ClusterID) {
	for _, d := range q.things[id] {
		q.look(d.row, id, func(p *place) walk.Answer { return p.thing(d.keys[0], d.kind+" "+d.name) })
	}
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

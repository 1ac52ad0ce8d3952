package openstack

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what CAPO made for a cluster, which it looks for by name after a restore: the
// status in which it keeps the id is gone.
var (
	rowC12 = &walk.Row{
		ID: "openstack.C12", Of: clusterKind,
		Asks:    "the network that it created, by its name",
		None:    walk.Writes.Says("CAPO creates one"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Differs: walk.Halts.Says("CAPO creates a second network and cannot connect that to the router, because the addresses of both overlap, and never calls the cluster ready; or as an administrator of OpenStack it takes another project's network of the name"),

		Condition: code.InfrastructureUnasked,
		Source:    "ReconcileNetwork: pkg/cloud/services/networking/network.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC13 = &walk.Row{
		ID: "openstack.C13", Of: clusterKind,
		Asks:    "the subnet of its network with the addresses of spec.managedSubnets",
		None:    walk.Writes.Says("CAPO creates one"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Source:  "ReconcileSubnet: pkg/cloud/services/networking/network.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC14 = &walk.Row{
		ID: "openstack.C14", Of: clusterKind,
		Asks:    "the router that it created, by its name",
		None:    walk.Writes.Says("CAPO creates one"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Differs: walk.Halts.Says("CAPO creates a second router and cannot connect that to the subnet, because the first one has the address, and never calls the cluster ready; or as an administrator of OpenStack it takes another project's router of the name"),

		Condition: code.InfrastructureUnasked,
		Source:    "getExistingRouter: pkg/cloud/services/networking/router.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC13b = &walk.Row{
		ID: "openstack.C13b", Of: clusterKind,
		Asks:      "the DNS servers of that subnet, which are to be those of spec.managedSubnets in their order",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO sets the DNS servers of the subnet back from release 0.13 on"},
		Condition: code.InfrastructureUnasked,
		Source:    "updateSubnetDNSNameservers: pkg/cloud/services/networking/network.go v0.13.0 to v0.15.0-beta.0",
	}
	rowC14b = &walk.Row{
		ID: "openstack.C14b", Of: clusterKind,
		Asks:      "the external addresses of the router, which are to be those of spec.externalRouterIPs",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO sets the external addresses of the router back"},
		Condition: code.InfrastructureUnasked,
		Source:    "setRouterExternalIPs: pkg/cloud/services/networking/router.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC14c = &walk.Row{
		ID: "openstack.C14c", Of: clusterKind,
		Asks:      "an interface of the router on the cluster's network; here any port of the router there is one",
		None:      walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO connects the router"},
		Differs:   walk.Halts.Says("CAPO cannot connect the router, because another one has the gateway's address, and never calls the cluster ready"),
		Condition: code.InfrastructureUnasked,
		Source:    "ReconcileRouter, getRouterInterfaces: pkg/cloud/services/networking/router.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC17 = &walk.Row{
		ID: "openstack.C17", Of: clusterKind,
		Asks:     "the security group of a bastion, where there is to be none, to delete it",
		None:     walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO has no group of its own to delete and deletes another project's, which an administrator of OpenStack may"},
		Several:  walk.Does{Effect: walk.Writes, Code: code.InstancesNeverJoin, What: "CAPO takes none of several and ends there: no group gets into its status, and machines that it creates from then on are in group default alone and never join"},
		Differs:  walk.Does{Effect: walk.Writes, Code: code.InstancesNeverJoin, What: "Neutron refuses to delete it and CAPO ends there: no group gets into its status, and machines that it creates from then on are in group default alone and never join"},
		Versions: "v0.11 and later", Condition: code.InfrastructureUnasked,
		Source: "ReconcileSecurityGroups: pkg/cloud/services/networking/securitygroups.go v0.11.0 to v0.15.0-beta.0",
	}
	rowC18 = &walk.Row{
		ID: "openstack.C18", Of: clusterKind,
		Asks:    "the security groups that it created, by their names",
		None:    walk.Writes.Says("CAPO creates one"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Differs: walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates a second security group: machines created from then on are in that one, and its rules do not let them and those of the first one reach each other; or as an administrator of OpenStack it takes another project's group of the name"},

		Condition: code.InfrastructureUnasked,
		Source:    "getOrCreateSecurityGroup: pkg/cloud/services/networking/securitygroups.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC18b = &walk.Row{
		ID: "openstack.C18b", Of: clusterKind,
		Asks:     "the groups that rules of spec.managedSecurityGroups name as remote ones, which have to be managed",
		Differs:  walk.Halts.Says("CAPO creates no rules for a group of a bastion that there is not, and never calls the cluster ready"),
		Versions: "v0.11 and later",
		Source:   "generateDesiredSecGroups, getAllNodesRules: pkg/cloud/services/networking/securitygroups.go v0.11.0 to v0.15.0-beta.0",
	}
	rowC30 = &walk.Row{
		ID: "openstack.C30", Of: clusterKind,
		Asks:    "the floating IP of the bastion's port; where that has none, for the one of spec.bastion.floatingIP, and puts it on the bastion, even if another server has it",
		None:    walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO gives the bastion a floating IP with another address, because the status that had it is gone"},
		Differs: walk.Does{Effect: walk.Writes, Code: code.AddressTaken, What: "CAPO takes the floating IP away from that server, unless the bastion has another one"},
		Refused: "floating IPs", Condition: code.InfrastructureUnasked,
		Source: "bastionAddFloatingIP: controllers/openstackcluster_controller.go; AssociateFloatingIP: pkg/cloud/services/networking/floatingip.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC31 = &walk.Row{
		ID: "openstack.C31", Of: clusterKind,
		Asks:     "the bastion, which has to be ACTIVE",
		Differs:  walk.Halts.Says("CAPO does not call the cluster ready before the bastion is ACTIVE"),
		Versions: "v0.10",
		Source:   "reconcileBastion: controllers/openstackcluster_controller.go v0.10.0",
	}
	managedRows = []*walk.Row{rowC12, rowC13, rowC13b, rowC14, rowC14b, rowC14c, rowC17, rowC18, rowC18b, rowC30, rowC31}
)

// managedRow is the row that asks for a thing of CAPO's making.
var managedRow = map[string]*walk.Row{KeyNetwork.String(): rowC12, KeyRouter.String(): rowC14, KeySecurity.String(): rowC18}

// askManaged asks for what CAPO made.
func (q *questions) askManaged(id backup.ClusterID, l *location) {
	for _, m := range l.managed(id) {
		q.look(managedRow[m.kind], id, m.answer)
	}
	if k := l.managedSubnet(); !k.IsZero() {
		q.look(rowC13, id, func(p *place) walk.Answer { return p.thing(k, thingSubnet+" of its network") })
		q.look(rowC13b, id, func(p *place) walk.Answer { return l.resolved(p, k) })
	}
	q.askRouter(id, l)
	if k := l.unusedGroup(id); !k.IsZero() {
		q.look(rowC17, id, func(p *place) walk.Answer { return l.unusedAnswer(p, k) })
	}
	if d := &l.record.Data; d.makesGroups() && l.mayServe() {
		object := clusterKind + " " + l.record.Namespace + "/" + l.record.Name
		a := pass
		if !d.bastioned() && d.namesBastion() {
			a = answer(walk.Differs, object, "rules of "+object+" name group "+roleBastion+", and it has no bastion", "has a bastion, or rules without its group")
		}
		q.Note(rowC18b, id, a)
	}
	if k := l.bastionElsewhere(); !k.IsZero() {
		q.look(rowC30, id, func(p *place) walk.Answer {
			switch object := "floating IP " + k.Value; {
			case p.Finds(k):
				return answer(walk.Differs, object, object+" is attached to a server that is not the cluster's bastion", "is the bastion's")
			case p.IsSilent(k):
				return walk.Answer{}
			}
			return pass
		})
	}
	if k := l.bastionHad(); !k.IsZero() {
		server := q.objs.servers[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: id.Name + "-" + roleBastion}]
		q.look(rowC30, id, func(p *place) walk.Answer { return keptAnswer(p, k, server) })
	}
	if k := l.stuckBastion(id); !k.IsZero() {
		q.look(rowC31, id, func(p *place) walk.Answer {
			if object := roleBastion + " " + k.Value; p.Finds(k) {
				return answer(walk.Differs, object, object+" is in ERROR or BUILD", "is ACTIVE, or spec.bastion.enabled is false")
			}
			return pass
		})
	}
}

// keptAnswer asks C30 of a floating IP that CAPO gave the bastion: one that is on nothing, or on a port
// that is not among those of its OpenStackServer, is none.
func keptAnswer(p *place, k infra.Key, server *backup.Record[osServer]) walk.Answer {
	object := "floating IP " + k.Value
	why, unread := p.FactsUnread.Get(k.Kind.String())
	port, known := p.Fact(FactFloating + "/" + k.Value)
	switch {
	case unread || slices.Contains(p.Unread, k.Kind):
		return walk.Answer{Found: walk.Unread, Why: why, Objects: []string{object}}
	case !p.Asks(k):
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	case p.Lacks(k):
		return answer(walk.None, object, object+" of the bastion is gone", "exists, and is named by spec.bastion.floatingIP")
	case known && port == "":
		return answer(walk.None, object, object+" of the bastion is on nothing", "is on the bastion again")
	case known && server != nil && len(server.Data.PortIDs) > 0 && !slices.ContainsFunc(server.Data.PortIDs, func(id string) bool { return UUIDOf(id) == port }):
		return answer(walk.None, object, object+" of the bastion is on port "+infra.Brief(port)+", which is not the bastion's", "is on the bastion again")
	case !p.Finds(k):
		return walk.Answer{}
	}
	return pass
}

// answer asks C12, C14 and C18.
func (m *managed) answer(p *place) walk.Answer {
	object := m.thing + " " + m.name
	another, seen := p.Fact(FactForeign + "/" + m.kind + "/" + m.name)
	switch here := idKey(infra.KeyKindOf(m.kind), m.id); {
	case p.Finds(m.namesakesKey()):
		return answer(walk.Several, object, fmt.Sprintf("%s has several with the name of the cluster's %s (%s)", p.title(), m.thing, infra.Brief(m.name)), "is one alone")
	case m.id != "" && p.Finds(m.renamedKey()):
		object = m.thing + " " + m.id
		return answer(walk.Differs, object, object+" has another name", "is called "+m.name+" again")
	case another != "" && UUIDOf(another) != m.id:
		return answer(walk.Differs, object, object+" is another project's, and this one has none of the name", "is this project's")
	case seen && another == "" && p.Finds(m.namedKey()):
		return walk.Answer{Found: walk.Unseen, Objects: []string{object + ", which another project has, too, for an administrator's account"}}
	case p.Finds(m.namedKey()), m.id != "" && p.Finds(here):
		return pass
	case p.IsSilent(m.namedKey()):
		return walk.Answer{}
	}
	return answer(walk.None, object, fmt.Sprintf("%s has no %s", p.title(), object), "exists")
}

// FactForeign names, with the kind and the name of a thing behind it that CAPO looks for by name, one of
// another project: its id, which is empty where the backup's account may not see it.
const FactForeign = "foreign"

// Facts of what is around the network of a cluster.
const (
	FactNameservers = "nameservers" // of the subnet that a query finds, in JSON
	FactGateway     = "gateway"     // of a router: its external addresses, in JSON
	FactRouted      = "routed"      // of a network: the devices beside servers that have a port in it
)

// resolved asks C13b.
func (l *location) resolved(p *place, k infra.Key) walk.Answer {
	var managed []struct{ DNSNameservers []string }
	_ = json.Unmarshal([]byte(l.record.Data.ManagedSubnets), &managed) // in older versions it sets none back
	have, known := factOf[[]string](p, FactNameservers+"/"+k.Value)
	object := thingSubnet + " of network " + l.network()
	switch {
	case len(managed) == 0:
		return pass
	case p.IsSilent(k), !p.Finds(k):
		return walk.Answer{} // C13 says it
	case !known:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	case !slices.Equal(have, managed[0].DNSNameservers):
		return answer(walk.Differs, object, fmt.Sprintf("%s has DNS servers %s, and spec.managedSubnets has %s", object, infra.Brief(fmt.Sprint(have)), infra.Brief(fmt.Sprint(managed[0].DNSNameservers))), "has those of spec.managedSubnets")
	}
	return pass
}

// askRouter asks C14b and C14c of the router of a network that CAPO made.
func (q *questions) askRouter(id backup.ClusterID, l *location) {
	d := &l.record.Data
	if !d.manages() || d.noExternal() {
		return
	}
	var ips []struct{ FixedIP string }
	_ = json.Unmarshal([]byte(d.RouterIPs), &ips) // in another form there are none
	if len(ips) == 0 {
		q.Note(rowC14b, id, pass)
	} else {
		want := make([]string, len(ips))
		for i := range ips {
			want[i] = ips[i].FixedIP
		}
		q.look(rowC14b, id, func(p *place) walk.Answer { return l.gatewayAnswer(id, p, want) })
	}
	q.look(rowC14c, id, func(p *place) walk.Answer { return l.routedAnswer(id, p) })
}

// router returns the id of the router that CAPO finds. It is not known of one that has the name and
// is not the recorded one; said means that another row says what is wrong.
func (l *location) router(id backup.ClusterID, p *place) (router string, said bool) {
	d := &l.record.Data
	if given(d.SpecRouter) {
		a, _ := p.meant(paramOf(d.SpecRouter), KeyRouter)
		return a.id, false
	}
	for _, m := range l.managed(id) {
		if m.kind != KeyRouter.String() {
			continue
		}
		switch same, known := m.same(p); {
		case p.IsSilent(m.namedKey()), !p.Finds(m.namedKey()), m.id != "" && p.Finds(m.renamedKey()):
			return "", true
		case same && known:
			return m.id, false
		}
	}
	return "", false
}

// newRouter returns the id of the router that the cluster was given where that is not the recorded one, or
// "".
func (l *location) newRouter(p *place) (id string, known bool) {
	d := &l.record.Data
	have := UUIDOf(d.Router.ID)
	if !given(d.SpecRouter) || have == "" {
		return "", true
	}
	a, known := p.meant(paramOf(d.SpecRouter), KeyRouter)
	if a.id == have {
		return "", known
	}
	return a.id, known
}

// gatewayAnswer asks C14b.
func (l *location) gatewayAnswer(id backup.ClusterID, p *place, want []string) walk.Answer {
	router, said := l.router(id, p)
	have, known := factOf[[]string](p, FactGateway+"/"+router)
	object := "router " + router
	switch {
	case said:
		return walk.Answer{}
	case router == "", !known, slices.Contains(want, ""): // one that Neutron chooses
		return walk.Answer{Found: walk.Unseen, Objects: []string{infra.ClusterTitle(id)}}
	case !slices.Equal(sorted(have), sorted(want)):
		return answer(walk.Differs, object, fmt.Sprintf("%s has external addresses %s, and spec.externalRouterIPs has %s", object, infra.Brief(fmt.Sprint(have)), infra.Brief(fmt.Sprint(want))), "has those of spec.externalRouterIPs")
	}
	return pass
}

// routedAnswer asks C14c. The interfaces of a router that the cluster was given may be another
// project's, which are not read.
func (l *location) routedAnswer(id backup.ClusterID, p *place) walk.Answer {
	router, said := l.router(id, p)
	network := idKey(KeyNetwork, UUIDOf(l.network()))
	devices, known := p.Fact(FactRouted + "/" + network.Value)
	others := strings.Fields(devices)
	object := "router " + router
	another, _ := l.newRouter(p)
	switch {
	case said, !p.Finds(network), p.State != code.ScopeComplete:
		return walk.Answer{} // C12 and C14 say it
	case router != "" && slices.Contains(others, router):
		return pass
	case another != "" && slices.Contains(others, UUIDOf(l.record.Data.Router.ID)):
		return answer(walk.Differs, object, fmt.Sprintf("%s is what spec.router leads to now, and router %s has the port in network %s", object, l.record.Data.Router.ID, network.Value), "has the interface, or spec.router names the other one by its id")
	case router == "", !known, given(l.record.Data.SpecRouter):
		return walk.Answer{Found: walk.Unseen, Objects: []string{infra.ClusterTitle(id)}}
	case len(others) > 0:
		return answer(walk.Differs, object, fmt.Sprintf("%s has no port in network %s, and %s has one", object, network.Value, others[0]), "has the interface again")
	}
	return answer(walk.None, object, fmt.Sprintf("%s has no port in network %s", object, network.Value), "has one")
}

// managedSubnet returns the probe of the subnet that CAPO made, as it looks for it.
func (l *location) managedSubnet() infra.Key {
	d := &l.record.Data
	if !d.manages() || l.network() == "" {
		return infra.Key{}
	}
	cidr := d.nodeCIDR()
	if cidr == "" {
		return infra.Key{}
	}
	return infra.Key{Kind: KeySubnet, Value: ByQuery + queryOf("network_id", l.network(), "cidr", cidr)}
}

// nodeCIDR returns the addresses of the subnet that CAPO made, or "".
func (c *clusterRecord) nodeCIDR() string {
	var managed []struct{ CIDR string }
	if json.Unmarshal([]byte(c.ManagedSubnets), &managed) == nil && len(managed) > 0 {
		return managed[0].CIDR
	}
	return c.NodeCIDR
}

// namesBastion reports whether a rule is about the group of a bastion.
func (c *clusterRecord) namesBastion() bool {
	var rules map[string]json.RawMessage
	_ = json.Unmarshal([]byte(c.ManagedGroups), &rules) // in another form there are none
	for _, list := range rules {
		var of []struct{ RemoteManagedGroups []string }
		_ = json.Unmarshal(list, &of)
		for _, r := range of {
			if slices.Contains(r.RemoteManagedGroups, roleBastion) {
				return true
			}
		}
	}
	return false
}

// unusedGroup returns the probe of the security group of a bastion that is not wanted.
func (l *location) unusedGroup(id backup.ClusterID) infra.Key {
	d := &l.record.Data
	if !d.makesGroups() || d.bastioned() || !l.mayServe() {
		return infra.Key{}
	}
	return infra.Key{Kind: KeyUsed, Value: groupPrefix + resourceName(id) + groupMiddle + roleBastion}
}

// unusedAnswer asks C17.
func (l *location) unusedAnswer(p *place, k infra.Key) walk.Answer {
	object := thingGroup + " " + k.Value
	another, seen := p.Fact(FactForeign + "/" + KeySecurity.String() + "/" + k.Value)
	switch {
	case p.FindsSeveral(k):
		return answer(walk.Several, object, p.title()+" has several of the name "+infra.Brief(k.Value), "is gone")
	case p.Finds(k):
		return answer(walk.Differs, object, object+" is not specified any more, and ports are in it", "is in no use")
	case another != "" && another != l.group(roleBastion):
		return answer(walk.None, object, object+" is another project's", "is renamed there, or CAPO gets an account of its project alone")
	case seen && another == "":
		return walk.Answer{Found: walk.Unseen, Objects: []string{object + ", which another project has for an administrator's account"}}
	case p.IsSilent(k) || slices.Contains(p.Unread, KeySecurity):
		return walk.Answer{}
	}
	return pass
}

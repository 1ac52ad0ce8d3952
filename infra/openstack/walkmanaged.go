package openstack

import (
	"encoding/json"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
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
		Differs: walk.Halts.Says("CAPO creates a second network and cannot connect that to the router, because the addresses of both overlap, and never calls the cluster ready"),
		Source:  "ReconcileNetwork: pkg/cloud/services/networking/network.go v0.9.0 to v0.15.0-beta.0",
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
		Differs: walk.Halts.Says("CAPO creates a second router and cannot connect that to the subnet, because the first one has the address, and never calls the cluster ready"),
		Source:  "getExistingRouter: pkg/cloud/services/networking/router.go v0.9.0 to v0.15.0-beta.0",
	}
	rowC17 = &walk.Row{
		ID: "openstack.C17", Of: clusterKind,
		Asks:     "the security group of a bastion, where there is to be none, to delete it",
		Several:  walk.Does{Effect: walk.Writes, Code: code.InstancesNeverJoin, What: "CAPO takes none of several and ends there: no group gets into its status, and machines that it creates from then on are in group default alone and never join"},
		Differs:  walk.Does{Effect: walk.Writes, Code: code.InstancesNeverJoin, What: "Neutron refuses to delete it and CAPO ends there: no group gets into its status, and machines that it creates from then on are in group default alone and never join"},
		Versions: "v0.11 and later",
		Source:   "ReconcileSecurityGroups: pkg/cloud/services/networking/securitygroups.go v0.11.0 to v0.15.0-beta.0",
	}
	rowC18 = &walk.Row{
		ID: "openstack.C18", Of: clusterKind,
		Asks:    "the security groups that it created, by their names",
		None:    walk.Writes.Says("CAPO creates one"),
		Several: walk.Halts.Says("CAPO takes none of several, and never calls the cluster ready"),
		Differs: walk.Does{Effect: walk.Writes, Code: code.ResourceMade, What: "CAPO creates a second security group: machines created from then on are in that one, and its rules do not let them and those of the first one reach each other"},
		Source:  "getOrCreateSecurityGroup: pkg/cloud/services/networking/securitygroups.go v0.9.0 to v0.15.0-beta.0",
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
		Asks:    "the floating IP of spec.bastion.floatingIP, and puts it on the bastion, even if another server has it",
		Differs: walk.Does{Effect: walk.Writes, Code: code.AddressTaken, What: "CAPO takes the floating IP away from that server, unless the bastion has another one"},
		Source:  "bastionAddFloatingIP: controllers/openstackcluster_controller.go; AssociateFloatingIP: pkg/cloud/services/networking/floatingip.go v0.10.0 to v0.15.0-beta.0",
	}
	rowC31 = &walk.Row{
		ID: "openstack.C31", Of: clusterKind,
		Asks:     "the bastion, which has to be ACTIVE",
		Differs:  walk.Halts.Says("CAPO does not call the cluster ready before the bastion is ACTIVE"),
		Versions: "v0.10",
		Source:   "reconcileBastion: controllers/openstackcluster_controller.go v0.10.0",
	}
	managedRows = []*walk.Row{rowC12, rowC13, rowC14, rowC17, rowC18, rowC18b, rowC30, rowC31}
)

// managedRow is the row that asks for a thing of CAPO's making.
var managedRow = map[string]*walk.Row{keyNetwork.String(): rowC12, keyRouter.String(): rowC14, keySecurity.String(): rowC18}

// askManaged asks for what CAPO made.
func (q *questions) askManaged(id backup.ClusterID, l *location) {
	for _, m := range l.managed(id) {
		q.look(managedRow[m.kind], id, m.answer)
	}
	if k := l.managedSubnet(); !k.IsZero() {
		q.look(rowC13, id, func(p *place) walk.Answer { return p.thing(k, thingSubnet+" of its network") })
	}
	if k := l.unusedGroup(id); !k.IsZero() {
		q.look(rowC17, id, func(p *place) walk.Answer { return unusedAnswer(p, k) })
	}
	if d := &l.record.Data; d.makesGroups() && l.release >= withServers {
		object := clusterKind + " " + l.record.Namespace + "/" + l.record.Name
		a := pass
		if !d.BastionEnabled && d.namesBastion() {
			a = answer(walk.Differs, object, "rules of "+object+" name group "+roleBastion+", and it has no bastion", "has a bastion, or rules without its group")
		}
		q.Note(rowC18b, id, a)
	}
	if k := l.bastionElsewhere(); !k.IsZero() {
		q.look(rowC30, id, func(p *place) walk.Answer {
			switch object := "floating IP " + k.Value; {
			case p.found[k]:
				return answer(walk.Differs, object, object+" is attached to a server that is not the cluster's bastion", "is the bastion's")
			case p.silent(k):
				return walk.Answer{}
			}
			return pass
		})
	}
	if k := l.stuckBastion(id); !k.IsZero() {
		q.look(rowC31, id, func(p *place) walk.Answer {
			if object := roleBastion + " " + k.Value; p.found[k] {
				return answer(walk.Differs, object, object+" is in ERROR or BUILD", "is ACTIVE, or spec.bastion.enabled is false")
			}
			return pass
		})
	}
}

// answer asks C12, C14 and C18.
func (m *managed) answer(p *place) walk.Answer {
	object := m.thing + " " + m.name
	switch here := idKey(infra.KeyKindOf(m.kind), m.id); {
	case p.found[m.namesakesKey()]:
		return answer(walk.Several, object, fmt.Sprintf("%s has several with the name of the cluster's %s (%s)", p.title(), m.thing, infra.Brief(m.name)), "is one alone")
	case m.id != "" && p.found[m.renamedKey()]:
		object = m.thing + " " + m.id
		return answer(walk.Differs, object, object+" has another name", "is called "+m.name+" again")
	case p.found[m.namedKey()], m.id != "" && p.found[here]:
		return pass
	case p.silent(m.namedKey()):
		return walk.Answer{}
	}
	return answer(walk.None, object, fmt.Sprintf("%s has no %s", p.title(), object), "exists")
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
	return infra.Key{Kind: keySubnet, Value: byQuery + queryOf("network_id", l.network(), "cidr", cidr)}
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
	if !d.makesGroups() || d.BastionEnabled || l.release < withServers {
		return infra.Key{}
	}
	return infra.Key{Kind: keyUsed, Value: groupPrefix + resourceName(id) + groupMiddle + roleBastion}
}

// unusedAnswer asks C17.
func unusedAnswer(p *place, k infra.Key) walk.Answer {
	object := thingGroup + " " + k.Value
	switch {
	case p.several[k]:
		return answer(walk.Several, object, p.title()+" has several of the name "+infra.Brief(k.Value), "is gone")
	case p.found[k]:
		return answer(walk.Differs, object, object+" is not specified any more, and ports are in it", "is in no use")
	case p.silent(k) || p.unread[keySecurity]:
		return walk.Answer{}
	}
	return pass
}

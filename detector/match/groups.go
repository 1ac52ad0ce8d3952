package match

import (
	"drift-detector/backup"
	"drift-detector/infra"
)

// This file is which group of the Result shows the machines of an owner.

// ShownBy returns the group that shows an owner's machines: its MachineDeployment
// when there is one, else the MachineSet or pool itself; without either, a
// group without a name.
func (o *Owners) ShownBy(id infra.OwnerID) infra.OwnerID {
	switch id.Kind {
	case machineSet:
		if g := o.group(id); g != nil && g.Deployment != "" {
			return deploymentAbove(g)
		}
		return o.resolve(id)
	case machineDeployment, machinePool:
		return id
	default:
		return infra.OwnerID{Cluster: id.Cluster}
	}
}

// GroupShownBy returns what ShownBy does, of a group of the backup.
func (o *Owners) GroupShownBy(g *backup.Group) infra.OwnerID {
	if g.Kind == machineSet && g.Deployment != "" {
		return deploymentAbove(g)
	}
	return o.ShownBy(ownerOfGroup(g))
}

// deploymentAbove returns the MachineDeployment of a MachineSet that has one.
func deploymentAbove(g *backup.Group) infra.OwnerID {
	return infra.OwnerID{Cluster: g.Cluster, Kind: machineDeployment, Name: g.Deployment}
}

// Lacking returns the control planes and groups of a cluster, as they are shown, that had more
// machines than the backup holds. Pools usually have no Machines, so only those count that have some.
func (o *Owners) Lacking(id backup.ClusterID) map[infra.OwnerID]bool {
	out := map[infra.OwnerID]bool{}
	lacks := func(one *owner, replicas backup.Number) bool {
		have := one.count + one.orphans.recorded
		return replicas.Known && have < replicas.N && (one.Kind != machinePool || have > 0) && !o.Machineless(one.Kind)
	}
	for _, p := range o.planes[id] {
		if lacks(o.of(ownerOfPlane(p)), p.Replicas) {
			out[ownerOfPlane(p)] = true
		}
	}
	for _, g := range o.inCluster[id] {
		if lacks(g.owner, g.Replicas) {
			out[o.GroupShownBy(g.Group)] = true
		}
	}
	return out
}

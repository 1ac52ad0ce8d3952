package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
)

// Kinds of Cluster API that own machines beside control planes.
const (
	machineDeployment = "MachineDeployment"
	machineSet        = "MachineSet"
	machinePool       = "MachinePool"
)

// owners answers whether all machines of an owner are in the backup.
type owners struct {
	planes backup.ControlPlanes
	groups map[infra.OwnerID]*backup.Group
	// inCluster are the groups of each cluster by kind and name.
	inCluster map[backup.ClusterID][]*backup.Group
	count     map[infra.OwnerID]int64 // machines in the backup
	orphans   map[infra.OwnerID]orphanCount
	// pooled are MachinePools whose members are compared as a set: they need no
	// Machines.
	pooled map[infra.OwnerID]bool
	// managed are the kinds of control planes that providers run without machines.
	managed map[string]bool
}

func newOwners(s *backup.Snapshot, expected []*expectedMachine, c *infra.Expected) *owners {
	o := &owners{
		planes: s.ControlPlanesByCluster(), groups: make(map[infra.OwnerID]*backup.Group, len(s.Groups)),
		count: map[infra.OwnerID]int64{}, orphans: map[infra.OwnerID]orphanCount{}, inCluster: map[backup.ClusterID][]*backup.Group{}, pooled: map[infra.OwnerID]bool{},
		managed: c.ManagedPlanes,
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		o.pooled[infra.OwnerID{Cluster: p.Cluster, Kind: p.Kind, Name: p.Name}] = true
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		o.groups[ownerOfGroup(g)] = g
		o.inCluster[g.Cluster] = append(o.inCluster[g.Cluster], g)
	}
	for _, all := range o.planes {
		slices.SortFunc(all, func(a, b *backup.ControlPlane) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
		})
	}
	for _, all := range o.inCluster {
		slices.SortFunc(all, func(a, b *backup.Group) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
		})
	}
	for _, c := range expected {
		o.tally(c)
	}
	return o
}

// tally counts a machine for each of its owners: its MachineSet and the
// MachineDeployment above, or its control plane, or its pool.
func (o *owners) tally(c *expectedMachine) {
	c.owners = o.chain(c)
	if c.machine == nil {
		return
	}
	for _, id := range c.owners {
		o.count[id]++
	}
}

// orphanCount is how many orphans of an owner record an id, and of how many of those
// the instance was found.
type orphanCount struct{ recorded, found int64 }

// countOrphans counts the orphans that may be among their owner's replicas, once all
// claims are decided. One without a recorded id never was one.
func (o *owners) countOrphans(all []*expectedMachine) {
	for _, c := range all {
		if c.machine != nil || c.Strong.IsZero() {
			continue
		}
		for _, id := range c.owners {
			n := o.orphans[id]
			n.recorded++
			if c.matched != nil {
				n.found++
			}
			o.orphans[id] = n
		}
	}
}

// chain lists the owners of a machine, the nearest first.
func (o *owners) chain(c *expectedMachine) []infra.OwnerID {
	owner, set, deployment, pool, plane := ownersOf(c)
	id := func(kind, name string) infra.OwnerID {
		return infra.OwnerID{Cluster: c.cluster, Kind: kind, Name: name}
	}
	switch {
	case plane:
		return []infra.OwnerID{o.planeOf(c.cluster, owner)}
	case pool != "":
		return []infra.OwnerID{id(machinePool, pool)}
	}
	var out []infra.OwnerID
	if set != "" {
		out = append(out, id(machineSet, set))
		if g := o.groups[id(machineSet, set)]; deployment == "" && g != nil {
			deployment = g.Deployment
		} else if deployment == "" {
			deployment = o.deploymentOf(c.cluster, set)
		}
	}
	if deployment != "" {
		out = append(out, id(machineDeployment, deployment))
	}
	return out
}

// ownersOf reads the owners off a machine or an orphan.
func ownersOf(c *expectedMachine) (owner backup.Owner, set, deployment, pool string, plane bool) {
	if m := c.machine; m != nil {
		owner, set, deployment, pool, plane = m.Owner, m.Set, m.Deployment, m.Pool, m.ControlPlane
	} else {
		owner, plane = backup.Owner{Kind: c.Orphan.Owner.Kind, Name: c.Orphan.Owner.Name}, c.Orphan.ControlPlane
	}
	// Hashed labels do not name the owner; its reference does.
	switch owner.Kind {
	case machineSet:
		set = owner.Name
	case machineDeployment:
		deployment = owner.Name
	case machinePool:
		pool = owner.Name
	}
	return owner, set, deployment, pool, plane
}

// planeOf returns the control plane that a control-plane machine belongs to: one of
// its cluster, or what its owner names.
func (o *owners) planeOf(cluster backup.ClusterID, owner backup.Owner) infra.OwnerID {
	if p := o.planes.Named(cluster, owner.Kind, owner.Name); p != nil {
		return ownerOfPlane(p)
	}
	return infra.OwnerID{Cluster: cluster, Kind: owner.Kind, Name: owner.Name}
}

// known reports whether an owner itself is in the backup.
func (o *owners) known(id infra.OwnerID) bool {
	return o.groups[id] != nil || o.plane(id) != nil
}

func (o *owners) plane(id infra.OwnerID) *backup.ControlPlane {
	for _, p := range o.planes[id.Cluster] {
		if p.Kind == id.Kind && p.Name == id.Name {
			return p
		}
	}
	return nil
}

// resolve finds the owner whose completeness decides: the owner itself when it
// is in the backup; of a MachineSet made by a rollout after the backup, its
// MachineDeployment; else none but the cluster, of which it says nothing that all
// the owners which the backup holds are whole.
func (o *owners) resolve(id infra.OwnerID) infra.OwnerID {
	if o.known(id) {
		return id
	}
	whole := infra.OwnerID{Cluster: id.Cluster}
	if id.Kind != machineSet {
		return whole
	}
	if name := o.deploymentOf(id.Cluster, id.Name); name != "" {
		return infra.OwnerID{Cluster: id.Cluster, Kind: machineDeployment, Name: name}
	}
	return whole
}

// deploymentOf returns the name of the MachineDeployment of the backup that an
// unknown MachineSet is named after, or "".
func (o *owners) deploymentOf(cluster backup.ClusterID, set string) string {
	name := naming.Deployment(set)
	if o.groups[infra.OwnerID{Cluster: cluster, Kind: machineDeployment, Name: name}] == nil {
		return ""
	}
	return name
}

// missing returns why not all machines of an owner are known to be in the backup, or
// empty when they are. The owner is a resolved one.
func (o *owners) missing(id infra.OwnerID) string {
	if id.Kind == "" {
		return "the backup does not say which owner made it, and one that it lacks may have"
	}
	if p := o.plane(id); p != nil {
		if o.machineless(p.Kind) {
			return ""
		}
		return o.compare(id, p.Replicas, p.Desired)
	}
	if o.pooled[id] {
		return ""
	}
	g := o.groups[id]
	return o.compare(id, g.Replicas, g.Desired)
}

// compare holds the machines in the backup against what the owner's status counted.
// An orphan may have been one of those or not (the third law): the owner is complete
// when machines <= replicas <= machines + orphans whose own instance was found.
func (o *owners) compare(id infra.OwnerID, replicas, desired backup.Number) string {
	want, ok := expected(replicas, desired)
	switch have := o.count[id]; {
	case !ok:
		return fmt.Sprintf("%s %s does not say how many machines it had", id.Kind, id.Name)
	case have > want || have+o.orphans[id].found < want:
		return fmt.Sprintf("%s %s had %d machines, the backup holds %d", id.Kind, id.Name, want, have)
	}
	return ""
}

// expected returns status.replicas. Cluster API leaves a zero out; spec.replicas
// distinguishes that from an unknown count.
func expected(replicas, desired backup.Number) (int64, bool) {
	if !replicas.Known && desired.Known && desired.N == 0 {
		return 0, true
	}
	return replicas.N, replicas.Known
}

func ownerOfPlane(p *backup.ControlPlane) infra.OwnerID {
	return infra.OwnerID{Cluster: p.Cluster, Kind: p.Kind, Name: p.Name}
}

func ownerOfGroup(g *backup.Group) infra.OwnerID {
	return infra.OwnerID{Cluster: g.Cluster, Kind: g.Kind, Name: g.Name}
}

package match

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// Owners answers whether all machines of an owner are in the backup.
type Owners struct {
	subject code.Subject
	planes  backup.ControlPlanes
	others  map[infra.OwnerID]*owner // without a group: control planes, and what the backup lacks
	// inCluster are the groups of each cluster by kind and name.
	inCluster map[backup.ClusterID][]ownerGroup
	// managed are the kinds of control planes that providers run without machines.
	managed map[string]bool
}

// ownerGroup is a group with what is known of it as an owner.
type ownerGroup struct {
	*backup.Group
	owner *owner
}

func newOwners(s *backup.Snapshot, expected []*Machine, c *infra.Expected) *Owners {
	o := &Owners{
		subject: s.Subject(),
		planes:  s.ControlPlanesByCluster(), others: make(map[infra.OwnerID]*owner, len(s.ControlPlanes)),
		inCluster: make(map[backup.ClusterID][]ownerGroup, len(s.Clusters)), managed: c.ManagedPlanes,
	}
	groups, all := make([]ownerGroup, len(s.Groups)), make([]owner, len(s.Groups))
	for i := range s.Groups {
		groups[i].Group = &s.Groups[i]
	}
	slices.SortStableFunc(groups, func(a, b ownerGroup) int {
		return cmp.Or(CompareClusters(a.Cluster, b.Cluster), a.compare(b.Kind, b.Name))
	})
	first := 0 // of the cluster
	for i := range groups {
		g := &groups[i]
		if g.owner = &all[i]; i > 0 && ownerOfGroup(g.Group) == groups[i-1].owner.OwnerID {
			g.owner = groups[i-1].owner
		}
		g.owner.OwnerID, g.owner.group = ownerOfGroup(g.Group), g.Group
		if g.Cluster != groups[first].Cluster {
			first = i
		}
		o.inCluster[g.Cluster] = groups[first : i+1]
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		o.of(infra.OwnerID{Cluster: p.Cluster, Kind: p.Kind, Name: p.Name}).pooled = true
	}
	for _, all := range o.planes {
		slices.SortFunc(all, func(a, b *backup.ControlPlane) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
		})
	}
	o.tally(expected)
	return o
}

func (g ownerGroup) compare(kind, name string) int {
	return cmp.Or(cmp.Compare(g.Kind, kind), cmp.Compare(g.Name, name))
}

// of returns the owner of that id, which nothing may be known of.
func (o *Owners) of(id infra.OwnerID) *owner {
	in := o.inCluster[id.Cluster]
	if i, found := slices.BinarySearchFunc(in, id, func(g ownerGroup, id infra.OwnerID) int { return g.compare(id.Kind, id.Name) }); found {
		return in[i].owner
	}
	one := o.others[id]
	if one == nil {
		one = &owner{OwnerID: id}
		o.others[id] = one
	}
	return one
}

// group returns the object of a group, or nil.
func (o *Owners) group(id infra.OwnerID) *backup.Group { return o.of(id).group }

// tally counts each machine for each of its owners: its MachineSet and the
// MachineDeployment above, or its control plane, or its pool.
func (o *Owners) tally(all []*Machine) {
	var last lineage // most machines have that of the one before
	var chain []*owner
	for i, c := range all {
		if of := lineageOf(c); i == 0 || of != last {
			last, chain = of, o.chain(of)
		}
		c.owners = chain
		if c.Recorded != nil {
			for _, one := range chain {
				one.count++
			}
		}
	}
}

// countOrphans counts the orphans that may be among their owner's replicas, once all
// expected machines are decided. One without a recorded id never was one.
func (o *Owners) countOrphans(all []*Machine) {
	for _, c := range all {
		if c.Recorded != nil || c.Strong.IsZero() {
			continue
		}
		for _, one := range c.owners {
			one.orphans.recorded++
			if c.Matched != nil {
				one.orphans.found++
			}
		}
	}
}

// chain lists owners, the nearest first.
func (o *Owners) chain(l lineage) []*owner {
	of := func(kind, name string) *owner { return o.of(infra.OwnerID{Cluster: l.cluster, Kind: kind, Name: name}) }
	switch {
	case l.plane:
		return []*owner{o.of(o.planeOf(l.cluster, l.owner))}
	case l.pool != "":
		return []*owner{of(machinePool, l.pool)}
	}
	var out []*owner
	deployment := l.deployment
	if l.set != "" {
		set := of(machineSet, l.set)
		out = append(out, set)
		if g := set.group; deployment == "" && g != nil {
			deployment = g.Deployment
		} else if deployment == "" {
			deployment = o.deploymentOf(l.cluster, l.set)
		}
	}
	if deployment != "" {
		out = append(out, of(machineDeployment, deployment))
	}
	return out
}

// lineage is what a machine or an orphan says of its owners.
type lineage struct {
	cluster               backup.ClusterID
	owner                 backup.Owner
	set, deployment, pool string
	plane                 bool
}

func lineageOf(c *Machine) lineage {
	l := lineage{cluster: c.Of.Cluster, plane: c.isPlane()}
	if m := c.Recorded; m != nil {
		l.owner, l.set, l.deployment, l.pool = m.Owner, m.Set, m.Deployment, m.Pool
	} else {
		l.owner = backup.Owner{Kind: c.Orphan.Owner.Kind, Name: c.Orphan.Owner.Name}
	}
	// Hashed labels do not name the owner; its reference does.
	switch l.owner.Kind {
	case machineSet:
		l.set = l.owner.Name
	case machineDeployment:
		l.deployment = l.owner.Name
	case machinePool:
		l.pool = l.owner.Name
	}
	return l
}

// planeOf returns the control plane that a control-plane machine belongs to: one of
// its cluster, or what its owner names.
func (o *Owners) planeOf(cluster backup.ClusterID, owner backup.Owner) infra.OwnerID {
	if p := o.planes.Named(cluster, owner.Kind, owner.Name); p != nil {
		return ownerOfPlane(p)
	}
	return infra.OwnerID{Cluster: cluster, Kind: owner.Kind, Name: owner.Name}
}

// known reports whether an owner itself is in the backup.
func (o *Owners) known(id infra.OwnerID) bool {
	return o.group(id) != nil || o.plane(id) != nil
}

func (o *Owners) plane(id infra.OwnerID) *backup.ControlPlane {
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
func (o *Owners) resolve(id infra.OwnerID) infra.OwnerID {
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
func (o *Owners) deploymentOf(cluster backup.ClusterID, set string) string {
	name := naming.Deployment(set)
	if o.group(infra.OwnerID{Cluster: cluster, Kind: machineDeployment, Name: name}) == nil {
		return ""
	}
	return name
}

// missing returns why not all machines of an owner are known to be in the backup, or
// empty when they are. The owner is a resolved one.
func (o *Owners) missing(id infra.OwnerID) string {
	if id.Kind == "" {
		return o.subject.The() + " does not say which owner created it, and one that it lacks may have"
	}
	if p := o.plane(id); p != nil {
		if o.Machineless(p.Kind) {
			return ""
		}
		return o.compare(id, p.Replicas, p.Desired)
	}
	one := o.of(id)
	if one.pooled {
		return ""
	}
	return o.compare(id, one.group.Replicas, one.group.Desired)
}

// compare holds the machines in the backup against what the owner's status counted.
// An orphan may have been one of those or not (the third law): the owner is complete
// when machines <= replicas <= machines + orphans whose own instance was found.
func (o *Owners) compare(id infra.OwnerID, replicas, desired backup.Number) string {
	one := o.of(id)
	want, ok := expected(replicas, desired)
	switch have := one.count; {
	case !ok:
		return fmt.Sprintf("%s %s does not say how many machines it had", id.Kind, id.Name)
	case have > want || have+one.orphans.found < want:
		return fmt.Sprintf("%s %s had %s, %s holds %d", id.Kind, id.Name, english.Count(int(want), "machine"), o.subject.The(), have)
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

// hostedPlanes are the kinds of control planes that run as pods inside the management
// cluster, and are lost with it. They are of no provider of infrastructure.
var hostedPlanes = map[string]bool{
	"K0smotronControlPlane": true, "KamajiControlPlane": true, "HostedControlPlane": true,
}

// managedPlanes are the kinds of control planes without machines that infrastructures
// run which no provider here lists. Those of the others are in their Specs.
var managedPlanes = map[string]bool{
	"AzureManagedControlPlane": true, "AzureASOManagedControlPlane": true, "GCPManagedControlPlane": true, "OCIManagedControlPlane": true,
}

// Machineless reports whether control planes of a kind have no machines by design.
func (o *Owners) Machineless(kind string) bool {
	return o.managed[kind] || managedPlanes[kind] || hostedPlanes[kind]
}

// Hosted reports whether a control plane of a kind runs as pods inside the management cluster.
func (o *Owners) Hosted(kind string) bool { return hostedPlanes[kind] }

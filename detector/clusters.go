package detector

import (
	"cmp"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// draft is a cluster while its verdicts are gathered.
type draft struct {
	Cluster
	recorded []code.Status // of control-plane machines of the backup, orphans not among them
	groups   map[setName]*Set
}

type setName struct{ kind, name string }

// drafts are the clusters of the backup, and those that machines name beside.
type drafts struct {
	owners    *owners
	nodes     map[backup.ClusterID]report.Nodes
	providers map[backup.ClusterID]string
	byID      map[backup.ClusterID]*draft
	last      *draft // that was asked for: nearly always, it is again

	unattributed []*Unattributed
	unreadPools  map[clusterSet]PoolState
}

func newDrafts(ix *index, c *infra.Expected) *drafts {
	d := &drafts{owners: ix.owners, nodes: ix.nodes.lists, providers: c.Providers, unreadPools: ix.unreadPools, byID: make(map[backup.ClusterID]*draft, len(ix.snap.Clusters))}
	for i := range ix.snap.Clusters {
		c := &ix.snap.Clusters[i]
		one := d.of(c.ID())
		one.Derived, one.Self, one.Paused, one.Endpoint = c.Derived, c.Self, c.Paused, c.Endpoint
		one.ControlPlane.Kind, one.ControlPlane.Name = c.ControlPlane.Kind, c.ControlPlane.Name
	}
	for i := range ix.snap.ControlPlanes {
		d.plane(&ix.snap.ControlPlanes[i])
	}
	for i := range ix.snap.Groups {
		g := &ix.snap.Groups[i]
		s := d.of(g.Cluster).group(d.displayGroup(g))
		if g.Kind == s.Kind && g.Name == s.Name {
			s.Desired = g.Desired
		}
	}
	for i := range ix.pools {
		p := &ix.pools[i]
		if s := d.of(p.Cluster).group(setName{p.Kind, p.Name}); s.Pool == nil {
			s.Pool = &p.state
			if !s.Desired.Known {
				s.Desired = p.Desired
			}
		}
	}
	for i := range ix.snap.Groups {
		d.unread(&ix.snap.Groups[i])
	}
	for id, list := range ix.resources(c.Resources) {
		d.of(id).Resources = list
	}
	for id, list := range haltsOf(c.Halts) {
		d.of(id).Halts = list
	}
	return d
}

// unread marks a pool of a kind that no provider reads: a pool that was not looked for must
// not show as unchanged. Machines that it has prove nothing of it, because Cluster API only
// makes one for each infrastructure machine: how many there are, and which are ended, is up to
// the controller of the pool (reconcileMachines in core/reconcilers/machinepool v1.14.0). One
// that the backup wants empty is made so, whatever it has.
func (d *drafts) unread(g *backup.Group) {
	if g.Kind != machinePool {
		return
	}
	s := d.of(g.Cluster).group(d.displayGroup(g))
	if s.Pool != nil {
		return
	}
	one := d.unreadPools[clusterSet{g.Cluster, setName{g.Kind, g.Name}}]
	one.State, one.Desired, one.ManagedBy = code.Undecided, g.Desired, g.ReplicasManagedBy
	one.Message = "whether it exists is not known: no provider of this version reads " + cmp.Or(g.Infrastructure.Kind, "its kind")
	s.Pool = &one
}

// of returns the draft of a cluster, a derived one when the backup does not list it.
func (d *drafts) of(id backup.ClusterID) *draft {
	if d.last != nil && d.last.ID == id {
		return d.last
	}
	one := d.byID[id]
	if one == nil {
		one = &draft{groups: map[setName]*Set{}}
		one.ID, one.Derived, one.Provider, one.Nodes = id, true, d.providers[id], report.Nodes{State: "skipped"}
		if list, ok := d.nodes[id]; ok {
			one.Nodes = list
		}
		d.byID[id] = one
	}
	d.last = one
	return one
}

// plane takes the header of the control plane from its object: the one that the
// cluster refers to, or the first.
func (d *drafts) plane(p *backup.ControlPlane) {
	s := &d.of(p.Cluster).ControlPlane
	if s.Kind == "" {
		s.Kind, s.Name = p.Kind, p.Name
	}
	if s.Kind == p.Kind && s.Name == p.Name {
		s.Desired = p.Desired
	}
}

func (d *draft) group(name setName) *Set {
	s := d.groups[name]
	if s == nil {
		s = &Set{Kind: name.kind, Name: name.name}
		d.groups[name] = s
	}
	return s
}

// display returns the group that shows an owner's machines: its MachineDeployment
// when there is one, else the MachineSet or pool itself; without either, a
// group without a name.
func (d *drafts) display(id infra.OwnerID) setName {
	switch id.Kind {
	case machineSet:
		if g := d.owners.group(id); g != nil && g.Deployment != "" {
			return setName{machineDeployment, g.Deployment}
		}
		if r := d.owners.resolve(id); r.Kind != "" {
			return setName{r.Kind, r.Name}
		}
		return setName{}
	case machineDeployment, machinePool:
		return setName{id.Kind, id.Name}
	default:
		return setName{}
	}
}

// displayGroup returns what display does, of a group of the backup.
func (d *drafts) displayGroup(g *backup.Group) setName {
	if g.Kind == machineSet && g.Deployment != "" {
		return setName{machineDeployment, g.Deployment}
	}
	return d.display(ownerOfGroup(g))
}

// addMachine puts the verdict on a machine or an orphan where it belongs.
func (d *drafts) addMachine(c *expectedMachine) {
	one := d.of(c.of.Cluster)
	if c.verdict.ControlPlane {
		s := &one.ControlPlane
		s.Machines = append(s.Machines, c.verdict)
		if c.machine == nil {
			return
		}
		one.recorded = append(one.recorded, c.verdict.Status)
		if s.Kind == "" {
			s.Kind, s.Name = c.machine.Owner.Kind, c.machine.Owner.Name
		}
		return
	}
	name := setName{}
	if n := len(c.owners); n > 0 { // the last is the MachineDeployment when there is one
		last := c.owners[n-1]
		name = setName{last.Kind, last.Name}
	}
	s := one.group(name)
	s.Machines = append(s.Machines, c.verdict)
}

// addInstance puts an instance without a machine under its cluster.
func (d *drafts) addInstance(p placement) {
	one := d.of(p.link.cluster())
	s := &one.ControlPlane
	if !p.verdict.RoleKnown || !p.verdict.ControlPlane {
		s = one.group(d.display(p.link.owner()))
	}
	s.Machines = append(s.Machines, p.verdict)
}

// clusters finishes the drafts that are shown, in order.
func (d *drafts) clusters(shows func(backup.ClusterID) bool) []Cluster {
	out := make([]Cluster, 0, len(d.byID))
	for id, one := range d.byID {
		if shows(id) {
			out = append(out, d.finish(one))
		}
	}
	sorting.By(out, func(a, b Cluster) int { return compareClusters(a.ID, b.ID) })
	return out
}

func (d *drafts) finish(one *draft) Cluster {
	c := &one.Cluster
	lacking := d.lacking(c.ID)
	c.Applicable = !d.owners.machineless(c.ControlPlane.Kind) && (c.ControlPlane.Kind != "" || len(c.ControlPlane.Machines) > 0)
	c.ControlPlane.finish(one.planeReason(lacking[setName{c.ControlPlane.Kind, c.ControlPlane.Name}]))
	c.Workers = code.Healthy
	for name, s := range one.groups {
		reason := code.Reason("")
		switch {
		case s.Pool != nil: // it makes and deletes Machines as its members change
			reason = s.Pool.reason()
		case lacking[name]:
			reason = code.MachinesNotInBackup
		}
		s.finish(reason)
		c.Workers = code.Worst(c.Workers, s.Status)
		c.WorkerGroups = append(c.WorkerGroups, *s)
	}
	sorting.By(c.WorkerGroups, func(a, b Set) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	c.Status = code.Worst(c.ControlPlane.Status, c.Workers)
	return *c
}

// planeReason returns why a control plane needs confirmation whatever its machines are.
func (d *draft) planeReason(lacking bool) code.Reason {
	switch {
	case hostedPlanes[d.ControlPlane.Kind]:
		return code.HostedInManagementCluster
	case d.lost():
		return code.ControlPlaneLost
	case lacking:
		return code.MachinesNotInBackup
	}
	return ""
}

// lost reports whether no majority of the recorded control-plane machines can exist,
// so that etcd has no quorum. Unknown machines may exist: absence is not concluded
// from what was not decided.
func (d *draft) lost() bool {
	gone := 0
	for _, s := range d.recorded {
		if s == code.Stale {
			gone++
		}
	}
	n := len(d.recorded)
	return n > 0 && n-gone < n/2+1
}

// lacking finds the sets of a cluster that had more machines than the backup
// holds. Pools usually have no Machines, so only those count that have some.
func (d *drafts) lacking(id backup.ClusterID) map[setName]bool {
	out := map[setName]bool{}
	lacks := func(id infra.OwnerID, replicas backup.Number) bool {
		one := d.owners.of(id)
		have := one.count + one.orphans.recorded
		return replicas.Known && have < replicas.N && (id.Kind != machinePool || have > 0) && !d.owners.machineless(id.Kind)
	}
	for _, p := range d.owners.planes[id] {
		if lacks(ownerOfPlane(p), p.Replicas) {
			out[setName{p.Kind, p.Name}] = true
		}
	}
	for _, g := range d.owners.inCluster[id] {
		if lacks(ownerOfGroup(g), g.Replicas) {
			out[d.displayGroup(g)] = true
		}
	}
	return out
}

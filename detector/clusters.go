package detector

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/detector/match"
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

func setOf(id infra.OwnerID) setName { return setName{id.Kind, id.Name} }

// drafts are the clusters of the backup, and those that machines name beside.
type drafts struct {
	owners    *match.Owners
	nodes     map[backup.ClusterID]report.Nodes
	providers map[backup.ClusterID]string
	byID      map[backup.ClusterID]*draft
	last      *draft // that was asked for: nearly always, it is again

	unattributed []*Unattributed
	unreadPools  map[infra.OwnerID]match.Membership
}

func newDrafts(ix *match.Index, s *backup.Snapshot, c *infra.Expected) *drafts {
	d := &drafts{owners: ix.Owners, nodes: ix.NodeLists(), providers: c.Providers, unreadPools: ix.UnreadPools, byID: make(map[backup.ClusterID]*draft, len(s.Clusters))}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		one := d.of(c.ID())
		one.Derived, one.Self, one.Paused, one.Endpoint = c.Derived, c.Self, c.Paused, c.Endpoint
		one.ControlPlane.Kind, one.ControlPlane.Name = c.ControlPlane.Kind, c.ControlPlane.Name
	}
	for i := range s.ControlPlanes {
		d.plane(&s.ControlPlanes[i])
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		if set := d.of(g.Cluster).group(setOf(d.owners.GroupShownBy(g))); g.Kind == set.Kind && g.Name == set.Name {
			set.Desired = g.Desired
		}
	}
	for i := range ix.Pools {
		p := &ix.Pools[i]
		if set := d.of(p.Cluster).group(setName{p.Kind, p.Name}); set.Pool == nil {
			set.Pool = poolStateOf(p, s.Subject())
			if !set.Desired.Known {
				set.Desired = p.Desired
			}
		}
	}
	for i := range s.Groups {
		d.unread(&s.Groups[i])
	}
	for id, list := range resources(ix, c.Resources, len(s.Clusters)) {
		d.of(id).Resources = list
	}
	for id, list := range haltsOf(c.Halts) {
		d.of(id).Halts = list
	}
	return d
}

// machinePool is the kind of groups whose machines the infrastructure makes.
const machinePool = "MachinePool"

// unread marks a pool of a kind that no provider reads: a pool that was not looked for must
// not show as unchanged. Machines that it has prove nothing of it, because Cluster API only
// makes one for each infrastructure machine: how many there are, and which are ended, is up to
// the controller of the pool (reconcileMachines in core/reconcilers/machinepool v1.14.0). One
// that the backup wants empty is made so, whatever it has.
func (d *drafts) unread(g *backup.Group) {
	if g.Kind != machinePool {
		return
	}
	s := d.of(g.Cluster).group(setOf(d.owners.GroupShownBy(g)))
	if s.Pool != nil {
		return
	}
	of := d.unreadPools[infra.OwnerID{Cluster: g.Cluster, Kind: g.Kind, Name: g.Name}]
	one := PoolState{Then: of.Then, Now: of.Now}
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
		one.ID, one.Derived, one.Provider, one.Nodes = id, true, d.providers[id], report.Nodes{State: report.NodesSkipped}
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

// addMachine puts the verdict on a machine or an orphan where it belongs.
func (d *drafts) addMachine(c *match.Machine, v *Verdict) {
	one := d.of(c.Of.Cluster)
	if v.ControlPlane {
		s := &one.ControlPlane
		s.Machines = append(s.Machines, v)
		if c.Recorded == nil {
			return
		}
		one.recorded = append(one.recorded, v.Status)
		if s.Kind == "" {
			s.Kind, s.Name = c.Recorded.Owner.Kind, c.Recorded.Owner.Name
		}
		return
	}
	s := one.group(setOf(c.Group()))
	s.Machines = append(s.Machines, v)
}

// addInstance puts an instance without a machine under its cluster.
func (d *drafts) addInstance(p placement) {
	one := d.of(p.link.Cluster())
	s := &one.ControlPlane
	if !p.verdict.RoleKnown || !p.verdict.ControlPlane {
		s = one.group(setOf(d.owners.ShownBy(p.link.Owner())))
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
	sorting.By(out, func(a, b Cluster) int { return match.CompareClusters(a.ID, b.ID) })
	return out
}

func (d *drafts) finish(one *draft) Cluster {
	c := &one.Cluster
	lacking := d.owners.Lacking(c.ID)
	c.Applicable = !d.owners.Machineless(c.ControlPlane.Kind) && (c.ControlPlane.Kind != "" || len(c.ControlPlane.Machines) > 0)
	c.ControlPlane.finish(one.planeReason(d.owners.Hosted(c.ControlPlane.Kind), lacking[infra.OwnerID{Cluster: c.ID, Kind: c.ControlPlane.Kind, Name: c.ControlPlane.Name}]))
	c.Workers, c.WorkerGroups = code.Healthy, slices.Grow(c.WorkerGroups, len(one.groups))
	for name, s := range one.groups {
		reason := code.Reason("")
		switch {
		case s.Pool != nil: // it makes and deletes Machines as its members change
			reason = s.Pool.reason()
		case lacking[infra.OwnerID{Cluster: c.ID, Kind: name.kind, Name: name.name}]:
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
func (d *draft) planeReason(hosted, lacking bool) code.Reason {
	switch {
	case hosted:
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

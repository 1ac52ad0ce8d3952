package forecast

import (
	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
)

// index is the estate by what forecasts look up.
type index struct {
	snapshot *backup.Snapshot
	machines map[string]*backup.Machine // by uid, which no two objects share, of whatever backup
	clusters map[backup.ClusterID]*backup.Cluster
	planes   map[backup.ClusterID][]*backup.ControlPlane
	groups   map[backup.ClusterID][]*backup.Group
	counts   map[owner]int // Machines in the backup by owner
	checks   map[backup.ClusterID][]*check
	halts    map[backup.ClusterID][]string
	nodes    map[nodeKey]*infra.Node
	read     map[backup.ClusterID]bool // the Node list was read

	controllers map[string]infra.Controller // by provider
}

// owner names what makes Machines.
type owner struct {
	cluster    backup.ClusterID
	kind, name string
}

// nodeKey finds a Node as the Machine controller does: by its exact provider id
// (Cluster API internal/controllers/machine/machine_controller_noderef.go v1.10.0).
type nodeKey struct {
	cluster    backup.ClusterID
	providerID string
}

func newIndex(s *backup.Snapshot, absent []backup.Absence, inv infra.Inventory) *index {
	x := &index{
		snapshot: s, machines: make(map[string]*backup.Machine, len(s.Machines)), clusters: map[backup.ClusterID]*backup.Cluster{},
		planes: map[backup.ClusterID][]*backup.ControlPlane{}, groups: map[backup.ClusterID][]*backup.Group{}, counts: map[owner]int{},
		checks: readChecks(s), halts: map[backup.ClusterID][]string{}, nodes: map[nodeKey]*infra.Node{}, read: map[backup.ClusterID]bool{},
	}
	for i := range s.Clusters {
		x.clusters[s.Clusters[i].ID()] = &s.Clusters[i]
	}
	for i := range s.ControlPlanes {
		p := &s.ControlPlanes[i]
		x.planes[p.Cluster] = append(x.planes[p.Cluster], p)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		x.groups[g.Cluster] = append(x.groups[g.Cluster], g)
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		x.machines[m.UID] = m
		x.counts[owner{m.Cluster, m.Owner.Kind, m.Owner.Name}]++
	}
	for _, a := range absent {
		for _, id := range a.Halts {
			x.halts[id] = append(x.halts[id], a.Kind+" "+a.Name)
		}
	}
	for i := range inv.Listings {
		l := &inv.Listings[i]
		if l.NodeState == "read" {
			for _, id := range l.Clusters {
				x.read[id] = true
			}
		}
		for j := range l.Nodes {
			n := &l.Nodes[j]
			x.nodes[nodeKey{n.Cluster, n.ProviderID}] = n
		}
	}
	return x
}

// cluster gathers all facts about one cluster.
func (x *index) cluster(c *detector.Cluster) *cluster {
	out := &cluster{Cluster: c, backups: x.snapshot.Backups, halts: x.halts[c.ID], read: x.read[c.ID], checks: x.checks[c.ID], controller: x.controllers[c.Provider]}
	out.plane = set{cluster: out, Set: &c.ControlPlane, plane: x.plane(c)}
	x.fill(&out.plane)
	if p := out.plane.plane; p != nil {
		out.plane.count(p.Desired, x.counts[owner{c.ID, p.Kind, p.Name}])
		out.externalEtcd = p.ExternalEtcd
	}
	for i := range c.WorkerGroups {
		g := &set{cluster: out, Set: &c.WorkerGroups[i]}
		x.fill(g)
		x.owners(g)
		out.groups = append(out.groups, g)
	}
	out.weigh()
	return out
}

// plane is the control plane that the cluster shows, or nil.
func (x *index) plane(c *detector.Cluster) *backup.ControlPlane {
	for _, p := range x.planes[c.ID] {
		if p.Kind == c.ControlPlane.Kind && p.Name == c.ControlPlane.Name {
			return p
		}
	}
	return nil
}

// owners counts what the MachineSets of a group want and have. They, not their
// MachineDeployment, make and delete Machines.
func (x *index) owners(g *set) {
	for _, one := range x.groups[g.cluster.ID] {
		itself := one.Kind == g.Kind && one.Name == g.Name
		if itself {
			g.managedBy = managedBy(one)
		}
		if one.Kind != "MachineSet" || !itself && (g.Kind != "MachineDeployment" || one.Deployment != g.Name) {
			continue
		}
		g.sets = append(g.sets, one.Name)
		if !one.Paused {
			g.count(one.Desired, x.counts[owner{g.cluster.ID, one.Kind, one.Name}])
		}
	}
}

// managedBy says who sets the replicas of a group.
func managedBy(g *backup.Group) string {
	switch {
	case g.ReplicasManagedBy != "":
		return g.ReplicasManagedBy
	case g.Autoscaled:
		return "cluster autoscaler"
	}
	return ""
}

// fill makes the members of a set.
func (x *index) fill(s *set) {
	s.members = make([]facts, len(s.Machines))
	for i := range s.Machines {
		v := &s.Machines[i]
		f := &s.members[i]
		f.cluster, f.set, f.verdict = s.cluster, s, v
		f.paused = s.cluster.Paused
		if v.UID != "" {
			f.machine = x.machines[v.UID]
		}
		if f.machine == nil {
			f.remedy = "its Machine is not in the backup"
			continue
		}
		f.paused = f.paused || f.machine.Paused
		s.recorded++
		if id := f.machine.ProviderID; id != "" {
			f.node = x.nodes[nodeKey{s.cluster.ID, id}]
		}
		f.check = covering(s.cluster.checks, f.machine)
	}
}

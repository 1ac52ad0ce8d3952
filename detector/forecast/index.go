package forecast

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// index is what forecasts look up.
type index struct {
	in       *Inputs
	machines map[string]int // in the Snapshot, by uid, which no two objects share, of whatever backup
	of       []details      // of each machine of the Snapshot
	clusters map[backup.ClusterID]*backup.Cluster
	planes   map[backup.ClusterID][]*backup.ControlPlane
	groups   map[owner]*backup.Group
	kinds    map[owner][]*backup.Group // groups of a cluster by kind, under no name
	sets     map[owner][]*backup.Group // MachineSets by their MachineDeployment
	counts   map[owner]int             // Machines in the backup by who adopts them
	living   map[owner]int             // of those, the ones that are not Stale
	rolled   map[owner]string          // MachineSets whose Machines are replaced, and why
	checks   map[backup.ClusterID][]*check
	managed  map[backup.ClusterID]*topology
	halts    map[backup.ClusterID][]standstill // of what the backup lacks
	holders  map[backup.ClusterID]string       // what holds all other resources, as "VPC vpc-1"
	absent   map[absence]bool
	recipes  map[recipe]*infra.Recipe
	pools    map[owner]string // infrastructure objects of pools that are paused by themselves
	selected map[owner]*selected
	first    map[backup.ClusterID]map[infra.Need]bool // what controllers look up before they look for instances
	nodes    map[nodeKey]*infra.Node
	// annotated are Nodes by the Machine that their annotation names, for Machines without an id.
	annotated map[nodeKey]*infra.Node
	read      map[backup.ClusterID]bool // the Node list was read
	described map[backup.ClusterID]bool // with all conditions of the Nodes
	walked    map[backup.ClusterID][]*walk.Step
	contested map[string]*walk.Step // the step for which several owners adopt a Machine, by uid
	waiting   map[string]*walk.Step // the first step for which the controller of a Machine, by uid, does nothing for it
	doubling  map[string]bool       // Machines, by uid, beside whose instance a step makes a second one
}

// owner names what makes Machines.
type owner struct {
	cluster    backup.ClusterID
	kind, name string
}

// details are what there is of a Machine, apart from the Machine itself; either may be nil.
type details struct {
	restore *infra.Restore
	recipe  *infra.Recipe
	by      owner // who adopts it
	stray   bool  // nobody does: its MachineSet does not select it
}

// recipe names a template that instances are made from.
type recipe struct {
	cluster backup.ClusterID
	object  string
}

// nodeKey finds a Node as the Machine controller does: by its exact provider id
// (Cluster API internal/controllers/machine/machine_controller_noderef.go v1.10.0).
type nodeKey struct {
	cluster    backup.ClusterID
	providerID string
}

func newIndex(in *Inputs) *index {
	s := in.Snapshot
	x := &index{
		in:       in,
		machines: make(map[string]int, len(s.Machines)), of: make([]details, len(s.Machines)),
		clusters: make(map[backup.ClusterID]*backup.Cluster, len(s.Clusters)), planes: s.ControlPlanesByCluster(),
		groups: make(map[owner]*backup.Group, len(s.Groups)), kinds: map[owner][]*backup.Group{}, sets: make(map[owner][]*backup.Group, len(s.Groups)/2), counts: make(map[owner]int, len(s.Groups)),
		managed: managedTopologies(s), halts: map[backup.ClusterID][]standstill{}, holders: map[backup.ClusterID]string{}, absent: map[absence]bool{}, recipes: map[recipe]*infra.Recipe{}, pools: map[owner]string{}, selected: map[owner]*selected{}, first: map[backup.ClusterID]map[infra.Need]bool{},
		rolled: map[owner]string{}, read: map[backup.ClusterID]bool{}, described: map[backup.ClusterID]bool{}, annotated: map[nodeKey]*infra.Node{}, walked: map[backup.ClusterID][]*walk.Step{}, waiting: map[string]*walk.Step{}, contested: map[string]*walk.Step{}, doubling: map[string]bool{},
	}
	for i := range in.Trace.Steps {
		s := &in.Trace.Steps[i]
		if s.Machine >= 0 && s.Does().Effect == walk.Deletes && s.Found == walk.Several {
			x.contested[in.Snapshot.Machines[s.Machine].UID] = s
		}
		x.walked[s.Cluster] = append(x.walked[s.Cluster], s)
		if s.Machine >= 0 && in.waits(s, walk.Waits) {
			if uid := in.Snapshot.Machines[s.Machine].UID; x.waiting[uid] == nil {
				x.waiting[uid] = s
			}
		}
		if s.Machine >= 0 && s.Does().Effect == walk.Doubles {
			x.doubling[in.Snapshot.Machines[s.Machine].UID] = true
		}
	}
	x.checks = readChecks(s, x.managed)
	x.readOwners()
	for i := range s.Machines {
		m := &s.Machines[i]
		x.machines[m.UID] = i
		by := x.takes(m)
		x.of[i].by, x.of[i].stray = by, by.name == "" && m.Owner.Kind == machineSet
		x.counts[by]++
	}
	x.countLiving()
	x.readExpected()
	x.readListings()
	return x
}

func (x *index) readOwners() {
	s := x.in.Snapshot
	for i := range s.Clusters {
		x.clusters[s.Clusters[i].ID()] = &s.Clusters[i]
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		x.groups[owner{g.Cluster, g.Kind, g.Name}] = g
		all := owner{cluster: g.Cluster, kind: g.Kind}
		x.kinds[all] = append(x.kinds[all], g)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		of := owner{g.Cluster, machineDeployment, g.Deployment}
		if g.Kind == machineSet && (g.Deployment == "" || !x.selects(of, g.Labels)) {
			of = x.adopter(machineDeployment, g.Cluster, g.Labels)
		}
		if g.Kind == machineSet && of.name != "" {
			x.sets[of] = append(x.sets[of], g)
		}
	}
	for i := range x.in.Expected.Resources {
		if r := &x.in.Expected.Resources[i]; r.Holds {
			x.holders[r.Cluster] = r.Kind + " " + r.Name
		}
	}
	for _, a := range x.in.absent() {
		x.absent[absence{a.Backup, a.Kind, a.Namespace, a.Name}] = true
		for _, id := range a.Halts {
			x.halts[id] = append(x.halts[id], standstill{a.Kind + " " + a.Name, lacking, exists, strings.HasSuffix(a.Kind, "Identity")})
		}
	}
}

// selected is what a group selects.
type selected struct {
	selector labels.Selector        // nil when that is not known
	fits     map[backup.Labels]bool // by distinct text: what one owner makes shares them
}

// selects reports whether a group takes for its own what has these labels. A restore takes
// ownerReferences away, and a group adopts what its selector fits, whoever owned it before
// (Cluster API getAndAdoptMachinesForMachineSet in core/reconcilers/machineset and
// getAndAdoptMachineSetsForDeployment in core/reconcilers/machinedeployment v1.14.0). Of a
// group that the backup lacks, or whose selector cannot be read, nothing else is known.
func (x *index) selects(by owner, l backup.Labels) bool {
	s := x.selected[by]
	if s == nil {
		s = &selected{fits: map[backup.Labels]bool{}}
		x.selected[by] = s
		if g := x.groups[by]; g != nil {
			s.selector, _, _ = rehearsal.ReadSelector(g.Selector)
		}
	}
	if s.selector == nil {
		return true
	}
	fits, known := s.fits[l]
	if !known {
		own := labels.Set(l.Map())
		if own[clusterv1.ClusterNameLabel] != by.cluster.Name { // webhooks and the Machine controller write it
			own = labels.Merge(own, labels.Set{clusterv1.ClusterNameLabel: by.cluster.Name})
		}
		fits = s.selector.Matches(own)
		s.fits[l] = fits
	}
	return fits
}

// takes returns who adopts a Machine: KubeadmControlPlane by label, a MachineSet by its
// selector, whoever owned it before. Other owners have the Machines that they had.
func (x *index) takes(m *backup.Machine) owner {
	by := owner{m.Cluster, m.Owner.Kind, m.Owner.Name}
	own := x.clusters[m.Cluster]
	switch {
	case m.ControlPlane && !m.Unlabelled && by.kind != kubeadm && own != nil && own.ControlPlane.Kind == kubeadm:
		return owner{m.Cluster, kubeadm, own.ControlPlane.Name}
	case m.Unlabelled && by.kind == kubeadm, by.kind == machineSet && !x.selects(by, m.Labels):
		return x.adopter(machineSet, m.Cluster, m.Labels)
	}
	return by
}

// countLiving counts by owner the Machines of which an instance may exist.
func (x *index) countLiving() {
	x.living = make(map[owner]int, len(x.counts))
	count := func(s *detector.Set) {
		for _, v := range s.Machines {
			if at, ok := x.machines[v.UID]; ok && v.UID != "" && v.Status != code.Stale {
				x.living[x.of[at].by]++
			}
		}
	}
	for i := range x.in.Result.Clusters {
		c := &x.in.Result.Clusters[i]
		count(&c.ControlPlane)
		for j := range c.WorkerGroups {
			count(&c.WorkerGroups[j])
		}
	}
}

// adopter returns the first owner of a kind that selects what has these labels; its name is
// empty where none does. A restore takes ownerReferences away, so that the selector alone
// decides, whoever owned it before (getAndAdoptMachinesForMachineSet in
// core/reconcilers/machineset, getAndAdoptMachineSetsForDeployment in
// core/reconcilers/machinedeployment v1.14.0).
func (x *index) adopter(kind string, cluster backup.ClusterID, l backup.Labels) owner {
	for _, g := range x.kinds[owner{cluster: cluster, kind: kind}] {
		by := owner{g.Cluster, g.Kind, g.Name}
		if g.Selector != "" && x.selects(by, l) && x.selected[by].selector != nil && !x.selected[by].selector.Empty() {
			return by
		}
	}
	return owner{}
}

func (x *index) readExpected() {
	c := &x.in.Expected
	for i := range c.Machines {
		if m := c.Machines[i].Machine; m >= 0 && m < len(x.of) {
			x.of[m].restore = c.Machines[i].Restore
		}
	}
	for i := range c.Pools {
		if p := &c.Pools[i]; p.Paused != "" {
			x.pools[owner{p.Cluster, p.Kind, p.Name}] = p.Paused
		}
	}
	for i := range c.Recipes {
		r := &c.Recipes[i]
		if r.Machine >= 0 {
			x.of[r.Machine].recipe = r
		} else {
			x.recipes[recipe{r.Cluster, r.Object}] = r
		}
		for _, n := range r.First {
			if x.first[r.Cluster] == nil {
				x.first[r.Cluster] = map[infra.Need]bool{}
			}
			x.first[r.Cluster][n] = true
		}
	}
}

func (x *index) readListings() {
	count := 0
	for i := range x.in.Inventory.Listings {
		count += len(x.in.Inventory.Listings[i].Nodes)
	}
	x.nodes = make(map[nodeKey]*infra.Node, count)
	for i := range x.in.Inventory.Listings {
		l := &x.in.Inventory.Listings[i]
		if l.NodeState == "read" {
			_, described := l.Facts.Get(infra.FactNodeConditions)
			for _, id := range l.Clusters {
				x.read[id], x.described[id] = true, described
			}
		}
		for j := range l.Nodes {
			n := &l.Nodes[j]
			at := nodeKey{n.Cluster, n.ProviderID}
			if _, again := x.nodes[at]; again {
				n = nil // of two Nodes with one id Cluster API takes none
			}
			x.nodes[at] = n
			if n != nil && n.Machine != "" {
				x.annotated[nodeKey{n.Cluster, n.Machine}] = n
			}
		}
	}
}

// cluster gathers all facts about one cluster.
func (x *index) cluster(c *detector.Cluster) *cluster {
	out := &cluster{
		Cluster: c, index: x, backups: x.in.Snapshot.Backups, halts: x.haltsOf(c), read: x.read[c.ID], checks: x.checks[c.ID], cover: newCover(x.checks[c.ID]),
		controller: x.controller(c), managed: x.managed[c.ID], states: map[infra.Need]code.Presence{},
	}
	for i := range c.Resources {
		r := &c.Resources[i]
		out.states[infra.Need{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy}] = r.State
	}
	out.walked = x.walked[c.ID]
	for _, h := range halting(x.in, out.walked) {
		if !slices.ContainsFunc(out.halts, func(known standstill) bool { return known.Object == h.Object }) {
			out.halts = append(out.halts, h)
		}
	}
	out.plane = set{cluster: out, Set: &c.ControlPlane, plane: x.plane(c)}
	x.fill(&out.plane)
	if p := out.plane.plane; p != nil {
		out.externalEtcd = p.ExternalEtcd
		x.planeOwner(&out.plane)
	}
	for i := range c.WorkerGroups {
		g := &set{cluster: out, Set: &c.WorkerGroups[i]}
		x.fill(g)
		x.groupOwners(g)
		out.groups = append(out.groups, g)
	}
	for _, g := range out.groups {
		for i := range g.members {
			if f := &g.members[i]; f.machine != nil && f.by.kind == machineSet {
				f.rolled = x.rolled[f.by]
			}
		}
	}
	out.weigh()
	return out
}

// controller returns the infrastructure controller of a cluster.
func (x *index) controller(c *detector.Cluster) infra.Controller {
	if own, ok := x.in.Expected.Controllers[c.ID]; ok {
		return own
	}
	return x.in.Controllers[c.Provider]
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

// nodeOf returns the Node of a Machine, by its exact provider id. A Machine of which the
// backup has none gets it from its infrastructure machine again: its Node is the one that
// names it. It is nil where there is none, or more than one.
func (x *index) nodeOf(m *backup.Machine) *infra.Node {
	if m.ProviderID == "" {
		return x.annotated[nodeKey{m.Cluster, m.Name}]
	}
	return x.nodes[nodeKey{m.Cluster, m.ProviderID}]
}

// fill makes the members of a set.
func (x *index) fill(s *set) {
	s.members = make([]facts, len(s.Machines))
	for i, v := range s.Machines {
		f := &s.members[i]
		f.cluster, f.set, f.verdict = s.cluster, s, v
		f.paused = s.cluster.Paused
		if at, ok := x.machines[v.UID]; ok && v.UID != "" {
			f.machine, f.details = &x.in.Snapshot.Machines[at], x.of[at]
		}
		if f.machine == nil {
			f.remedy = "its Machine is not in the backup"
			continue
		}
		f.paused = f.paused || f.machine.Paused
		s.recorded++
		f.node = x.nodeOf(f.machine)
		f.checks = s.cluster.cover.of(f.machine)
	}
}

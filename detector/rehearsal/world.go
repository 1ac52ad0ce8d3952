package rehearsal

import (
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

const kubeadm = "KubeadmControlPlane"

// world is what the controllers will find: the objects as a restore brings them back,
// what exists, and what is known of the Nodes.
type world struct {
	in       *Inputs
	clusters []*cluster
	at       map[backup.ClusterID]*cluster
	machines []*machine // by their places in the Snapshot; nil of a cluster that is not shown
	trace    Trace
	played   []walk.Step   // of what acts, behind those of the trace
	walked   []*walk.Step  // of the trace, the steps of no single cluster
	unseen   map[seen]bool // steps of providers that are in the trace
	// byPlan is what follows once the plan's steps are done that come before a cluster is
	// unpaused: objects that the backup lacks are created, and what keeps controllers from a
	// cluster or a machine is mended.
	byPlan  bool
	groups  map[backup.ClusterID][]*backup.Group
	absent  map[absence]bool // what the backup lacks, and whether the plan leaves it so
	others  *others          // nil until they are asked for
	etcds   map[owned]string // EtcdadmClusters by their cluster; nil until they are asked for
	claimed map[owned]string // NodeClaims by their Machines; likewise
	// bootstraps counts the Machines that refer to a bootstrap object; nil until they are asked for.
	bootstraps map[owned]int
	edited     map[backup.ClusterID]string // templates of topologies, and without a name those of their classes; likewise
	refers     map[referred]int            // by Clusters; nil until it is asked for
	claims     map[owned][]claimOf         // of addresses, by the names of what owns them; nil until they are asked for
}

// cluster is one cluster of the world.
type cluster struct {
	*detector.Cluster
	world      *world
	own        *backup.Cluster      // nil: the backup lacks it
	object     *clusterObject       // likewise
	plane      *backup.ControlPlane // that the cluster shows; nil: the backup lacks it
	machines   []machine
	beginners  []*machine                             // see begun; nil before that is asked
	selectors  map[string]*backup.Demands[*selecting] // of its groups, by their kinds
	selected   map[selected][]*selecting
	list       *infra.Listing // of its Nodes, or why there is none
	nodes      []*infra.Node  // of its Node list; nil where it was not read
	byID       map[string][]*infra.Node
	byInstance map[string][]*infra.Node // by the id of the instance in its provider id; nil until it is asked for
	annotated  map[string]*infra.Node   // Nodes by the Machine that their annotation names; nil until they are asked for
	read       bool                     // its Node list was read, whether or not it is taken for that of another
	described  bool                     // with all conditions of the Nodes
	titled     string                   // of title, once it was asked for

	controller infra.Controller
	topology   *topology // nil when it has none
	control    set       // its control plane
	groups     []*set
	all        []*set // the control plane and the groups
	owners     map[owner]*owning
	checks     []*check
	cover      *cover                   // of checks
	recipes    map[string]*infra.Recipe // by the template that instances are made from
	first      map[infra.Need]bool      // what controllers look up before they look for instances
	states     map[infra.Need]code.Presence
	lacking    []standstill      // objects that the backup lacks, for which no controller acts on it
	holder     string            // what holds all other resources, as "VPC vpc-1"
	idlePools  map[string]string // infrastructure objects of MachinePools that are paused by themselves
	walked     []*walk.Step      // steps of the walk that did not pass
	mended     bool              // the plan creates something that it lacks
	weighed
}

func newWorld(in *Inputs) *world {
	s, res := in.Snapshot, &in.Result
	w := &world{
		in: in, at: make(map[backup.ClusterID]*cluster, len(res.Clusters)), machines: make([]*machine, len(s.Machines)),
		trace: Trace{Steps: make([]walk.Step, 0, len(in.Expected.Steps)+2*len(res.Clusters)), Passed: map[string]int{}}, unseen: map[seen]bool{}, groups: map[backup.ClusterID][]*backup.Group{}, absent: map[absence]bool{},
	}
	for i := range s.Groups {
		w.groups[s.Groups[i].Cluster] = append(w.groups[s.Groups[i].Cluster], &s.Groups[i])
	}
	planes, managed := s.ControlPlanesByCluster(), managedTopologies(s)
	checks := readChecks(s, managed)
	for i := range res.Clusters {
		r := &res.Clusters[i]
		c := &cluster{Cluster: r, world: w, own: s.Cluster(r.ID), controller: in.controller(r), topology: managed[r.ID], checks: checks[r.ID], cover: newCover(checks[r.ID])}
		for _, p := range planes[r.ID] {
			if p.Kind == r.ControlPlane.Kind && p.Name == r.ControlPlane.Name {
				c.plane = p
				break
			}
		}
		if o := clusterKinds.In(s).Named(r.ID.Backup, r.ID.Namespace, r.ID.Name); o != nil {
			c.object = &o.Data
		}
		w.at[r.ID], w.clusters = c, append(w.clusters, c)
	}
	w.readAbsences()
	w.readExpected()
	w.readNodes()
	w.readMachines()
	for _, c := range w.clusters {
		c.readOwners()
	}
	return w
}

// controller returns the infrastructure controller of a cluster.
func (in *Inputs) controller(c *detector.Cluster) infra.Controller {
	if own, ok := in.Expected.Controllers[c.ID]; ok {
		return own
	}
	return in.Controllers[c.Provider]
}

// readAbsences notes what the backup lacks, by itself and by the providers.
func (w *world) readAbsences() {
	for _, all := range [][]backup.Absence{w.in.Snapshot.Absent, w.in.Expected.Absent} {
		for i := range all {
			a := &all[i]
			at := absence{a.Backup, a.Kind, a.Namespace, a.Name}
			w.absent[at] = w.absent[at] || !isCreated(a)
			for _, id := range a.Halts {
				if c := w.at[id]; c != nil {
					c.lacking = append(c.lacking, standstill{Object: a.Kind + " " + a.Name, Why: lacking, Until: exists, identity: strings.HasSuffix(a.Kind, "Identity"), row: "core.C3b"})
				}
			}
		}
	}
}

// readExpected notes what the providers say beside what is expected of machines.
func (w *world) readExpected() {
	e := &w.in.Expected
	for i := range e.Resources {
		if r := &e.Resources[i]; r.Holds && w.at[r.Cluster] != nil {
			w.at[r.Cluster].holder = r.Kind + " " + r.Name
		}
	}
	for i := range e.Pools {
		if p := &e.Pools[i]; p.Kind == machinePool && p.Paused != "" && w.at[p.Cluster] != nil {
			c := w.at[p.Cluster]
			if c.idlePools == nil {
				c.idlePools = map[string]string{}
			}
			c.idlePools[p.Name] = p.Paused
		}
	}
	for i := range e.Recipes {
		r := &e.Recipes[i]
		c := w.at[r.Cluster]
		if c == nil {
			continue
		}
		if c.recipes == nil {
			c.recipes, c.first = map[string]*infra.Recipe{}, map[infra.Need]bool{}
		}
		if r.Machine < 0 {
			c.recipes[r.Object] = r
		}
		for _, n := range r.First {
			c.first[n] = true
		}
	}
	for _, c := range w.clusters {
		c.states = make(map[infra.Need]code.Presence, len(c.Resources))
		for i := range c.Resources {
			r := &c.Resources[i]
			c.states[infra.Need{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy}] = r.State
		}
	}
}

// readMachines makes the machines of the clusters, with what is known of each.
func (w *world) readMachines() {
	s := w.in.Snapshot
	count := make(map[*cluster]int, len(w.clusters))
	for i := range s.Machines {
		count[w.at[s.Machines[i].Cluster]]++
	}
	byUID := make(map[string]*machine, len(s.Machines)) // no two objects share one, of whatever backup
	for i := range s.Machines {
		b := &s.Machines[i]
		c := w.at[b.Cluster]
		if c == nil {
			continue
		}
		if c.machines == nil {
			c.machines = make([]machine, 0, count[c])
		}
		c.machines = append(c.machines, machine{Machine: b, cluster: c, index: i})
		m := &c.machines[len(c.machines)-1]
		m.node, m.checks = c.nodeOf(m), c.cover.of(b)
		w.machines[i] = m
		if b.UID != "" {
			byUID[b.UID] = m
		}
	}
	e := &w.in.Expected
	for _, x := range e.Restoring() {
		if x.Machine >= 0 && x.Machine < len(w.machines) && w.machines[x.Machine] != nil {
			m := w.machines[x.Machine]
			m.restore, m.bare = x.Restore, m.bare || x.InfraMissing
		}
	}
	for i := range e.Recipes {
		if r := &e.Recipes[i]; r.Machine >= 0 && w.machines[r.Machine] != nil {
			w.machines[r.Machine].recipe = r
		}
	}
	w.readSets(byUID)
}

// readSets makes the control planes and groups of workers, of the machines that they show.
func (w *world) readSets(byUID map[string]*machine) {
	for _, c := range w.clusters {
		c.control = set{cluster: c, Set: &c.ControlPlane, plane: c.plane}
		c.control.fill(byUID)
		for i := range c.WorkerGroups {
			g := &set{cluster: c, Set: &c.WorkerGroups[i]}
			g.fill(byUID)
			c.groups = append(c.groups, g)
		}
		c.all = append([]*set{&c.control}, c.groups...)
		for i := range c.machines {
			if m := &c.machines[i]; m.ProviderID == "" && m.node == nil {
				if nodes := c.onInstance(m); len(nodes) == 1 {
					m.node = nodes[0]
				}
			}
		}
	}
}

// readNodes notes the Nodes of each cluster whose Node list was read, by their exact
// provider ids, as the Machine controller finds them.
func (w *world) readNodes() {
	for i := range w.in.Inventory.Listings {
		l := &w.in.Inventory.Listings[i]
		for _, id := range l.Clusters {
			c := w.at[id]
			if c == nil || l.NodeState == "" {
				continue
			}
			if c.list = l; l.NodeState == "read" {
				_, c.described = l.Facts.Get(infra.FactNodeConditions)
				c.read = true
			}
		}
		for j := range l.Nodes {
			if c := w.at[l.Nodes[j].Cluster]; c != nil {
				c.nodes = append(c.nodes, &l.Nodes[j])
			}
		}
	}
	for _, c := range w.clusters {
		all := slices.Clone(c.nodes)
		slices.SortStableFunc(all, func(a, b *infra.Node) int { return strings.Compare(a.ProviderID, b.ProviderID) })
		c.byID = make(map[string][]*infra.Node, len(all))
		for i := 0; i < len(all); {
			end := i + 1
			for end < len(all) && all[end].ProviderID == all[i].ProviderID {
				end++
			}
			c.byID[all[i].ProviderID] = all[i:end:end]
			i = end
		}
	}
}

// nodeOf returns the Node of a Machine, by its exact provider id (Cluster API
// internal/controllers/machine/machine_controller_noderef.go v1.10.0). A Machine of which the
// backup has none gets it from its infrastructure machine again: its Node is the one that
// names it, or that onInstance finds. It is nil where there is none, or more than one.
func (c *cluster) nodeOf(m *machine) *infra.Node {
	if m.ProviderID == "" {
		return c.annotation(m.Name)
	}
	if all := c.byID[m.ProviderID]; len(all) == 1 {
		return all[0]
	}
	return nil
}

// onInstance returns the Nodes with the provider id of a Machine's instance.
func (c *cluster) onInstance(m *machine) []*infra.Node {
	if m.verdict == nil || m.verdict.Instance == nil {
		return nil
	}
	if c.byInstance == nil {
		c.byInstance = map[string][]*infra.Node{}
		for _, n := range c.nodes {
			for _, k := range n.Keys {
				if of := c.byInstance[k.Value]; !slices.Contains(of, n) {
					c.byInstance[k.Value] = append(of, n)
				}
			}
		}
	}
	return c.byInstance[m.verdict.Instance.ID]
}

// nodesOf returns the Nodes that may be a Machine's, of which its controller wants one.
func (c *cluster) nodesOf(m *machine) []*infra.Node {
	switch {
	case m.ProviderID != "":
		return c.byID[m.ProviderID]
	case m.node != nil:
		return []*infra.Node{m.node}
	}
	return c.onInstance(m)
}

// nodeCount returns how many those are.
func (c *cluster) nodeCount(m *machine) int { return len(c.nodesOf(m)) }

// annotation returns the Node whose annotation names a Machine.
func (c *cluster) annotation(machine string) *infra.Node {
	if c.annotated == nil {
		c.annotated = map[string]*infra.Node{}
		for _, n := range c.nodes {
			if n.Machine != "" && c.byID[n.ProviderID][0] == n {
				c.annotated[n.Machine] = n
			}
		}
	}
	return c.annotated[machine]
}

// moved reports whether clusterctl restores it, so that its objects have their owners at once.
func (c *cluster) moved() bool { return c.world.in.Snapshot.Moved(c.ID.Backup) }

// controlled reports whether an object comes back with the owner that controls it, so that no
// other adopts it.
func (c *cluster) controlled(o *backup.Meta) bool {
	return c.moved() && slices.ContainsFunc(o.Owners, func(by backup.Owner) bool { return by.Controller })
}

func (c *cluster) title() string {
	if c.titled == "" {
		c.titled = named("Cluster", c.ID.Namespace, c.ID.Name)
	}
	return c.titled
}

// is reports whether the control plane is of the kind.
func (c *cluster) is(kind string) bool { return c.plane != nil && c.plane.Kind == kind }

// externalEtcd reports whether the etcd of its control plane is outside of its machines.
func (c *cluster) externalEtcd() bool { return c.plane != nil && c.plane.ExternalEtcd }

func (c *cluster) planeTitle() string { return named(c.plane.Kind, c.ID.Namespace, c.plane.Name) }

// nodesRead reports whether the cluster's Node list was read.
func (c *cluster) nodesRead() bool { return c.Nodes.State == "read" }

// others are the objects of the backup that act beside the controllers of Cluster API.
type others struct {
	addons    map[*backup.Kind[addon]]map[owned][]addonSelector // by their namespaces
	installed map[owned]bool                                    // by HelmChartProxy and cluster, as "CHART/CLUSTER"
	remote    map[owned][]*backup.Record[applier]               // of Flux, by their kubeconfigs
	anywhere  map[applierName][]*backup.Record[applier]         // those of which only the name is known
}

// applierName is what an object says of one that applies it: no namespace.
type applierName struct {
	kind   *backup.Kind[applier]
	backup int
	name   string
}

// addonSelector is an addon with its selector; nil: it cannot be read.
type addonSelector struct {
	*backup.Record[addon]
	selector *backup.Selector
}

// beside returns them.
func (w *world) beside() *others {
	if w.others != nil {
		return w.others
	}
	o := &others{addons: map[*backup.Kind[addon]]map[owned][]addonSelector{}, installed: map[owned]bool{}, remote: map[owned][]*backup.Record[applier]{}, anywhere: map[applierName][]*backup.Record[applier]{}}
	w.others = o
	s := w.in.Snapshot
	for _, kind := range []*backup.Kind[addon]{resourceSets, helmCharts, profiles, clusterProfiles} {
		o.addons[kind] = map[owned][]addonSelector{}
		for r := range kind.In(s).All() {
			at := owned{backup: r.Backup, namespace: r.Namespace}
			o.addons[kind][at] = append(o.addons[kind][at], addonSelector{r, backup.ReadSelector(r.Data.Selector)})
		}
	}
	for r := range helmProxies.In(s).All() {
		if r.Data.Installed == "true" {
			o.installed[owned{r.Backup, r.Namespace, r.Data.Chart + "/" + r.Data.Cluster}] = true
		}
	}
	for _, kind := range []*backup.Kind[applier]{helmReleases, kustomizations} {
		for r := range kind.In(s).All() {
			if r.Data.Kubeconfig != "" {
				at := owned{r.Backup, r.Namespace, r.Data.Kubeconfig}
				o.remote[at] = append(o.remote[at], r)
			}
		}
	}
	for _, kind := range []*backup.Kind[applier]{applications, bundles} {
		for r := range kind.In(s).All() {
			for _, name := range []string{r.Name, r.Namespace + "_" + r.Name} { // Argo CD writes either
				at := applierName{kind, r.Backup, name}
				o.anywhere[at] = append(o.anywhere[at], r)
			}
		}
	}
	return o
}

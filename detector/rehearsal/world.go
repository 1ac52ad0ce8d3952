package rehearsal

import (
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
	trace    Trace
	bare     map[int]bool                            // Machines whose infrastructure object the backup lacks; nil until they are asked for
	sets     map[owned][]*backup.Record[resourceSet] // by namespace; nil until they are asked for
	groups   map[backup.ClusterID][]*backup.Group    // nil until they are asked for
	absent   map[absence]bool                        // likewise
	etcds    map[owned]string                        // EtcdadmClusters by their cluster; nil until they are asked for
	// bootstraps counts the Machines that refer to a bootstrap object; nil until they are asked for.
	bootstraps map[owned]int
	refers     map[referred]int    // by Clusters; nil until it is asked for
	claims     map[owned][]claimOf // of addresses, by the names of what owns them; nil until they are asked for
}

// cluster is one cluster of the world.
type cluster struct {
	*detector.Cluster
	world      *world
	own        *backup.Cluster      // nil: the backup lacks it
	object     *clusterObject       // likewise
	plane      *backup.ControlPlane // nil: there is none, or the backup lacks it
	machines   []machine
	selections *selections    // nil until they are asked for
	list       *infra.Listing // of its Nodes, or why there is none
	nodes      []*infra.Node  // of its Node list; nil where it was not read
	byID       map[string][]*infra.Node
	titled     string // of title, once it was asked for
}

// machine is one Machine of the backup.
type machine struct {
	*backup.Machine
	cluster *cluster
	index   int               // in Snapshot.Machines
	verdict *detector.Verdict // nil in a narrowed result
	titled  string            // of title, once it was asked for
}

func newWorld(in *Inputs) *world {
	w := &world{in: in, trace: Trace{Passed: map[string]int{}}}
	s := in.Snapshot
	planes := s.ControlPlanesByCluster()
	at := make(map[backup.ClusterID]*cluster, len(in.Result.Clusters))
	byUID := map[string]*detector.Verdict{}
	for i := range in.Result.Clusters {
		r := &in.Result.Clusters[i]
		c := &cluster{Cluster: r, world: w, own: s.Cluster(r.ID), byID: map[string][]*infra.Node{}}
		if c.own != nil && !c.own.ControlPlane.IsZero() {
			c.plane = planes.Named(r.ID, c.own.ControlPlane.Kind, c.own.ControlPlane.Name)
		}
		if c.plane == nil && len(planes[r.ID]) == 1 {
			c.plane = planes[r.ID][0]
		}
		if o := clusterKinds.In(s).Named(r.ID.Backup, r.ID.Namespace, r.ID.Name); o != nil {
			c.object = &o.Data
		}
		at[r.ID], w.clusters = c, append(w.clusters, c)
		for _, v := range r.ControlPlane.Machines {
			byUID[v.UID] = v
		}
		for j := range r.WorkerGroups {
			for _, v := range r.WorkerGroups[j].Machines {
				byUID[v.UID] = v
			}
		}
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		if c := at[m.Cluster]; c != nil {
			c.machines = append(c.machines, machine{Machine: m, cluster: c, index: i, verdict: byUID[m.UID]})
		}
	}
	w.readNodes(at)
	return w
}

// readNodes notes the Nodes of each cluster whose Node list was read, by their exact
// provider ids, as the Machine controller finds them.
func (w *world) readNodes(at map[backup.ClusterID]*cluster) {
	for i := range w.in.Inventory.Listings {
		l := &w.in.Inventory.Listings[i]
		for _, id := range l.Clusters {
			if c := at[id]; c != nil && l.NodeState != "" {
				c.list = l
			}
		}
		for j := range l.Nodes {
			n := &l.Nodes[j]
			if c := at[n.Cluster]; c != nil {
				c.nodes = append(c.nodes, n)
				c.byID[n.ProviderID] = append(c.byID[n.ProviderID], n)
			}
		}
	}
}

func (c *cluster) title() string {
	if c.titled == "" {
		c.titled = named("Cluster", c.ID.Namespace, c.ID.Name)
	}
	return c.titled
}

// is reports whether the control plane is of the kind.
func (c *cluster) is(kind string) bool { return c.plane != nil && c.plane.Kind == kind }

func (c *cluster) planeTitle() string { return named(c.plane.Kind, c.ID.Namespace, c.plane.Name) }

func (m *machine) title() string {
	if m.titled == "" {
		m.titled = named("Machine", m.Namespace, m.Name)
	}
	return m.titled
}

// nodesRead reports whether the cluster's Node list was read.
func (c *cluster) nodesRead() bool { return c.Nodes.State == "read" }

// byEffect is the reason of the answer for each effect.
var byEffect = map[walk.Effect]code.Reason{
	walk.Deletes: code.MachinesDeleted, walk.Replaces: code.RolloutDue, walk.RemovesMember: code.EtcdMembersRemoved, walk.Doubles: code.SecondInstance,
	walk.Halts: code.ClusterHalted, walk.OwnerHalts: code.OwnerHalted, walk.Waits: code.MachinesHalted, walk.Makes: code.MachinesMade,
	walk.Starts: code.InstancesStarted, walk.NotReady: code.MachinesNotReady,
}

// Reason returns the reason of the answer that a step leaves: that of its row, else that of its
// effect. It is empty where nothing of what runs is touched, and where the step passed.
func Reason(s *walk.Step) code.Reason {
	d := s.Does()
	if d.Code != "" {
		return d.Code
	}
	return byEffect[d.Effect]
}

package detector

import (
	"math/rand/v2"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// A scene is a small world that tests arrange: what the backup holds, what the
// providers claim of it, what was listed.
type scene struct {
	snap     backup.Snapshot
	expected infra.Expected
	listings []*infra.Listing
	now      time.Time
}

var (
	noon    = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	written = noon.Add(-24 * time.Hour)
	prod    = backup.ClusterID{Namespace: "tenant", Name: "prod"}
)

const (
	plane             = "KubeadmControlPlane"
	machineDeployment = "MachineDeployment"
	machineSet        = "MachineSet"
	vc                = "vc/user" // the target that everything of newScene calls home

	clockSkew = 5 * time.Minute // between an infrastructure and the cluster that wrote the backup
)

func key(kind, value string) infra.Key {
	return infra.Key{Kind: infra.KeyKindOf(kind), Value: value}
}
func bios(v string) infra.Key     { return key("biosUUID", v) }
func uuid(v string) infra.Key     { return key("instanceUUID", v) }
func ref(v string) infra.Key      { return key("vmRef", v) }
func named(v string) infra.Key    { return key("name", v) }
func weakly(v string) infra.Key   { return key("name+folder", v) }
func asg(v string) infra.Key      { return key("asg", v) }
func known(n int64) backup.Number { return backup.Number{N: n, Known: true} }

// emptyScene has nothing but what Specs say of every provider.
func emptyScene() *scene {
	return &scene{now: noon, expected: infra.Expected{
		ManagedPlanes: map[string]bool{"AWSManagedControlPlane": true},
		Words:         map[string]map[string]string{"vsphere": {"biosUUID": "BIOS UUID"}},
	}}
}

// newScene has one cluster with a control plane "cp", a MachineDeployment "md"
// with the MachineSet "md-bcdfg", and one vCenter that is listed to the end and
// proven to be the right place. It holds no machine yet.
func newScene() *scene {
	s := emptyScene()
	s.snap.Backups = []backup.Info{{Path: "b.tar.gz", WrittenFrom: written.Add(-time.Minute), WrittenTo: written}}
	s.cluster(prod)
	s.list(vc)
	return s
}

// cluster adds a cluster with its owners.
func (s *scene) cluster(id backup.ClusterID) {
	meta := func(name string) backup.Meta {
		return backup.Meta{Backup: id.Backup, Namespace: id.Namespace, Name: name, UID: id.Name + "/" + name}
	}
	s.snap.Clusters = append(s.snap.Clusters, backup.Cluster{Meta: meta(id.Name), ControlPlane: backup.Ref{Kind: plane, Name: "cp"}})
	s.snap.ControlPlanes = append(s.snap.ControlPlanes, backup.ControlPlane{Meta: meta("cp"), Kind: plane, Cluster: id, Replicas: known(0)})
	s.snap.Groups = append(s.snap.Groups,
		backup.Group{Meta: meta("md"), Kind: machineDeployment, Cluster: id, Replicas: known(0)},
		backup.Group{Meta: meta("md-bcdfg"), Kind: machineSet, Cluster: id, Deployment: "md", Replicas: known(0)})
	s.expected.Proofs = append(s.expected.Proofs, infra.VisibilityProof{Cluster: id, Target: vc, All: []infra.Key{key("folder", "f")}})
}

// kindUnread has a kind that vSphere's machines rest on unread.
func (s *scene) kindUnread() {
	s.expected.Unread = map[infra.Reading]string{{Provider: "vsphere"}: "VSphereMachines could not be read"}
}

// list adds a complete listing with the probe that proofs ask for.
func (s *scene) list(target string) *infra.Listing {
	l := &infra.Listing{
		IDs: []string{target}, Provider: "vsphere", Endpoint: target, State: code.ScopeComplete, ListedAt: noon,
		ProbesFound: []infra.Key{key("folder", "f")}, Clusters: []backup.ClusterID{prod},
	}
	s.listings = append(s.listings, l)
	return l
}

// worker adds a worker of md-bcdfg with all its keys made of its name, and
// counts it in its owners' status.
func (s *scene) worker(name string) *infra.ExpectedMachine {
	return s.machine(prod, name, false)
}

func (s *scene) machine(id backup.ClusterID, name string, controlPlane bool) *infra.ExpectedMachine {
	m := backup.Machine{
		Meta:    backup.Meta{Backup: id.Backup, Namespace: id.Namespace, Name: name, UID: id.Name + "/" + name},
		Cluster: id, ControlPlane: controlPlane,
	}
	if controlPlane {
		m.Owner = backup.Owner{Kind: plane, Name: "cp"}
		s.plane(id).Replicas.N++
	} else {
		m.Owner, m.Set, m.Deployment = backup.Owner{Kind: machineSet, Name: "md-bcdfg"}, "md-bcdfg", "md"
		s.group(id, "md").Replicas.N++
		s.group(id, "md-bcdfg").Replicas.N++
	}
	s.snap.Machines = append(s.snap.Machines, m)
	return s.expect(infra.ExpectedMachine{
		Machine: len(s.snap.Machines) - 1, Strong: bios("b-" + name), Identity: uuid("i-" + name), Ref: ref("r-" + name),
		Names: []infra.Key{named(name)}, Hosts: []infra.Key{key("host", name)},
		Blind: []infra.Key{ref("r-" + name), named(name)},
	})
}

// pool adds a MachinePool of prod whose members have its key, and which exists.
func (s *scene) pool(name string, members ...string) *infra.Pool {
	s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Namespace: "tenant", Name: name}, Kind: machinePool, Cluster: prod})
	p := infra.Pool{Cluster: prod, Kind: machinePool, Name: name, Target: vc, Key: asg(name), Probe: asg(name)}
	for _, m := range members {
		p.Members = append(p.Members, bios(m))
	}
	s.listings[0].ProbesFound = append(s.listings[0].ProbesFound, asg(name))
	s.expected.Pools = append(s.expected.Pools, p)
	return &s.expected.Pools[len(s.expected.Pools)-1]
}

// poolWorker adds a worker that is a member of pool "p".
func (s *scene) poolWorker(name string) *infra.ExpectedMachine {
	c := s.worker(name)
	c.Pool = asg("p")
	return c
}

// orphan adds an infrastructure machine without its Machine, of the MachineSet.
func (s *scene) orphan(name string) *infra.ExpectedMachine {
	s.group(prod, "md").Replicas.N++
	s.group(prod, "md-bcdfg").Replicas.N++
	return s.expect(infra.ExpectedMachine{Machine: -1, Strong: bios("b-" + name), Orphan: &infra.Orphan{
		Kind: "VSphereMachine", Namespace: "tenant", Name: name, UID: "o/" + name, Cluster: prod,
		Owner: infra.OwnerID{Cluster: prod, Kind: machineSet, Name: "md-bcdfg"},
	}})
}

func (s *scene) expect(c infra.ExpectedMachine) *infra.ExpectedMachine {
	c.Provider, c.Source, c.Home.Target = "vsphere", "VSphereVM.spec.biosUUID", vc
	s.expected.Machines = append(s.expected.Machines, c)
	return &s.expected.Machines[len(s.expected.Machines)-1]
}

func (s *scene) plane(id backup.ClusterID) *backup.ControlPlane {
	i := slices.IndexFunc(s.snap.ControlPlanes, func(p backup.ControlPlane) bool { return p.Cluster == id })
	return &s.snap.ControlPlanes[i]
}

func (s *scene) group(id backup.ClusterID, name string) *backup.Group {
	i := slices.IndexFunc(s.snap.Groups, func(g backup.Group) bool { return g.Cluster == id && g.Name == name })
	return &s.snap.Groups[i]
}

// vm puts an instance into the first listing.
func (s *scene) vm(name string, keys ...infra.Key) *infra.Instance { return s.vmIn(0, name, keys...) }

func (s *scene) vmIn(listing int, name string, keys ...infra.Key) *infra.Instance {
	l := s.listings[listing]
	l.Instances = append(l.Instances, infra.Instance{Identity: l.Endpoint + "#" + name, Name: name, ID: idAmong(keys), Keys: keys})
	return &l.Instances[len(l.Instances)-1]
}

// idAmong returns the id that an instance with these keys reports.
func idAmong(keys []infra.Key) string {
	for _, k := range keys {
		if k.Kind == bios("").Kind {
			return k.Value
		}
	}
	return ""
}

// vmOf returns the instance that a worker or orphan of the name recorded.
func (s *scene) vmOf(name string) *infra.Instance {
	return s.vm(name, bios("b-"+name), uuid("i-"+name), ref("r-"+name), named(name))
}

// node adds a Node to the Node list of a cluster, and makes where its VM is a
// place of the cluster. Cluster API's annotations on it name the machine and its
// owner, the MachineSet; without a machine it has none.
func (s *scene) node(id backup.ClusterID, k infra.Key, machine string) *infra.Node {
	i := slices.IndexFunc(s.listings, func(l *infra.Listing) bool { return l.NodeState != "" && l.Clusters[0] == id })
	if i < 0 {
		i = len(s.listings)
		s.listings = append(s.listings, &infra.Listing{
			IDs: []string{"workload/" + id.Name}, Provider: "workload", State: code.ScopeComplete, NodeState: "read",
			Clusters: []backup.ClusterID{id}, ListedAt: noon,
		})
	}
	n := infra.Node{Cluster: id, Name: "node-" + machine, Keys: []infra.Key{k}, Ready: true, Heartbeat: noon.Add(-time.Minute)}
	if machine != "" {
		n.Machine, n.ClusterName, n.ClusterNamespace = machine, id.Name, id.Namespace
		n.OwnerKind, n.OwnerName = machineSet, "md-bcdfg"
		s.hint(infra.LocationOnly, k, infra.OwnerID{Cluster: id}, 0)
	}
	s.listings[i].Nodes = append(s.listings[i].Nodes, n)
	return &s.listings[i].Nodes[len(s.listings[i].Nodes)-1]
}

// unread makes the Node list of a cluster one that was asked for and not read, and
// has a control-plane machine of the cluster run.
func (s *scene) unread(id backup.ClusterID) {
	s.listings = append(s.listings, &infra.Listing{
		IDs: []string{"workload/" + id.Name}, Provider: "workload", State: code.ScopeFailed, NodeState: "unreachable",
		Clusters: []backup.ClusterID{id}, ListedAt: noon, Fault: &infra.Fault{Message: "no route to host"},
	})
	s.machine(id, "cp-0", true)
	s.vmOf("cp-0")
}

// elsewhere makes the vCenter a stand-by site: machines of the backup have other ids
// there under their names.
func (s *scene) elsewhere(names ...string) {
	s.expected.Proofs[0].Copied = true
	for _, n := range names {
		s.worker(n)
		s.vm(n, bios("other-"+n), named(n))
	}
}

// hint connects instances that have the key with the cluster.
func (s *scene) hint(g infra.Grade, k infra.Key, owner infra.OwnerID, specificity int) *infra.OwnershipHint {
	s.expected.OwnershipHints = append(s.expected.OwnershipHints, infra.OwnershipHint{Grade: g, Key: k, Owner: &owner, Specificity: specificity, Detail: "tied by " + k.String()})
	return &s.expected.OwnershipHints[len(s.expected.OwnershipHints)-1]
}

func ownedBy(kind, name string) infra.OwnerID {
	return infra.OwnerID{Cluster: prod, Kind: kind, Name: name}
}

func (s *scene) inventory() infra.Inventory {
	inv := infra.Inventory{Version: infra.InventoryVersion}
	for _, l := range s.listings {
		copied := *l
		if l.Asked == nil && l.NodeState == "" {
			copied.Asked = s.everything()
		}
		inv.Listings = append(inv.Listings, copied)
	}
	return inv
}

// everything returns what a listing is asked for when it is made for this backup. A
// listing with Asked of its own was made for another.
func (s *scene) everything() (all []infra.Key) {
	for _, p := range s.expected.Proofs {
		all = append(all, p.All...)
	}
	for _, p := range s.expected.Pools {
		all = append(all, p.Probe)
	}
	for _, r := range s.expected.Resources {
		all = append(all, r.Keys...)
	}
	return all
}

func (s *scene) detect() Result { return s.with(tables{machineRows, instanceRows}) }

func (s *scene) with(t tables) Result {
	return t.detect(&s.snap, s.expected, s.inventory(), Options{Now: s.now})
}

// shuffled returns the same scene with everything in another order.
func (s *scene) shuffled(r *rand.Rand) *scene {
	out := *s
	out.snap.Clusters = shuffle(r, s.snap.Clusters)
	out.snap.ControlPlanes = shuffle(r, s.snap.ControlPlanes)
	out.snap.Groups = shuffle(r, s.snap.Groups)
	out.snap.Problems = shuffle(r, s.snap.Problems)
	order := r.Perm(len(s.snap.Machines))
	out.snap.Machines = make([]backup.Machine, len(order))
	for from, to := range order {
		out.snap.Machines[to] = s.snap.Machines[from]
	}
	out.expected.Machines = shuffle(r, s.expected.Machines)
	for i := range out.expected.Machines {
		if c := &out.expected.Machines[i]; c.Machine >= 0 {
			c.Machine = order[c.Machine]
		}
	}
	out.expected.OwnershipHints, out.expected.Proofs = shuffle(r, s.expected.OwnershipHints), shuffle(r, s.expected.Proofs)
	out.expected.Pools, out.expected.Exclude, out.expected.Resources = shuffle(r, s.expected.Pools), shuffle(r, s.expected.Exclude), shuffle(r, s.expected.Resources)
	out.listings = nil
	for _, l := range shuffle(r, s.listings) {
		c := *l
		c.IDs, c.Clusters, c.ProbesFound = shuffle(r, l.IDs), shuffle(r, l.Clusters), shuffle(r, l.ProbesFound)
		c.Instances, c.Nodes = shuffle(r, l.Instances), shuffle(r, l.Nodes)
		out.listings = append(out.listings, &c)
	}
	return &out
}

func shuffle[T any](r *rand.Rand, in []T) []T {
	out := slices.Clone(in)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

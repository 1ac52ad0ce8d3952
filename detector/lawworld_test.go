package detector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// A truth is a random world that knows what is really whose: which VM is the machine
// of which Machine, what was made since, what was left out of the backup, what is a
// copy, a leak or somebody else's. The laws are held against it, not against tables.
type truth struct {
	dice
	seed     uint64
	clusters []*trueCluster
	sites    []*site
	machines []*trueMachine
	vms      []*trueVM
	away     []*trueVM // at sites that nobody lists, or which another replaces
}

// trueCluster has a control plane and a MachineSet of a MachineDeployment.
type trueCluster struct {
	id     backup.ClusterID
	site   *site
	folder string
	hosted bool   // its control plane has no machines
	joined bool   // its machines had Nodes when the backup was written
	nodes  string // state of its Node list; the API server answers only while the control plane runs
	since  bool   // a rollout after the backup made another MachineSet
}

func (c *trueCluster) owner(plane bool) string {
	if plane {
		return c.id.Name + "-cp"
	}
	return c.id.Name + "-md-bcdfg"
}

// site is a vCenter, or its stand-by, which is listed in its place.
type site struct {
	name    string
	standBy bool
	hidden  map[string]bool // folders whose VMs the account does not see
	dark    map[string]bool // folders with VMs whose metadata cannot be read
	stated  bool            // the operator says that hidden folders are empty
	state   code.ScopeState
}

// trueMachine is what was a machine when the backup was written, or what a backup
// holds as if it were one.
type trueMachine struct {
	*trueCluster
	name, bios string
	plane      bool
	kind       string // machine, leftOut, deleting, leak
	recorded   bool   // its id is in the backup
	vm         *trueVM
}

// inBackup reports whether an expected machine is made for it, and orphan whether its Machine is
// not in the backup.
func (m *trueMachine) inBackup() bool { return m.kind != "leftOut" }
func (m *trueMachine) orphan() bool   { return m.kind == "deleting" || m.kind == "leak" }

// trueVM is one VM.
type trueVM struct {
	site                                  *site
	bios, uid, ref                        string
	name, host, folder, dc, joins         string
	on, template, gone, unreadable        bool
	created                               time.Time
	of                                    *trueMachine // whose VM it really is
	ghost                                 *trueCluster // made since for this cluster
	node                                  *trueCluster // a Node of it runs there
	nodeID                                string       // id on that Node
	identity                              string
	nodeMachine                           string
	nodePlane, nodeUnmarked, nodeNotReady bool
}

func (v *trueVM) runs() bool { return v.on && !v.template && !v.gone }

const safeLetters = "bcdfghjklm"

// newTruth makes one from a seed.
func newTruth(seed uint64) *truth {
	w := &truth{dice: dice{rand.New(rand.NewPCG(seed, 4711))}, seed: seed}
	for _, name := range []string{"vc1", "vc2"}[:1+w.IntN(2)] {
		w.sites = append(w.sites, &site{name: name, standBy: w.chance(8), hidden: map[string]bool{}, dark: map[string]bool{}, state: code.ScopeComplete})
	}
	for n := range 1 + w.IntN(3) {
		c := &trueCluster{
			id: backup.ClusterID{Namespace: "t", Name: fmt.Sprintf("c%d", n)}, site: w.sites[w.IntN(len(w.sites))],
			folder: fmt.Sprintf("f%d", w.IntN(n+1)), hosted: w.chance(10), joined: !w.chance(8), since: w.chance(20),
			nodes: pick(w.dice, "read", "read", "read", "skipped", "skipped", "unreachable", "denied"),
		}
		w.clusters = append(w.clusters, c)
		w.populate(c)
	}
	for _, s := range w.sites {
		for _, f := range []string{"f0", "f1", "f2"} {
			s.hidden[f] = w.chance(6) && !s.standBy
		}
		if s.standBy {
			w.replicate(s)
		}
	}
	w.meet()
	return w
}

func (w *truth) suffix() string {
	b := make([]byte, 5)
	for i := range b {
		b[i] = safeLetters[w.IntN(len(safeLetters))]
	}
	return string(b)
}

func (w *truth) id(kind string) string { return fmt.Sprintf("%s-%08x", kind, w.Uint32()) }

// before and since are moments of creation: a month, an hour or minutes apart from
// the backup.
func (w *truth) before() time.Time {
	return written.Add(-pick(w.dice, time.Minute, time.Hour, 30*24*time.Hour))
}

func (w *truth) since() time.Time {
	return written.Add(pick(w.dice, 2*time.Minute, time.Hour, 20*time.Hour))
}

// populate gives a cluster its machines of then and its VMs of now.
func (w *truth) populate(c *trueCluster) {
	planes := pick(w.dice, 1, 3)
	if c.hosted {
		planes = 0
	}
	for n := range max(planes+w.IntN(5), 1) { // without any nothing would say where to look
		w.machine(c, n < planes, "machine")
	}
	for range w.IntN(2) {
		w.machine(c, w.chance(20) && !c.hosted, pick(w.dice, "leftOut", "deleting", "leak"))
	}
	for range w.IntN(3) {
		w.ghost(c)
	}
	for range w.IntN(2) {
		w.lookAlike(c)
	}
	w.vms = append(w.vms, w.unrelated(c))
}

func (w *truth) machine(c *trueCluster, plane bool, kind string) {
	m := &trueMachine{trueCluster: c, name: c.owner(plane) + "-" + w.suffix(), bios: w.id("bios"), plane: plane, kind: kind, recorded: !w.chance(6)}
	w.machines = append(w.machines, m)
	v := w.vmOf(m)
	switch {
	case kind == "leak" && !m.recorded, kind != "machine" && kind != "leftOut" && w.chance(40):
		return // its VM is gone, or never was
	case kind == "machine":
		w.outcome(m, v)
		return
	}
	w.lives(m, v)
}

// vmOf returns the VM that a machine had when the backup was written.
func (w *truth) vmOf(m *trueMachine) *trueVM {
	return &trueVM{
		site: m.site, bios: m.bios, uid: "uid-" + m.name, ref: "ref-" + m.name, name: m.name, host: m.name, folder: m.folder, dc: "DC0",
		joins: pick(w.dice, m.id.Name, ""), on: true, created: w.before(), nodeID: m.bios,
	}
}

// lives makes a VM that of a machine, with the machine's Node on it.
func (w *truth) lives(m *trueMachine, v *trueVM) *trueVM {
	m.vm, v.of = v, m
	if m.joined || w.chance(10) {
		v.node, v.nodeMachine, v.nodePlane = m.trueCluster, m.name, m.plane
		v.nodeUnmarked, v.nodeNotReady = w.chance(5), !v.runs()
	}
	w.vms = append(w.vms, v)
	return v
}

// meet settles what depends on everything else: identities, and whether anybody
// answers for a cluster's Nodes.
func (w *truth) meet() {
	for i, v := range w.vms {
		v.identity = fmt.Sprintf("%s#%d", v.site.name, i)
	}
	for _, c := range w.clusters {
		serves := c.hosted || slices.ContainsFunc(slices.Concat(w.vms, w.away), func(v *trueVM) bool { return v.node == c && v.nodePlane && v.runs() })
		if c.nodes == "read" && !serves {
			c.nodes = "unreachable"
		}
	}
}

// asScene returns what the detector gets to see of it.
func (w *truth) asScene() *scene {
	s := emptyScene()
	s.snap.Backups = []backup.Info{{WrittenFrom: written.Add(-time.Minute), WrittenTo: written}}
	for _, c := range w.clusters {
		w.cluster(s, c)
	}
	for _, m := range w.machines {
		if m.inBackup() {
			w.expectedMachine(s, m)
		}
	}
	for _, site := range w.sites {
		w.look(s, site)
	}
	for _, c := range w.clusters {
		w.nodeList(s, c)
	}
	return s
}

func (w *truth) cluster(s *scene, c *trueCluster) {
	meta := func(name string) backup.Meta { return backup.Meta{Namespace: c.id.Namespace, Name: name} }
	kind := plane
	if c.hosted {
		kind = "K0smotronControlPlane"
	}
	count := func(plane bool) (n int64) {
		for _, m := range w.machines {
			if m.trueCluster == c && m.plane == plane && m.kind != "leak" {
				n++
			}
		}
		return n
	}
	cp, set, md := c.owner(true), c.owner(false), c.id.Name+"-md"
	s.snap.Clusters = append(s.snap.Clusters, backup.Cluster{Meta: meta(c.id.Name), Endpoint: "192.0.2.1:6443", ControlPlane: backup.Ref{Kind: kind, Name: cp}})
	s.snap.ControlPlanes = append(s.snap.ControlPlanes, backup.ControlPlane{Meta: meta(cp), Kind: kind, Cluster: c.id, Replicas: known(count(true)), Desired: known(count(true))})
	s.snap.Groups = append(s.snap.Groups,
		backup.Group{Meta: meta(md), Kind: machineDeployment, Cluster: c.id, Replicas: known(count(false)), Desired: known(count(false))},
		backup.Group{Meta: meta(set), Kind: machineSet, Cluster: c.id, Deployment: md, Replicas: known(count(false)), Desired: known(count(false))})
	target, at := c.site.name, c.site.name+"/"+c.folder
	stated := ""
	if c.site.stated {
		stated = "stated"
	}
	s.expected.Proofs = append(s.expected.Proofs,
		infra.VisibilityProof{Cluster: c.id, Target: target, Any: []infra.Key{key("known", target)}, Nodes: true, Copied: true, Hint: "look"},
		infra.VisibilityProof{Cluster: c.id, Target: target, Folder: at, All: []infra.Key{key("inhabited", at)}, Hint: "look", Stated: stated},
		infra.VisibilityProof{Cluster: c.id, Target: target, Folder: at, All: []infra.Key{key("read", at)}, Hint: "look"})
	hint := func(g infra.Grade, k infra.Key, owner infra.OwnerID, specificity int) {
		s.expected.OwnershipHints = append(s.expected.OwnershipHints, infra.OwnershipHint{
			Grade: g, Key: k, Owner: &owner, ControlPlane: owner.Kind == plane, Specificity: specificity, ByName: g != infra.LocationOnly,
			Expect: []infra.Key{key("joins", c.id.Name)}, Detail: k.String(),
		})
	}
	owners := map[string]infra.OwnerID{
		set: {Cluster: c.id, Kind: machineSet, Name: set}, c.id.Name + "-md-zzzzz": {Cluster: c.id, Kind: machineDeployment, Name: md},
	}
	if !c.hosted {
		owners[cp] = infra.OwnerID{Cluster: c.id, Kind: plane, Name: cp}
	}
	for name, owner := range owners {
		hint(infra.Medium, key("stem", at+"|"+name), owner, len(name))
		hint(infra.NameOnly, key("stem", "*|"+name), owner, len(name))
	}
	hint(infra.NameOnly, key("after", c.id.Name), infra.OwnerID{Cluster: c.id}, 0)
	for _, k := range []infra.Key{key("folder", at), key("below", at)} {
		s.expected.OwnershipHints = append(s.expected.OwnershipHints, infra.OwnershipHint{Grade: infra.LocationOnly, Key: k, Owner: &infra.OwnerID{Cluster: c.id}, Detail: k.String()})
	}
}

func (w *truth) expectedMachine(s *scene, m *trueMachine) {
	at := m.site.name + "/" + m.folder
	c := infra.ExpectedMachine{
		Machine: -1, Provider: "vsphere", Source: "VSphereVM.spec.biosUUID",
		Home:  infra.HomeScope{Target: m.site.name, Within: key("datacenter", "DC0"), Folder: at},
		Names: []infra.Key{named(m.name), key("alias", m.name)}, Hosts: []infra.Key{key("host", m.name)}, Witness: []infra.Key{key("place", at+"/"+m.name)},
		Blind: []infra.Key{named(m.name), key("alias", m.name), ref("ref-" + m.name), key("within", at+"/"+m.name)}, Identity: uuid("uid-" + m.name), Ref: ref("ref-" + m.name),
	}
	if m.recorded {
		c.Strong = bios(m.bios)
	} else {
		c.Weak = []infra.Key{key("path+ref", at+"/"+m.name+" ref-"+m.name)}
	}
	owner := infra.OwnerID{Cluster: m.id, Kind: machineSet, Name: m.owner(false)}
	if m.plane {
		owner.Kind, owner.Name = plane, m.owner(true)
	}
	if m.orphan() {
		c.Orphan = &infra.Orphan{Kind: "VSphereMachine", Namespace: m.id.Namespace, Name: m.name, UID: "o-" + m.name, Cluster: m.id, ControlPlane: m.plane, Owner: owner}
	} else {
		c.Machine = len(s.snap.Machines)
		one := backup.Machine{
			Meta: backup.Meta{Namespace: m.id.Namespace, Name: m.name, UID: m.name}, Cluster: m.id, ControlPlane: m.plane,
			Owner: backup.Owner{Kind: owner.Kind, Name: owner.Name}, Phase: "Provisioned",
		}
		if !m.plane {
			one.Set, one.Deployment = owner.Name, m.id.Name+"-md"
		}
		if m.joined {
			one.Phase, one.Node = "Running", m.name
		}
		s.snap.Machines = append(s.snap.Machines, one)
	}
	s.expected.Machines = append(s.expected.Machines, c)
}

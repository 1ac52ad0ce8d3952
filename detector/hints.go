package detector

import (
	"cmp"
	"math"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// hintIndex finds the hints of an instance.
type hintIndex struct {
	grades    map[infra.Grade]*gradeHints
	locations map[backup.ClusterID]map[int32]bool // listings that show where a cluster's machines may be
	shared    map[clusterKey]bool
	expected  map[expectID]*expectation
}

// expectID names what hints expect: those of one cluster share one list.
type expectID struct {
	first *infra.Key
	count int
}

// expectation is what a hint expects. A control plane has an address for each machine.
type expectation struct {
	kinds []infra.KeyKind
	keys  map[infra.Key]bool
}

// clusterKey is a key as far as one cluster has to do with it.
type clusterKey struct {
	cluster backup.ClusterID
	infra.Key
}

// findShared finds the keys of the kinds that hints ask for on the living instances of
// recorded machines.
func (ix *index) findShared(hints []infra.OwnershipHint) {
	kinds := map[infra.KeyKind]bool{}
	for i := range hints {
		if kind := hints[i].Shares; !kind.IsZero() {
			kinds[kind] = true
		}
	}
	if len(kinds) == 0 {
		return
	}
	ix.hints.shared = map[clusterKey]bool{}
	for _, c := range ix.expected {
		for _, v := range keep(c.byID, func(v *vm) bool { return alive(v) && ix.atHome(c, v) }) {
			for _, k := range v.Keys {
				if kinds[k.Kind] {
					ix.hints.shared[clusterKey{c.of.Cluster, k}] = true
				}
			}
		}
	}
}

// shares reports whether an instance has what the hint asks for beside its key.
func (t *hintIndex) shares(hint *infra.OwnershipHint, v *vm) bool {
	return hint.Shares.IsZero() || slices.ContainsFunc(v.Keys, func(k infra.Key) bool {
		return k.Kind == hint.Shares && t.shared[clusterKey{hint.Owner.Cluster, k}]
	})
}

func newTieIndex(c infra.Expected, expected []*expectedMachine, listings []infra.Listing) hintIndex {
	t := hintIndex{grades: map[infra.Grade]*gradeHints{}, locations: map[backup.ClusterID]map[int32]bool{}, expected: map[expectID]*expectation{}}
	count := map[infra.Grade]int{}
	for i := range c.OwnershipHints {
		count[c.OwnershipHints[i].Grade]++
	}
	for grade, n := range count {
		t.grades[grade] = &gradeHints{byKey: make(map[infra.Key]*hintList, n), also: map[infra.KeyKind]bool{}, known: map[string]*tied{}}
	}
	for i := range c.OwnershipHints {
		hint := &c.OwnershipHints[i]
		t.grades[hint.Grade].add(hint)
	}
	t.findLocations(c.Proofs, expected, listings)
	return t
}

// findLocations takes from expected machines, proofs and listings where a cluster's
// machines may be. A name or a folder proves nothing in another vCenter.
func (t *hintIndex) findLocations(proofs []infra.VisibilityProof, expected []*expectedMachine, listings []infra.Listing) {
	targets := map[string][]int32{}
	for i := range listings {
		for _, id := range listings[i].IDs {
			targets[id] = append(targets[id], int32(i))
		}
		for _, id := range listings[i].Clusters {
			t.addLocations(id, int32(i))
		}
	}
	for i, c := range expected {
		if i == 0 || c.of.Cluster != expected[i-1].of.Cluster || c.Home.Target != expected[i-1].Home.Target {
			t.addLocations(c.of.Cluster, targets[c.Home.Target]...)
		}
	}
	for _, p := range proofs {
		t.addLocations(p.Cluster, targets[p.Target]...)
	}
}

func (t *hintIndex) addLocations(id backup.ClusterID, listings ...int32) {
	of := t.locations[id]
	if of == nil {
		of = map[int32]bool{}
		t.locations[id] = of
	}
	for _, l := range listings {
		of[l] = true
	}
}

// fits reports whether nothing contradicts a hint whose key or pattern an instance has.
func (t *hintIndex) fits(hint *infra.OwnershipHint, v *vm) bool {
	anywhere := hint.Grade == infra.Strong || hint.Grade == infra.NameOnly
	return !t.contradicts(v, hint.Expect) && (anywhere || t.isInLocation(hint.Owner.Cluster, v)) && t.shares(hint, v)
}

// contradicts reports whether an instance has keys of a kind that is expected, and
// none of those that are.
func (t *hintIndex) contradicts(v *vm, expected []infra.Key) bool {
	if len(expected) == 0 {
		return false
	}
	id := expectID{&expected[0], len(expected)}
	e := t.expected[id]
	if e == nil {
		e = &expectation{keys: make(map[infra.Key]bool, len(expected))}
		t.expected[id] = e
		for _, k := range expected {
			if e.keys[k] = true; !slices.Contains(e.kinds, k.Kind) {
				e.kinds = append(e.kinds, k.Kind)
			}
		}
	}
	return slices.ContainsFunc(e.kinds, func(kind infra.KeyKind) bool {
		return v.value(kind) != "" && !slices.ContainsFunc(v.Keys, func(k infra.Key) bool { return k.Kind == kind && e.keys[k] })
	})
}

func (t *hintIndex) isInLocation(id backup.ClusterID, v *vm) bool {
	return slices.ContainsFunc(v.seen, func(l int32) bool { return t.locations[id][l] })
}

// link is one reason why an instance belongs to a cluster: an OwnershipHint, or a Node.
type link struct {
	// One of the two:
	node         *infra.Node
	hint         *infra.OwnershipHint
	specificity  int
	controlPlane bool
	roleKnown    bool
	byName       bool // what it rests on may be somebody else's, too
}

func (b *link) cluster() backup.ClusterID {
	if b.node != nil {
		return b.node.Cluster
	}
	return b.hint.Owner.Cluster
}

func (b *link) owner() infra.OwnerID {
	if b.node != nil {
		return infra.OwnerID{Cluster: b.node.Cluster, Kind: b.node.OwnerKind, Name: b.node.OwnerName}
	}
	return *b.hint.Owner
}

// detail returns the evidence for people. It is made when it is asked for, which is seldom.
func (b *link) detail() string {
	if b.node != nil {
		return "Node " + b.node.Name + " of the cluster has its provider id and says it is machine " + b.node.Machine
	}
	return b.hint.Evidence()
}

// workerKinds own workers; every other kind that owns machines is a control plane.
var workerKinds = map[string]bool{machineDeployment: true, machineSet: true, machinePool: true}

// role returns whether an owner of this kind, or other evidence, makes an instance a
// control-plane machine, and whether that is known.
func role(controlPlane bool, ownerKind string) (plane, known bool) {
	return controlPlane || ownerKind != "" && !workerKinds[ownerKind], controlPlane || ownerKind != ""
}

func linkOfHint(t *infra.OwnershipHint) link {
	plane, known := role(t.ControlPlane, t.Owner.Kind)
	return link{hint: t, specificity: t.Specificity, byName: t.ByName, controlPlane: plane, roleKnown: known}
}

// linkOfNode makes a link that is stronger than every OwnershipHint of its grade: the instance has joined.
func linkOfNode(n *node) link {
	plane, known := role(n.ControlPlane, n.OwnerKind)
	return link{node: n.Node, specificity: math.MaxInt, controlPlane: plane, roleKnown: known}
}

// strongest returns the links of the highest specificity, in order.
func strongest(all []link) []link {
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b link) int { return cmp.Compare(a.specificity, b.specificity) }).specificity
	all = slices.DeleteFunc(all, func(b link) bool { return b.specificity != most })
	sorting.By(all, compareLinks)
	return all
}

func compareLinks(a, b link) int {
	owner, other := a.owner(), b.owner()
	c := cmp.Or(cmp.Compare(b.specificity, a.specificity), compareClusters(owner.Cluster, other.Cluster),
		cmp.Compare(owner.Kind, other.Kind), cmp.Compare(owner.Name, other.Name),
		compareBool(a.controlPlane, b.controlPlane), compareBool(a.byName, b.byName))
	if c != 0 {
		return c
	}
	return cmp.Compare(a.detail(), b.detail())
}

// clustersOf lists the clusters of links, each once, in order.
func clustersOf(all []link) []backup.ClusterID {
	out := make([]backup.ClusterID, len(all))
	for i := range all {
		out[i] = all[i].cluster()
	}
	sorting.By(out, compareClusters)
	return slices.Compact(out)
}

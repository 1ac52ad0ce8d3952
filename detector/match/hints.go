package match

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// hintIndex finds the hints of an instance.
type hintIndex struct {
	grades    map[infra.Grade]*gradeHints
	locations map[backup.ClusterID][]int32 // listings, each once, that show where a cluster's machines may be
	shared    map[clusterKey]bool
	expected  map[expectID]*expectation
}

// expectID names what hints expect: those of one cluster share one list.
type expectID struct {
	first *infra.Key
	count int
}

// expectation is what a hint expects, where it is much: a control plane has an address for each machine.
type expectation struct {
	kinds []infra.KeyKind
	keys  map[infra.Key]bool
}

// clusterKey is a key as far as one cluster has to do with it.
type clusterKey struct {
	cluster backup.ClusterID
	infra.Key
}

// shares reports whether an instance has what the hint asks for beside its key.
func (t *hintIndex) shares(hint *infra.OwnershipHint, v *VM) bool {
	return hint.Shares.IsZero() || slices.ContainsFunc(v.Keys, func(k infra.Key) bool {
		return k.Kind == hint.Shares && t.shared[clusterKey{hint.Owner.Cluster, k}]
	})
}

func newTieIndex(c infra.Expected, expected []*Machine, listings []infra.Listing) hintIndex {
	t := hintIndex{grades: map[infra.Grade]*gradeHints{}, locations: make(map[backup.ClusterID][]int32, len(listings)), expected: map[expectID]*expectation{}}
	for i := range c.OwnershipHints {
		if grade := c.OwnershipHints[i].Grade; t.grades[grade] == nil {
			t.grades[grade] = newGradeHints(c.OwnershipHints, grade)
		}
	}
	t.findLocations(c.Proofs, expected, listings)
	return t
}

// findLocations takes from expected machines, proofs and listings where a cluster's
// machines may be. A name or a folder proves nothing in another vCenter.
func (t *hintIndex) findLocations(proofs []infra.VisibilityProof, expected []*Machine, listings []infra.Listing) {
	targets := make(map[string][]int32, len(listings))
	for i := range listings {
		for _, id := range listings[i].IDs {
			targets[id] = append(targets[id], int32(i))
		}
		for _, id := range listings[i].Clusters {
			t.addLocations(id, int32(i))
		}
	}
	for i, c := range expected {
		if i == 0 || c.Of.Cluster != expected[i-1].Of.Cluster || c.Home.Target != expected[i-1].Home.Target {
			t.addLocations(c.Of.Cluster, targets[c.Home.Target]...)
		}
	}
	for i := range proofs {
		if p := &proofs[i]; i == 0 || p.Cluster != proofs[i-1].Cluster || p.Target != proofs[i-1].Target {
			t.addLocations(p.Cluster, targets[p.Target]...)
		}
	}
}

func (t *hintIndex) addLocations(id backup.ClusterID, listings ...int32) {
	of := t.locations[id]
	for _, l := range listings {
		if !slices.Contains(of, l) {
			of = append(of, l)
		}
	}
	t.locations[id] = of
}

// fits reports whether nothing contradicts a hint whose key or pattern an instance has.
func (t *hintIndex) fits(hint *infra.OwnershipHint, v *VM) bool {
	anywhere := hint.Grade == infra.Strong || hint.Grade == infra.NameOnly
	return !t.contradicts(v, hint.Expect) && (anywhere || t.isInLocation(hint.Owner.Cluster, v)) && t.shares(hint, v)
}

// contradicts reports whether an instance has keys of a kind that is expected, and
// none of those that are.
func (t *hintIndex) contradicts(v *VM, expected []infra.Key) bool {
	if len(expected) == 0 {
		return false
	}
	isOther := func(kind infra.KeyKind, has func(infra.Key) bool) bool {
		return v.Value(kind) != "" && !slices.ContainsFunc(v.Keys, func(k infra.Key) bool { return k.Kind == kind && has(k) })
	}
	if len(expected) <= Many {
		return slices.ContainsFunc(expected, func(one infra.Key) bool {
			return isOther(one.Kind, func(k infra.Key) bool { return slices.Contains(expected, k) })
		})
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
		return isOther(kind, func(k infra.Key) bool { return e.keys[k] })
	})
}

func (t *hintIndex) isInLocation(id backup.ClusterID, v *VM) bool {
	return v.seenIn(t.locations[id])
}

// tied returns the hints of a grade that fit an instance.
func (t *hintIndex) tied(grade infra.Grade, v *VM) *tied {
	g := t.grades[grade]
	if g == nil {
		return &untied
	}
	var room [4]hintList
	own, common := g.lists(v, room[:0])
	if hintsIn(own) > Many {
		own, common = nil, slices.Concat(own, common)
	}
	switch {
	case len(common) == 0 && len(own) == 0:
		return &untied
	case len(common) == 0:
		return t.tie(g.all, own, v)
	}
	like := g.signature(common, v)
	if g.known[like] == nil {
		one := t.tie(g.all, common, v)
		one.clusters = map[backup.ClusterID]bool{}
		for _, hint := range one.hints {
			one.clusters[hint.Owner.Cluster] = true
		}
		g.known[like] = one
	}
	if len(own) == 0 {
		return g.known[like]
	}
	one := t.tie(g.all, own, v)
	one.common = g.known[like]
	return one
}

// tie returns those of the hints that fit an instance.
func (t *hintIndex) tie(all []infra.OwnershipHint, lists []hintList, v *VM) *tied {
	count := hintsIn(lists)
	one := &tied{hints: make([]*infra.OwnershipHint, 0, count)}
	links := make([]Link, 0, count)
	for _, l := range lists {
		for _, at := range l {
			hint := &all[at.number]
			if !t.fits(hint, v) {
				continue
			}
			b := linkOfHint(hint)
			if hint.Grade == infra.LocationOnly {
				b.specificity = 0 // a place suggests, it does not compete
			}
			one.hints, links = append(one.hints, hint), append(links, b)
		}
	}
	one.links = strongest(links)
	return one
}

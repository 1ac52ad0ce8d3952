package match

import (
	"hash/maphash"
	"iter"
	"slices"

	"drift-detector/infra"
)

// addRelated returns the listings with those of their Unrelated moved to the instances
// that an expected machine, another instance or a Node is related to: they are decided together.
// The others are decided one by one, see Unmatched.
func addRelated(listings []infra.Listing, expected *infra.Expected, nodes *nodes) []infra.Listing {
	if !slices.ContainsFunc(listings, func(l infra.Listing) bool { return l.Unrelated.Len() > 0 }) {
		return listings
	}
	out := slices.Clone(listings)
	r := &related{nearby: expected.IsRelated(), nodes: nodes, seed: maphash.MakeSeed(), ids: map[[2]string]bool{}}
	r.findTwice(out)
	for i := range out {
		r.note(out[i].Provider, out[i].Instances)
	}
	// One that was moved may share its id with further ones.
	for known := -1; known < len(r.ids); {
		known = len(r.ids)
		for i := range out {
			l := &out[i]
			taken := l.Unrelated.Take(func(v *infra.Instance) bool { return r.reach(l.Provider, v) })
			l.Instances = slices.Concat(l.Instances, taken)
			r.note(l.Provider, taken)
		}
	}
	return out
}

// related are the reasons to decide on an instance together with others.
type related struct {
	nearby func(*infra.Instance) bool
	nodes  *nodes
	seed   maphash.Seed
	twice  map[uint64]bool    // hashes of identities that are seen more than once
	ids    map[[2]string]bool // provider and id of the related instances: another may have the same id
}

func (r *related) reach(provider string, v *infra.Instance) bool {
	return r.nearby(v) || r.twice[r.hash(provider, v)] || r.ids[[2]string{provider, v.ID}] ||
		len(r.nodes.on(&VM{Instance: v})) > 0
}

func (r *related) note(provider string, all []infra.Instance) {
	for i := range all {
		if id := all[i].ID; id != "" {
			r.ids[[2]string{provider, id}] = true
		}
	}
}

// hash returns that of the identity. Two that have the same by chance are decided
// together, which changes nothing.
func (r *related) hash(provider string, v *infra.Instance) uint64 {
	return maphash.Comparable(r.seed, [2]string{provider, v.Identity})
}

// findTwice finds the instances that several listings show.
func (r *related) findTwice(listings []infra.Listing) {
	r.twice = map[uint64]bool{}
	once := map[uint64]struct{}{}
	see := func(provider string, v *infra.Instance) {
		h := r.hash(provider, v)
		if _, again := once[h]; again {
			r.twice[h] = true
		}
		once[h] = struct{}{}
	}
	for i := range listings {
		l := &listings[i]
		for j := range l.Instances {
			see(l.Provider, &l.Instances[j])
		}
		for v := range l.Unrelated.All() {
			see(l.Provider, &v)
		}
	}
}

// Unmatched yields the instances that are no machine's, in order, and then those that nothing is
// related to, of which none is kept.
func (ix *Index) Unmatched() iter.Seq[*VM] {
	return func(yield func(*VM) bool) {
		for i := range ix.vms {
			if v := &ix.vms[i]; v.matchedBy == nil && !yield(v) {
				return
			}
		}
		for i := range ix.scopes.listings {
			l := &ix.scopes.listings[i]
			for one := range l.Unrelated.All() {
				v := &VM{Instance: &one, Provider: l.Provider, seen: []int32{int32(i)}}
				v.Scope = ix.seenAt(v, "")
				if !yield(v) {
					return
				}
			}
		}
	}
}

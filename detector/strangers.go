package detector

import (
	"hash/maphash"
	"slices"

	"drift-detector/infra"
)

// callUp returns the listings with those of their strangers among the instances
// that a claim, another instance or a Node has to do with: they are decided
// together. Every stranger that is left is decided by itself, see decideStrangers.
func callUp(listings []infra.Listing, claims *infra.Claims, nodes *nodes) []infra.Listing {
	if !slices.ContainsFunc(listings, func(l infra.Listing) bool { return l.Strangers.Len() > 0 }) {
		return listings
	}
	out := slices.Clone(listings)
	c := &calls{near: claims.Near(), nodes: nodes, seed: maphash.MakeSeed(), ids: map[[2]string]bool{}}
	c.findTwice(out)
	for i := range out {
		c.note(out[i].Provider, out[i].Instances)
	}
	// One that is called up may share its id with further ones.
	for known := -1; known < len(c.ids); {
		known = len(c.ids)
		for i := range out {
			l := &out[i]
			taken := l.Strangers.Take(func(v *infra.Instance) bool { return c.reach(l.Provider, v) })
			l.Instances = slices.Concat(l.Instances, taken)
			c.note(l.Provider, taken)
		}
	}
	return out
}

// calls are the reasons to decide on a stranger together with others.
type calls struct {
	near  func(*infra.Instance) bool
	nodes *nodes
	seed  maphash.Seed
	twice map[uint64]bool    // hashes of identities that are seen more than once
	ids   map[[2]string]bool // provider and id of the instances that are none: a stranger may be their twin
}

func (c *calls) reach(provider string, v *infra.Instance) bool {
	return c.near(v) || c.twice[c.hash(provider, v)] || c.ids[[2]string{provider, v.ID}] ||
		slices.ContainsFunc(v.Keys, func(k infra.Key) bool { return len(c.nodes.byKey[k]) > 0 })
}

func (c *calls) note(provider string, all []infra.Instance) {
	for i := range all {
		if id := all[i].ID; id != "" {
			c.ids[[2]string{provider, id}] = true
		}
	}
}

// hash is that of the identity. Two that have the same by chance are decided
// together, which changes nothing.
func (c *calls) hash(provider string, v *infra.Instance) uint64 {
	return maphash.Comparable(c.seed, [2]string{provider, v.Identity})
}

// findTwice finds the instances that several listings show.
func (c *calls) findTwice(listings []infra.Listing) {
	c.twice = map[uint64]bool{}
	once := map[uint64]struct{}{}
	see := func(provider string, v *infra.Instance) {
		h := c.hash(provider, v)
		if _, again := once[h]; again {
			c.twice[h] = true
		}
		once[h] = struct{}{}
	}
	for i := range listings {
		l := &listings[i]
		for j := range l.Instances {
			see(l.Provider, &l.Instances[j])
		}
		for v := range l.Strangers.All() {
			see(l.Provider, &v)
		}
	}
}

// decideStrangers decides on the instances that nothing else has to do with, by
// the same table as on all others, and keeps none of them that is out of scope.
func (e *estate) decideStrangers(decide func(*vm)) {
	for i := range e.scopes.listings {
		l := &e.scopes.listings[i]
		for one := range l.Strangers.All() {
			v := &vm{Instance: one, provider: l.Provider, seen: []int32{int32(i)}}
			v.scope = e.seenAt(v, "")
			decide(v)
		}
	}
}

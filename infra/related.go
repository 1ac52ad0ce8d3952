package infra

import (
	"hash/maphash"
	"slices"
)

// IsRelated returns a test for the instances that anything in the expected machines may
// find, by a key or by a tie's pattern. One that cannot be read is near, as not all of
// its keys are known. The test takes about 16 bytes of memory for each key of the
// expected machines.
func (c *Expected) IsRelated() func(*Instance) bool {
	// Two keys with one hash make an instance near that is not, which only costs
	// memory.
	seed, reach := maphash.MakeSeed(), map[uint64]struct{}{}
	c.eachKey(func(k Key) {
		if !k.IsZero() {
			reach[k.Hash(seed)] = struct{}{}
		}
	})
	hasAny := func(k Key) bool {
		_, found := reach[k.Hash(seed)]
		return found
	}
	var patterns Patterns
	for i := range c.OwnershipHints {
		if hint := &c.OwnershipHints[i]; hint.Key.IsZero() && hint.Pattern != nil {
			patterns.Add(hint.Pattern.Name)
		}
	}
	return func(i *Instance) bool {
		return i.Unreadable || hasAny(i.Host) || slices.ContainsFunc(i.Keys, hasAny) || len(patterns.Matching(i.Name)) > 0
	}
}

// eachKey passes on the keys by which the expected machines find instances that could be read,
// zero ones too.
func (c *Expected) eachKey(pass func(Key)) {
	all := func(keys []Key) {
		for _, k := range keys {
			pass(k)
		}
	}
	for i := range c.Machines {
		m := &c.Machines[i]
		pass(m.Strong)
		pass(m.Identity)
		all(m.Doubted)
		all(m.Weak)
		all(m.Searches)
		all(m.Names)
		all(m.Witness)
		all(m.Hosts)
	}
	for i := range c.OwnershipHints {
		pass(c.OwnershipHints[i].Key)
	}
	for i := range c.Proofs {
		all(c.Proofs[i].Any)
	}
	for i := range c.Exclude {
		pass(c.Exclude[i].Key)
	}
	for i := range c.Pools {
		pass(c.Pools[i].Key)
		all(c.Pools[i].Members)
	}
	for i := range c.UnreadPools {
		all(c.UnreadPools[i].Members)
	}
}

package detector

import (
	"cmp"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// reference connects an instance with a machine of the backup that it was not matched
// with, or not with certainty. Such an instance is never a Ghost.
type reference struct {
	machine *expectedMachine
	reason  code.Reason
	rank    int // the lower, the stronger
}

// Ranks of references: by what the instance shares with the machine.
const (
	byStrongKey = iota + 1
	bySecondKey
	byWitness
	byWeakKey
	byBlindKey
	byNode
	byName
)

// addReference keeps the strongest reference; the expected machines come in order. It has no
// effect on instances that were matched with a machine.
func (v *vm) addReference(c *expectedMachine, rank int, reason code.Reason) {
	if v.reference.machine == nil || rank < v.reference.rank {
		v.reference = reference{c, reason, rank}
	}
}

// findReferences adds the references of all expected machines, once they are decided.
func (ix *index) findReferences() {
	unmatched := indexKeys(ix.vms, func(v *vm) bool { return v.matchedBy == nil })
	// The first reference of a rank that reaches an instance is the one that counts, so
	// that a name of many instances is looked up once however many machines have it.
	named := [byName + 1]map[infra.Key]bool{}
	for rank := range named {
		named[rank] = map[infra.Key]bool{}
	}
	each := func(rank int, keys []infra.Key, add func(*vm)) {
		for _, k := range keys {
			if named[rank][k] {
				continue
			}
			found := unmatched.with(k)
			if len(found) > 1 {
				named[rank][k] = true
			}
			for _, v := range found {
				add(v)
			}
		}
	}
	ix.unnamed = map[infra.OwnerID]*expectedMachine{}
	done := map[**vm]bool{}
	for _, c := range ix.expected {
		ix.noteUnnamed(c)
		ix.findKeyReferences(c, each, done)
		c.findNodeReferences(&unmatched)
		each(0, c.Hosts, func(v *vm) {
			v.cloneOf = cmp.Or(v.cloneOf, c)
		})
	}
}

// noteUnnamed records a machine whose instance may be any of its owner's: the backup
// has no id, and the name of the instance is missing or not understood.
func (ix *index) noteUnnamed(c *expectedMachine) {
	if c.matched != nil || !c.Strong.IsZero() || !c.InfraMissing && c.Unnamed == "" {
		return
	}
	// Of an instance that nothing ties to an owner it may be any of the cluster's.
	ids := []infra.OwnerID{{Cluster: c.of.Cluster}}
	for _, one := range c.owners {
		ids = append(ids, one.OwnerID)
	}
	for _, id := range ids {
		if ix.unnamed[id] == nil {
			ix.unnamed[id] = c
		}
	}
}

// findNodeReferences adds references to the instances of Nodes that name the machine.
func (c *expectedMachine) findNodeReferences(unmatched *postings) {
	for _, n := range c.nodes {
		if !n.agrees() {
			continue
		}
		for _, v := range unmatched.with(n.Keys...) {
			v.addReference(c, byNode, code.NodeOfMachine)
		}
	}
}

// findKeyReferences adds references to the instances that have a key of the expected machine.
// Done are the lists of unreadable ones that were seen, each by its first place.
func (ix *index) findKeyReferences(c *expectedMachine, each func(rank int, keys []infra.Key, add func(*vm)), done map[**vm]bool) {
	if c.matched == nil {
		each(byStrongKey, []infra.Key{c.Strong}, func(v *vm) { v.addReference(c, byStrongKey, reasonOf(c, code.FoundElsewhere)) })
	} else {
		for _, v := range c.byID {
			if v.matchedBy == nil && v.duplicateOf == nil {
				v.duplicateOf = c
			}
		}
	}
	each(byStrongKey, c.Doubted, func(v *vm) { v.addReference(c, byStrongKey, reasonOf(c, code.ConflictingIDs)) })
	for _, v := range c.byIdentity {
		v.addReference(c, bySecondKey, reasonOf(c, code.IdentityChanged))
	}
	if c.matched == nil {
		each(byWitness, c.Witness, func(v *vm) { v.addReference(c, byWitness, reasonOf(c, code.SameName)) })
	}
	if c.Strong.IsZero() {
		each(byWeakKey, c.Weak, func(v *vm) { v.addReference(c, byWeakKey, reasonOf(c, code.SameName)) })
	}
	if unread := ix.unread(c); len(unread) > 0 && !done[&unread[0]] {
		if len(unread) > many {
			done[&unread[0]] = true
		}
		for _, v := range unread {
			v.addReference(c, byBlindKey, code.InstanceUnreadable)
		}
	}
	each(byName, c.Names, func(v *vm) { v.addReference(c, byName, code.SameName) })
}

// reasonOf returns the reason of the machine's verdict where that verdict is about
// the instances that it reaches, else another.
func reasonOf(c *expectedMachine, otherwise code.Reason) code.Reason {
	switch c.reason {
	case code.ClaimedTwice, code.ConflictingIDs, code.InstanceUnreadable, code.AmbiguousMatch, code.FoundElsewhere, code.IdentityChanged:
		return c.reason
	case code.ScopeIncomplete:
		// The instance may be the machine, but something is between.
		if otherwise == code.IdentityChanged || otherwise == code.SameName {
			return code.ScopeIncomplete
		}
	}
	return otherwise
}

package match

import (
	"cmp"

	"drift-detector/infra"
	"drift-detector/report/code"
)

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
func (v *VM) addReference(c *Machine, rank int, reason code.Reason) {
	if v.Reference.Machine == nil || rank < v.Reference.rank {
		v.Reference = Reference{c, reason, rank}
	}
}

// FindReferences finds which machines the instances without one refer to, once all machines are
// decided on, and counts the orphans that may be among their owners' replicas.
func (ix *Index) FindReferences() {
	ix.Owners.countOrphans(ix.Machines)
	unmatched := indexKeys(ix.vms, func(v *VM) bool { return v.matchedBy == nil })
	// The first reference of a rank that reaches an instance is the one that counts, so
	// that a name of many instances is looked up once however many machines have it.
	named := [byName + 1]map[infra.Key]bool{}
	for rank := range named {
		named[rank] = map[infra.Key]bool{}
	}
	each := func(rank int, keys []infra.Key, add func(*VM)) {
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
	ix.unnamed = map[infra.OwnerID]*Machine{}
	done := map[**VM]bool{}
	for _, c := range ix.Machines {
		ix.noteUnnamed(c)
		ix.findKeyReferences(c, each, done)
		c.findNodeReferences(&unmatched)
		each(0, c.Hosts, func(v *VM) {
			v.CloneOf = cmp.Or(v.CloneOf, c)
		})
	}
}

// noteUnnamed records a machine whose instance may be any of its owner's: the backup
// has no id, and the name of the instance is missing or not understood.
func (ix *Index) noteUnnamed(c *Machine) {
	if c.Matched != nil || !c.Strong.IsZero() || !c.InfraMissing && c.Unnamed == "" {
		return
	}
	// Of an instance that nothing ties to an owner it may be any of the cluster's.
	ids := []infra.OwnerID{{Cluster: c.Of.Cluster}}
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
func (c *Machine) findNodeReferences(unmatched *postings) {
	for _, n := range c.nodes {
		if !n.Agrees() {
			continue
		}
		for _, v := range unmatched.with(n.Keys...) {
			v.addReference(c, byNode, code.NodeOfMachine)
		}
	}
}

// findKeyReferences adds references to the instances that have a key of the expected machine.
// Done are the lists of unreadable ones that were seen, each by its first place.
func (ix *Index) findKeyReferences(c *Machine, each func(rank int, keys []infra.Key, add func(*VM)), done map[**VM]bool) {
	if c.Matched == nil {
		each(byStrongKey, []infra.Key{c.Strong}, func(v *VM) { v.addReference(c, byStrongKey, reasonOf(c, code.FoundElsewhere)) })
	} else {
		for _, v := range c.byID {
			if v.matchedBy == nil && v.DuplicateOf == nil {
				v.DuplicateOf = c
			}
		}
	}
	each(byStrongKey, c.Doubted, func(v *VM) { v.addReference(c, byStrongKey, reasonOf(c, code.ConflictingIDs)) })
	for _, v := range c.byIdentity {
		v.addReference(c, bySecondKey, reasonOf(c, code.IdentityChanged))
	}
	if c.Matched == nil {
		each(byWitness, c.Witness, func(v *VM) { v.addReference(c, byWitness, reasonOf(c, code.SameName)) })
	}
	if c.Strong.IsZero() {
		each(byWeakKey, c.Weak, func(v *VM) { v.addReference(c, byWeakKey, reasonOf(c, code.SameName)) })
	}
	if unread := ix.unread(c); len(unread) > 0 && !done[&unread[0]] {
		if len(unread) > Many {
			done[&unread[0]] = true
		}
		for _, v := range unread {
			v.addReference(c, byBlindKey, code.InstanceUnreadable)
		}
	}
	each(byName, c.Names, func(v *VM) { v.addReference(c, byName, code.SameName) })
}

// reasonOf returns the reason of the machine's verdict where that verdict is about
// the instances that it reaches, else another.
func reasonOf(c *Machine, otherwise code.Reason) code.Reason {
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

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
	left := indexKeys(ix.vms, func(v *VM) bool { return v.matchedBy == nil && v.byStrong.any() })
	r := reaching{among: [2]*postings{&ix.unclaimed, &left}, done: map[**VM]bool{}}
	ix.unnamed = map[infra.OwnerID]*Machine{}
	for _, c := range ix.Machines {
		ix.noteUnnamed(c)
		ix.findKeyReferences(c, &r)
		c.findNodeReferences(&r)
		for _, v := range r.by(0, c.Hosts...) {
			v.CloneOf = cmp.Or(v.CloneOf, c)
		}
	}
}

// reaching finds the instances that machines refer to.
type reaching struct {
	among [2]*postings // of all that are matched with none, and of some that are
	// The first reference of a rank that reaches an instance is the one that counts, so
	// that a name of many instances is looked up once however many machines have it.
	named [byName + 1]map[infra.Key]bool
	done  map[**VM]bool // lists of unreadable ones that were seen, each by its first place
	found []*VM
}

// by returns the instances that have any of the keys, until it is called again.
func (r *reaching) by(rank int, keys ...infra.Key) []*VM {
	r.found = r.found[:0]
	for _, k := range keys {
		if r.named[rank][k] {
			continue
		}
		n := len(r.found)
		for _, p := range r.among {
			r.found = append(r.found, p.with(k)...)
		}
		if len(r.found) > n+1 {
			if r.named[rank] == nil {
				r.named[rank] = map[infra.Key]bool{}
			}
			r.named[rank][k] = true
		}
	}
	return r.found
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
func (c *Machine) findNodeReferences(r *reaching) {
	for _, n := range c.nodes {
		if !n.Agrees() {
			continue
		}
		for _, v := range r.by(byNode, n.Keys...) {
			v.addReference(c, byNode, code.NodeOfMachine)
		}
	}
}

// findKeyReferences adds references to the instances that have a key of the expected machine.
func (ix *Index) findKeyReferences(c *Machine, r *reaching) {
	refer := func(found []*VM, rank int, reason code.Reason) {
		for _, v := range found {
			v.addReference(c, rank, reason)
		}
	}
	if c.Matched == nil {
		refer(r.by(byStrongKey, c.Strong), byStrongKey, reasonOf(c, code.FoundElsewhere))
	} else {
		for _, v := range c.byID {
			if v.matchedBy == nil && v.DuplicateOf == nil {
				v.DuplicateOf = c
			}
		}
	}
	refer(r.by(byStrongKey, c.Doubted...), byStrongKey, reasonOf(c, code.ConflictingIDs))
	refer(c.byIdentity, bySecondKey, reasonOf(c, code.IdentityChanged))
	if c.Matched == nil {
		refer(r.by(byWitness, c.Witness...), byWitness, reasonOf(c, code.SameName))
	}
	if c.Strong.IsZero() {
		refer(r.by(byWeakKey, c.Weak...), byWeakKey, reasonOf(c, code.SameName))
	}
	if unread := ix.unread(c); len(unread) > 0 && !r.done[&unread[0]] {
		if len(unread) > Many {
			r.done[&unread[0]] = true
		}
		refer(unread, byBlindKey, code.InstanceUnreadable)
	}
	refer(r.by(byName, c.Names...), byName, code.SameName)
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

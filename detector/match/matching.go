package match

import (
	"slices"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// matchExpected records on every instance which expected machines find it by which keys, and
// on each of those which others conflict with it, before anything is decided.
func (ix *Index) matchExpected() {
	recorded := newKeyIndex(func(yield func(int32, infra.Key) bool) {
		for i, c := range ix.Machines {
			if !c.Strong.IsZero() && !yield(int32(i), c.Strong) {
				return
			}
		}
	})
	first := func(strong infra.Key) *Machine {
		for _, at := range recorded.find(strong) {
			if c := ix.Machines[at.number]; c.Strong == strong {
				return c
			}
		}
		return nil
	}
	by := map[infra.Key]finders{}        // weak keys
	shared := map[infra.Key][]*Machine{} // strong keys that several expected machines record
	for _, c := range ix.Machines {
		c.byIdentity = ix.withKeys(c.Identity)
		for _, v := range c.byIdentity {
			v.byIdentity.add(c)
		}
		if c.Strong.IsZero() {
			for _, k := range c.Weak {
				all := by[k]
				if all.many() {
					continue // what two find already is certain for neither
				}
				all.add(c)
				by[k] = all
				for _, v := range ix.withKeys(k) {
					v.byWeak.add(c)
				}
			}
			continue
		}
		if have := first(c.Strong); have == c {
			c.byID = ix.withKeys(c.Strong)
		} else {
			shared[c.Strong], c.byID = append(shared[c.Strong], c), have.byID
		}
		if len(shared[c.Strong]) <= 1 { // likewise
			for _, v := range c.byID {
				v.byStrong.add(c)
			}
		}
	}
	for k := range shared {
		shared[k] = append(shared[k], first(k))
		setConflicting(shared[k])
	}
	// Different strong keys may meet on one instance: it can be the machine of
	// one of the expected machines at most.
	for i := range ix.vms {
		if !ix.vms[i].byStrong.many() {
			continue
		}
		var meeting []infra.Key
		for _, k := range ix.vms[i].Keys {
			if first(k) != nil {
				meeting = append(meeting, k)
			}
		}
		if len(meeting) > 1 {
			var all []*Machine
			for _, k := range meeting {
				all = append(append(all, first(k)), shared[k]...)
			}
			setConflicting(all)
		}
	}
}

// setConflicting gives the expected machines one list of all of them.
func setConflicting(all []*Machine) {
	slices.SortFunc(all, compareSubjects)
	all = slices.Compact(all)
	for _, c := range all {
		if len(all) > len(c.Conflicting) {
			c.Conflicting = all
		}
	}
}

// Note keeps what was decided on a machine, and which of the instances that were found is its
// own; none of them where own is nil. It returns the target where that one was seen.
func (ix *Index) Note(f *MachineFacts, reason code.Reason, message string, own *infra.Instance) (scope string) {
	c := f.Machine
	c.reason, c.Message = reason, message
	if own == nil {
		return ""
	}
	for _, found := range [][]*VM{f.AtHome, f.Identity, f.Weak} {
		for _, one := range found {
			if own == one.Instance {
				c.Matched, one.matchedBy = one, c
				scope = ix.seenAt(one, c.Home.Target)
			}
		}
	}
	return scope
}

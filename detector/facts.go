package detector

import (
	"cmp"
	"slices"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// factsOfMachine are what decides about a machine.
type factsOfMachine struct {
	expected    *expectedMachine
	scope       *homeScope
	sharedLists *sharedLists
	// blind are unreadable instances that may be the machine: those at home that
	// have the strong key, when none of them can be read, or, when it was not found
	// at home, those that have a key which unreadable instances keep, or its name
	// anywhere.
	blind []*vm
	// home are the instances at home with the strong key: the living
	// ones, or, when none of them lives, the ended ones.
	home []*vm
	// single is the one of several at home that a second key singles out.
	single *vm
	// copies are instances elsewhere with the same strong key.
	copies       []*vm
	doubted      []*vm // have another id that the backup records for it
	elsewhere    []*vm
	identity     []*vm // have the second key that finds by itself
	weak         []*vm // at home, by the weaker keys of a machine without a strong one
	contested    bool  // the keys of another machine find the one in identity or weak, too
	reidentified bool
	node         *infra.Node   // alive, and says that it is this machine
	pool         code.Presence // whether the pool that it is a member of exists; empty when the backup lacks it
	dropped      bool          // the pool was read, and its instance is none of its members
	remade       []*vm         // have its second key, or its name in its place, when its own instance has ended
	searched     []*vm         // what its controller finds at home where it searches by name
	hidden       bool          // it finds nothing, and something at home that cannot be read may have the name
	// What has its name, and is nobody else's, when none that has its strong key
	// runs at home: anywhere, and in its own place under another id.
	namesakes, witness []*vm
	unlisted           string // why its cluster's Node list, which was asked for, was not read; empty: it was, or nobody expects an answer
	unasked            bool   // nobody asked for the Node list
	unclear            string // why the list does not say whether its Node is alive
	undated            string // name of its Node that reports, and not when, as all of the list
	unread             string // which objects of the backup that decide could not be read; empty: none
	unvisited          string // another place of its provider that was not listed: a narrowed run, or one that failed
}

// facts collects everything that decides about an expected machine, and is used for the
// next one again.
func (ix *index) facts(c *expectedMachine) *factsOfMachine {
	f := &ix.reused
	*f = factsOfMachine{expected: c, scope: c.home, sharedLists: &ix.sharedLists}
	f.home, f.copies = ix.home(c)
	if len(c.conflicting) == 0 {
		f.single = singledOut(c, f.home)
	}
	f.doubted = ix.withKeys(c.Doubted...)
	f.elsewhere = f.copies
	switch {
	case len(f.home) == 0:
		f.blind = ix.unread(c)
	case !slices.ContainsFunc(f.home, func(v *vm) bool { return !v.Unreadable }):
		// Its keys are what the infrastructure stored: whether the instance still
		// exists is not known.
		f.blind = f.home
	}
	f.reidentified = len(f.home) == 1 && ix.reidentified(c, f.home[0])
	ix.secondFacts(c, f)
	f.pool = ix.poolState[clusterKey{c.of.Cluster, c.Pool}]
	f.dropped = len(f.home) == 1 && ix.dropped(c, f.home[0])
	if len(f.home) == 1 && f.home[0].Gone {
		f.remade = ix.remade(c, f)
	}
	if f.searches() {
		f.searched = ix.find(&ix.byKey, "searched", &c.Home, c.Searches, func(v *vm) bool { return alive(v) && ix.atHome(c, v) })
		f.hidden = len(f.searched) == 0 && (len(f.blind) > 0 || ix.hides(c))
	}
	ix.nodeFacts(c, f)
	if !slices.ContainsFunc(f.home, runs) {
		ix.nameFacts(c, f)
	}
	f.unlisted, f.unasked = ix.unlisted(c.of.Cluster)
	f.unlisted = cmp.Or(f.unlisted, f.unclear)
	f.unvisited = ix.unvisited[c.Provider]
	f.unread = ix.kindsUnread[infra.Reading{Backup: c.of.Cluster.Backup, Provider: c.Provider}]
	return f
}

// secondFacts fills in what the keys beside the strong one find.
func (ix *index) secondFacts(c *expectedMachine, f *factsOfMachine) {
	atHome, away := ix.folderHome(c, keep(c.byIdentity, alive))
	if !c.Strong.IsZero() {
		f.identity = slices.Concat(atHome, away)
		return
	}
	f.identity = atHome
	if len(atHome) == 0 {
		f.elsewhere = away
	}
	f.weak = ix.find(&ix.byKey, "weak", &c.Home, c.Weak, func(v *vm) bool { return alive(v) && v.Exclude == "" && ix.atHome(c, v) })
	switch {
	case len(f.identity) == 1:
		v := f.identity[0]
		f.contested = v.byStrong.others(c) || v.byIdentity.others(c)
	case len(f.weak) == 1:
		v := f.weak[0]
		f.contested = v.byStrong.others(c) || v.byIdentity.others(c) || v.byWeak.others(c)
	}
}

// home parts the instances that have the machine's recorded id like folderHome.
func (ix *index) home(c *expectedMachine) (home, away []*vm) {
	if len(c.byID) <= many {
		return ix.folderHome(c, c.byID)
	}
	id := []infra.Key{c.Strong}
	home = ix.find(&ix.byKey, "home", &c.Home, id, func(v *vm) bool { return alive(v) && ix.atHome(c, v) })
	if len(home) == 0 {
		home = ix.find(&ix.byKey, "ended", &c.Home, id, func(v *vm) bool { return v.Gone && ix.atHome(c, v) })
	}
	return home, ix.find(&ix.byKey, "away", &c.Home, id, func(v *vm) bool { return alive(v) && !ix.atHome(c, v) })
}

// folderHome parts instances into those at the machine's home and the living ones
// elsewhere. Ended ones at home count only when none lives there.
func (ix *index) folderHome(c *expectedMachine, all []*vm) (home, away []*vm) {
	var ended []*vm
	for _, v := range all {
		switch {
		case !ix.atHome(c, v):
			if alive(v) {
				away = append(away, v)
			}
		case v.Gone:
			ended = append(ended, v)
		default:
			home = append(home, v)
		}
	}
	if len(home) == 0 {
		home = ended
	}
	return home, away
}

// remade returns the living instances that have the place of an ended one: they have the
// machine's second key, or its name in its place, and are nobody else's.
func (ix *index) remade(c *expectedMachine, f *factsOfMachine) []*vm {
	named := keep(ix.notOfOthers(c, c.Witness...), func(v *vm) bool {
		return alive(v) && v.Exclude == "" && ix.atHome(c, v) && !v.byIdentity.others(c)
	})
	return f.without(f.home[0], f.identity, named)
}

// searches reports whether the machine's controller has no id to go by, and searches
// by name. Nothing searches for a member of a pool.
func (f *factsOfMachine) searches() bool {
	c := f.expected
	known := c.Reads != "" || len(c.Searches) > 0
	return c.Provider != "" && c.machine != nil && !c.InfraMissing && known && !c.ReadsID && !f.inPool()
}

// inPool reports whether the machine is a member of a pool.
func (f *factsOfMachine) inPool() bool { return !f.expected.Pool.IsZero() }

// listedWithHome reports whether an instance elsewhere was listed together with the machine's home.
func (f *factsOfMachine) listedWithHome() bool {
	return slices.ContainsFunc(f.elsewhere, func(v *vm) bool { return v.seenIn(f.scope.listings) })
}

// running returns what runs in the place of an instance that does not.
func (f *factsOfMachine) running(found *vm) []*vm {
	return keep(f.without(found, f.home, f.copies, f.identity, f.namesakes, f.witness), runs)
}

// singledOut returns the only one of several candidates that has a second key of the
// machine, or nil.
func singledOut(c *expectedMachine, candidates []*vm) *vm {
	second := keep(candidates, func(v *vm) bool { return v.has(c.Identity) || v.has(c.Ref) })
	if len(second) != 1 {
		return nil
	}
	return second[0]
}

func alive(v *vm) bool { return !v.Gone }

func runs(v *vm) bool { return v.Runs() }

// has returns what HasKey does, but false for the zero Key.
func (v *vm) has(k infra.Key) bool { return !k.IsZero() && v.HasKey(k) }

// hasOther reports whether the instance has a key of k's kind, but not k.
func (v *vm) hasOther(k infra.Key) bool {
	return !k.IsZero() && !v.HasKey(k) && v.value(k.Kind) != ""
}

// value returns the value of the instance's first key of the kind, or empty.
func (v *vm) value(kind infra.KeyKind) string {
	for _, k := range v.Keys {
		if k.Kind == kind {
			return k.Value
		}
	}
	return ""
}

// keep returns the instances that the test accepts.
func keep(all []*vm, test func(*vm) bool) []*vm {
	var out []*vm
	for _, v := range all {
		if test(v) {
			out = append(out, v)
		}
	}
	return out
}

// settle records what was decided on a machine, and which of the instances that were found is its
// own; none of them where own is nil. It returns the target where that one was seen.
func (ix *index) settle(f *factsOfMachine, reason code.Reason, message string, own *infra.Instance) (scope string) {
	c := f.expected
	c.reason, c.message = reason, message
	if own == nil {
		return ""
	}
	for _, found := range [][]*vm{f.home, f.identity, f.weak} {
		for _, one := range found {
			if own == one.Instance {
				c.matched, one.matchedBy = one, c
				scope = ix.seenAt(one, c.Home.Target)
			}
		}
	}
	return scope
}

// allSettled finds what follows for the instances without a machine, once all machines are settled.
func (ix *index) allSettled() {
	ix.owners.countOrphans(ix.expected)
	ix.findReferences()
}

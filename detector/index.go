package detector

import (
	"cmp"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// index joins what the backup expects with what was listed. Once it is built, the
// decision tables only look at facts taken from it.
type index struct {
	snap     *backup.Snapshot
	expected []*expectedMachine // one per machine and per orphan, in order
	vms      []vm               // merged sightings, in order
	byKey    postings
	// unreadable and unclaimed are the postings of instances that cannot be read, and of
	// those that no expected machine finds by its strong key.
	unreadable, unclaimed postings
	scopes                scopes
	subject               code.Subject // of sentences
	nodes                 nodes
	owners                *owners
	hints                 hintIndex
	pools                 []poolSet
	unreadPools           map[infra.OwnerID]membership
	// poolState is whether each pool exists, by the key of its members.
	poolState map[clusterKey]code.Presence

	sharedLists sharedLists
	sharers     map[sharersOf]*sharers
	unnamed     map[infra.OwnerID]*expectedMachine // by owner: a machine for which the backup has neither id nor name of its instance
	ownTags     map[infra.Key]bool                 // ownership tags of the backup's clusters
	placed      map[backup.ClusterID]bool          // clusters whose machines have a place of their own
	ids         []*idCount                         // by listing
	second      *secondKeys                        // nil: not counted yet
	reused      factsOfMachine                     // by index.facts
	other       factsOfInstance                    // likewise, by index.instanceFacts
	names       []infra.Key                        // likewise, by index.nameFacts
	asked       askedLists
	proofs      map[backup.ClusterID][]*infra.VisibilityProof // of whole targets
	nodesAt     map[string][]*node                            // that prove a target

	inBackup    map[[2]string]bool          // clusters by namespace and name; nil: not looked yet
	kindsUnread map[infra.Reading]string    // see infra.Expected.Unread
	made        map[backup.ClusterID]string // see infra.Expected.Made
	unvisited   map[string]string           // by provider: the first target of machines that was not listed
}

// expectedMachine is one machine of the backup, or an orphan, with what became of it.
type expectedMachine struct {
	*infra.ExpectedMachine
	machine     *backup.Machine    // nil for an orphan
	of          *backup.Machine    // it, else what is known of the orphan's: its names, uid and cluster
	conflicting []*expectedMachine // those that record the same strong key, this one among them
	byID        []*vm              // the instances that have the strong key
	byIdentity  []*vm              // the instances that have the second key
	nodes       []*node            // those that say they are the machine, whether they agree or not
	home        *homeScope
	owners      []*owner // the nearest first
	// What was decided: the reason of the verdict, its message, and the machine's instance; nil when
	// none was found.
	reason  code.Reason
	message string
	matched *vm
}

// vm is one instance, merged from all listings that show it. The Instance is that of a
// listing, until it is changed.
type vm struct {
	*infra.Instance
	provider string
	scope    string  // id of a target that shows it
	seen     []int32 // listings that show it, ascending
	// Which expected machines find the instance by which of their keys. An instance that two
	// of them find is certain for neither.
	byStrong, byIdentity, byWeak finders
	matchedBy                    *expectedMachine
	member                       bool          // of a known pool
	place                        int32         // in index.vms
	mark                         uint32        // of the last lists that were joined and hold it, see without
	former                       *infra.Pool   // that recorded it as its member
	clusterLinks                 *clusterLinks // nil: not looked for yet, see index.clusterLinks
	reference                    reference
	duplicateOf, cloneOf         *expectedMachine
}

// shown returns a copy of the instance for a Result, in which no instance has its keys.
func (v *vm) shown() infra.Instance {
	one := *v.Instance
	one.Keys = nil
	return one
}

// change returns the instance to be changed, no more that of a listing.
func (v *vm) change() *infra.Instance {
	one := *v.Instance
	v.Instance = &one
	return &one
}

// finders are the first of the expected machines that find an instance, and whether there are
// more.
type finders struct {
	first *expectedMachine
	many  bool
}

func (s *finders) add(c *expectedMachine) {
	if s.first == nil {
		s.first = c
	} else if s.first != c {
		s.many = true
	}
}

// others reports whether an expected machine other than c is among them.
func (s *finders) others(c *expectedMachine) bool { return s.many || (s.first != nil && s.first != c) }

// newIndex joins the inputs.
func newIndex(s *backup.Snapshot, c infra.Expected, inv infra.Inventory, now time.Time) *index {
	listings := orderListings(inv.Listings)
	ix := &index{snap: s, subject: s.Subject(), expected: orderExpected(s, c.Machines), sharedLists: newSharedLists(), sharers: map[sharersOf]*sharers{}, kindsUnread: c.Unread, made: c.Made}
	ix.nodes = indexNodes(listings, now)
	ix.nodes.join(ix.expected)
	listings = addRelated(listings, &c, &ix.nodes)
	ix.vms = mergeSightings(listings)
	for i := range ix.vms {
		if v := &ix.vms[i]; !v.Host.IsZero() && !v.HasKey(v.Host) { // not among the keys in older inventories
			one := v.change()
			one.Keys = append(slices.Clip(one.Keys), one.Host)
		}
	}
	ix.byKey = indexKeys(ix.vms, func(*vm) bool { return true })
	ix.unreadable = indexKeys(ix.vms, func(v *vm) bool { return v.Unreadable })
	ix.exclude(c.Exclude)
	ix.scopes = newScopes(listings, ix.subject)
	ix.matchExpected()
	ix.unclaimed = indexKeys(ix.vms, func(v *vm) bool { return v.byStrong.first == nil })
	ix.ids = ix.countIDs(c.Proofs)
	ix.indexProofs(c.Proofs)
	ix.judgeHomes(&c)
	ix.owners = newOwners(s, ix.expected, &c)
	ix.asked, ix.unvisited = ix.newAskedLists(), ix.findUnvisited()
	ix.hints = newTieIndex(c, ix.expected, listings)
	ix.findShared(c.OwnershipHints)
	ix.placed = map[backup.ClusterID]bool{}
	for i := range c.OwnershipHints {
		if h := &c.OwnershipHints[i]; h.Grade == infra.LocationOnly && h.Owner != nil {
			ix.placed[h.Owner.Cluster] = true
		}
	}
	ix.ownTags = make(map[infra.Key]bool, len(c.OwnerTags))
	for _, k := range c.OwnerTags {
		ix.ownTags[k] = true
	}
	ix.pools = ix.newPools(c.Pools)
	ix.findUnread(c.UnreadPools)
	for i := range ix.vms {
		ix.vms[i].scope = ix.seenAt(&ix.vms[i], "")
	}
	ix.doubtLists()
	return ix
}

// exclude marks the instances that a provider knows as nobody's machine, with
// the first cause in order. That of a machine stays the machine's.
func (ix *index) exclude(all []infra.Exclusion) {
	all = slices.Clone(all)
	sorting.By(all, func(a, b infra.Exclusion) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), compareKeys(a.Key, b.Key))
	})
	for _, x := range all {
		for _, v := range ix.withKeys(x.Key) {
			if v.Exclude == "" {
				v.change().Exclude = x.Cause
			}
		}
	}
}

// orderExpected gives every machine exactly one expected machine and every orphan its own,
// in an order that does not depend on that of the inputs. One that no provider expects is of
// a kind that none supports.
func orderExpected(s *backup.Snapshot, in []infra.ExpectedMachine) []*expectedMachine {
	byMachine := make([]*infra.ExpectedMachine, len(s.Machines))
	all := make([]expectedMachine, 0, len(s.Machines))
	for i := range in {
		c := &in[i]
		switch {
		case c.Machine >= 0 && c.Machine < len(s.Machines):
			if have := byMachine[c.Machine]; have == nil || compareExpected(c, have) < 0 {
				byMachine[c.Machine] = c
			}
		case c.Orphan != nil:
			o := c.Orphan
			all = append(all, expectedMachine{ExpectedMachine: c, of: &backup.Machine{
				Meta: backup.Meta{Namespace: o.Namespace, Name: o.Name, UID: o.UID}, Cluster: o.Cluster,
				Infrastructure: backup.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
			}})
		}
	}
	for i, c := range byMachine {
		m := &s.Machines[i]
		if c == nil {
			c = &infra.ExpectedMachine{Machine: i, Source: m.Infrastructure.Kind}
		}
		all = append(all, expectedMachine{ExpectedMachine: c, machine: m, of: m})
	}
	out := make([]*expectedMachine, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortStableFunc(out, compareSubjects)
	return out
}

func compareSubjects(a, b *expectedMachine) int {
	if c := compareClusters(a.of.Cluster, b.of.Cluster); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(a.of.Namespace, b.of.Namespace), cmp.Compare(a.of.Name, b.of.Name)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.of.UID, b.of.UID), compareExpected(a.ExpectedMachine, b.ExpectedMachine))
}

// compareExpected puts the expected machine of a provider before that of none.
func compareExpected(a, b *infra.ExpectedMachine) int {
	return cmp.Or(compareBool(a.Provider == "", b.Provider == ""), cmp.Compare(a.Provider, b.Provider),
		compareKeys(a.Strong, b.Strong), cmp.Compare(a.Home.Target, b.Home.Target))
}

func compareClusters(a, b backup.ClusterID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Backup, b.Backup))
}

// matchExpected records on every instance which expected machines find it by which keys, and
// on each of those which others conflict with it, before anything is decided.
func (ix *index) matchExpected() {
	first := make(map[infra.Key]*expectedMachine, len(ix.expected))
	by := map[infra.Key]finders{}                // weak keys
	shared := map[infra.Key][]*expectedMachine{} // strong keys that several expected machines record
	for _, c := range ix.expected {
		c.byIdentity = ix.withKeys(c.Identity)
		for _, v := range c.byIdentity {
			v.byIdentity.add(c)
		}
		if c.Strong.IsZero() {
			for _, k := range c.Weak {
				if by[k].many {
					continue // what two find already is certain for neither
				}
				all := by[k]
				all.add(c)
				by[k] = all
				for _, v := range ix.withKeys(k) {
					v.byWeak.add(c)
				}
			}
			continue
		}
		if have := first[c.Strong]; have == nil {
			first[c.Strong], c.byID = c, ix.withKeys(c.Strong)
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
		shared[k] = append(shared[k], first[k])
		setConflicting(shared[k])
	}
	// Different strong keys may meet on one instance: it can be the machine of
	// one of the expected machines at most.
	for i := range ix.vms {
		if !ix.vms[i].byStrong.many {
			continue
		}
		var meeting []infra.Key
		for _, k := range ix.vms[i].Keys {
			if first[k] != nil {
				meeting = append(meeting, k)
			}
		}
		if len(meeting) > 1 {
			var all []*expectedMachine
			for _, k := range meeting {
				all = append(append(all, first[k]), shared[k]...)
			}
			setConflicting(all)
		}
	}
}

// setConflicting gives the expected machines one list of all of them.
func setConflicting(all []*expectedMachine) {
	slices.SortFunc(all, compareSubjects)
	all = slices.Compact(all)
	for _, c := range all {
		if len(all) > len(c.conflicting) {
			c.conflicting = all
		}
	}
}

// withKeys returns the instances with any of the keys, in order, each once.
func (ix *index) withKeys(keys ...infra.Key) []*vm { return ix.byKey.with(keys...) }

// notOfOthers returns the instances with any of the keys that no expected machine but c
// finds by its strong key.
func (ix *index) notOfOthers(c *expectedMachine, keys ...infra.Key) []*vm {
	found := ix.unclaimed.with(keys...)
	for _, v := range c.byID {
		if !v.byStrong.others(c) && slices.ContainsFunc(keys, v.HasKey) {
			found = append(found, v)
		}
	}
	return inOrder(found)
}

// inOrder puts instances in order, each once.
func inOrder(found []*vm) []*vm {
	if len(found) > 1 {
		slices.SortFunc(found, func(a, b *vm) int { return int(a.place - b.place) })
		found = slices.Compact(found)
	}
	return found
}

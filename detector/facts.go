package detector

import (
	"cmp"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// estate is the join: what the backup expects beside what was listed. Once it
// is built, the decision tables only look at facts taken from it.
type estate struct {
	snap   *backup.Snapshot
	claims []*claim // one per machine and per orphan, in order
	vms    []vm     // merged sightings, in order
	byKey  postings
	scopes scopes
	nodes  nodes
	owners *owners
	ties   tieIndex
	pools  []poolSet
	// poolState is whether each pool exists, by the key of its members.
	poolState map[clusterKey]Presence

	sharers map[sharersOf]*sharers
	unnamed map[infra.OwnerID]*claim // by owner: a machine of which the backup says neither id nor name of its instance
	ownTags map[infra.Key]bool       // ownership tags of the backup's clusters
	ids     map[server]idCount
	second  secondKeys
	asked   nodeLists
	proofs  map[backup.ClusterID][]*infra.Proof // of whole targets
	nodesAt map[string][]*node                  // that prove a target

	unvisited map[string]string // by provider: the first target of machines that was not listed
}

// claim is one machine of the backup, or an orphan, with what became of it.
type claim struct {
	*infra.Claim
	machine              *backup.Machine // nil for an orphan
	cluster              backup.ClusterID
	namespace, name, uid string
	rivals               []*claim // those that record the same strong key, this one among them
	verdict              Verdict
	owners               []infra.OwnerID // the nearest first
	won                  *vm             // the instance that is this machine's; nil when none is
}

// vm is one instance, whoever saw it.
type vm struct {
	infra.Instance
	provider string
	scope    string  // id of a target that shows it
	seen     []int32 // listings that show it, ascending
	// Which claims reach the instance by which of their keys. An instance that
	// two claims want belongs to neither without a doubt.
	byStrong, byIdentity, byWeak suitors
	winner                       *claim
	member                       bool        // of a known pool
	former                       *infra.Pool // that recorded it as its member
	mention                      mention
	duplicateOf, cloneOf         *claim
}

// suitors remembers the first of the claims that want an instance, and whether
// there are more.
type suitors struct {
	first *claim
	many  bool
}

func (s *suitors) add(c *claim) {
	if s.first == nil {
		s.first = c
	} else if s.first != c {
		s.many = true
	}
}

// others says whether a claim other than c is among the suitors.
func (s *suitors) others(c *claim) bool { return s.many || (s.first != nil && s.first != c) }

// newEstate joins the inputs.
func newEstate(s *backup.Snapshot, c infra.Claims, inv infra.Inventory, now time.Time) *estate {
	listings := orderListings(inv.Listings)
	e := &estate{snap: s, claims: orderClaims(s, c.Machines), sharers: map[sharersOf]*sharers{}}
	e.nodes = indexNodes(listings, now)
	listings = callUp(listings, &c, &e.nodes)
	e.vms = mergeSightings(listings)
	for i := range e.vms {
		if v := &e.vms[i]; !v.Host.IsZero() && !v.Bears(v.Host) { // not among the keys in older inventories
			v.Keys = append(slices.Clip(v.Keys), v.Host)
		}
	}
	e.byKey = indexKeys(e.vms)
	e.exclude(c.Exclude)
	e.scopes = newScopes(listings)
	e.court()
	e.ids = e.countIDs(c.Proofs)
	e.second = e.countSecondKeys()
	e.indexProofs(c.Proofs)
	e.judgeHomes(&c)
	e.owners = newOwners(s, e.claims, c.Pools)
	e.asked, e.unvisited = e.newNodeLists(), e.findUnvisited()
	e.ties = newTieIndex(c, e.claims, listings)
	e.findShared(c.Ties)
	e.ownTags = make(map[infra.Key]bool, len(c.OwnerTags))
	for _, k := range c.OwnerTags {
		e.ownTags[k] = true
	}
	e.pools = e.newPools(c.Pools)
	for i := range e.vms {
		e.vms[i].scope = e.seenAt(&e.vms[i], "")
	}
	return e
}

// exclude marks the instances that a provider knows as nobody's machine, with
// the first cause in order. That of a machine stays the machine's.
func (e *estate) exclude(all []infra.Exclusion) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b infra.Exclusion) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), compareKeys(a.Key, b.Key))
	})
	for _, x := range all {
		for _, v := range e.bearing(x.Key) {
			v.Exclude = cmp.Or(v.Exclude, x.Cause)
		}
	}
}

// orderClaims gives every machine exactly one claim and every orphan its own,
// in an order that does not depend on that of the inputs. A machine without a
// claim is one that no provider supports.
func orderClaims(s *backup.Snapshot, in []infra.Claim) []*claim {
	byMachine := make([]*infra.Claim, len(s.Machines))
	out := make([]*claim, 0, len(s.Machines))
	for i := range in {
		c := &in[i]
		switch {
		case c.Machine >= 0 && c.Machine < len(s.Machines):
			if have := byMachine[c.Machine]; have == nil || compareClaims(c, have) < 0 {
				byMachine[c.Machine] = c
			}
		case c.Orphan != nil:
			o := c.Orphan
			out = append(out, &claim{Claim: c, cluster: o.Cluster, namespace: o.Namespace, name: o.Name, uid: o.UID})
		}
	}
	for i, c := range byMachine {
		m := &s.Machines[i]
		if c == nil {
			c = &infra.Claim{Machine: i, Source: m.Infrastructure.Kind}
		}
		out = append(out, &claim{Claim: c, machine: m, cluster: m.Cluster, namespace: m.Namespace, name: m.Name, uid: m.UID})
	}
	slices.SortStableFunc(out, compareSubjects)
	return out
}

func compareSubjects(a, b *claim) int {
	return cmp.Or(compareClusters(a.cluster, b.cluster), cmp.Compare(a.namespace, b.namespace),
		cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid), compareClaims(a.Claim, b.Claim))
}

// compareClaims puts the claim of a provider before that of none.
func compareClaims(a, b *infra.Claim) int {
	return cmp.Or(compareBool(a.Provider == "", b.Provider == ""), cmp.Compare(a.Provider, b.Provider),
		compareKeys(a.Strong, b.Strong), cmp.Compare(a.Home.Target, b.Home.Target))
}

func compareClusters(a, b backup.ClusterID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Backup, b.Backup))
}

// court lets every claim find the instances that its keys lead to, so that
// contests are known before anything is decided.
func (e *estate) court() {
	first := make(map[infra.Key]*claim, len(e.claims))
	shared := map[infra.Key][]*claim{} // strong keys that several claims record
	for _, c := range e.claims {
		for _, v := range e.bearing(c.Identity) {
			v.byIdentity.add(c)
		}
		if c.Strong.IsZero() {
			for _, v := range e.bearing(c.Weak...) {
				v.byWeak.add(c)
			}
			continue
		}
		for _, v := range e.bearing(c.Strong) {
			v.byStrong.add(c)
		}
		if have := first[c.Strong]; have == nil {
			first[c.Strong] = c
		} else {
			shared[c.Strong] = append(shared[c.Strong], c)
		}
	}
	for k := range shared {
		shared[k] = append(shared[k], first[k])
		makeRivals(shared[k])
	}
	// Different strong keys may meet on one instance: it can be the machine of
	// one of the claims at most.
	for i := range e.vms {
		if !e.vms[i].byStrong.many {
			continue
		}
		var all []*claim
		meeting := 0
		for _, k := range e.vms[i].Keys {
			if c := first[k]; c != nil {
				meeting++
				all = append(append(all, c), shared[k]...)
			}
		}
		if meeting > 1 {
			makeRivals(all)
		}
	}
}

// makeRivals lets claims share one list of all of them.
func makeRivals(all []*claim) {
	slices.SortFunc(all, compareSubjects)
	all = slices.Compact(all)
	for _, c := range all {
		if len(all) > len(c.rivals) {
			c.rivals = all
		}
	}
}

// bearing lists the instances that bear any of the keys, in order, each once.
func (e *estate) bearing(keys ...infra.Key) []*vm {
	var found []int32
	for _, k := range keys {
		found = e.byKey.appendTo(found, k)
	}
	if len(found) > 1 {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	if len(found) == 0 {
		return nil
	}
	out := make([]*vm, len(found))
	for i, n := range found {
		out[i] = &e.vms[n]
	}
	return out
}

// machineFacts is all that a row of the table for machines may look at.
type machineFacts struct {
	claim *claim
	scope *homeScope
	// blind are unreadable instances that may be the machine: those at home that
	// bear the strong key, when none of them can be read, or, when it was not found
	// at home, those that have a key which unreadable instances keep, or its name
	// anywhere.
	blind []*vm
	// home are the instances at home that bear the strong key: the living
	// ones, or, when none of them lives, the ended ones.
	home []*vm
	// single is the one of several at home that a second key singles out.
	single *vm
	// copies says that instances elsewhere bear the strong key too.
	copies       []*vm
	doubted      []*vm // bear another id that the backup records for it
	elsewhere    []*vm
	identity     []*vm // bear the second key that finds by itself
	weak         []*vm // at home, by the weaker keys of a machine without a strong one
	contested    bool  // another machine wants the one in identity or weak
	reidentified bool
	node         *infra.Node // alive, and says that it is this machine
	pool         Presence    // whether the pool that it is a member of exists; empty when the backup lacks it
	dropped      bool        // the pool was read, and its instance is none of its members
	remade       []*vm       // have its second key, or its name in its place, when its own instance has ended
	searched     []*vm       // what its controller finds at home where it searches by name
	// What has its name, and is nobody else's, when none that has its strong key
	// runs at home: anywhere, and in its own place under another id.
	namesakes, witness []*vm
	unlisted           string // why its cluster's Node list, which was asked for, was not read; empty: it was, or nobody expects an answer
	unasked            bool   // nobody asked for the Node list
	unvisited          string // another place of its provider that was not listed: a narrowed run, or one that failed
}

// facts takes everything that decides about a claim out of the estate.
func (e *estate) facts(c *claim) *machineFacts {
	f := &machineFacts{claim: c, scope: e.scopes.home(homeOf(c))}
	f.home, f.copies = e.partHome(c, e.bearing(c.Strong))
	f.single = singledOut(c, f.home)
	f.doubted = e.bearing(c.Doubted...)
	f.elsewhere = f.copies
	switch {
	case len(f.home) == 0:
		f.blind = e.unread(c)
	case !slices.ContainsFunc(f.home, func(v *vm) bool { return !v.Unreadable }):
		// Its keys are what the infrastructure remembers of it; whether there is
		// still a machine behind them, nobody can say.
		f.blind = f.home
	}
	f.reidentified = len(f.home) == 1 && e.second.reidentified(c, f.home[0])
	e.secondFacts(c, f)
	f.pool = e.poolState[clusterKey{c.cluster, c.Pool}]
	f.dropped = len(f.home) == 1 && e.dropped(c, f.home[0])
	if len(f.home) == 1 && f.home[0].Gone {
		f.remade = e.remade(c, f)
	}
	if f.searches() {
		f.searched = keep(e.bearing(c.Searches...), func(v *vm) bool { return alive(v) && e.atHome(c, v) })
	}
	f.node = e.nodes.alive(c)
	if !slices.ContainsFunc(f.home, runs) {
		e.nameFacts(c, f)
	}
	f.unlisted, f.unasked = e.unlisted(c.cluster)
	f.unvisited = e.unvisited[c.Provider]
	return f
}

// secondFacts fills in what the keys beside the strong one find.
func (e *estate) secondFacts(c *claim, f *machineFacts) {
	atHome, away := e.partHome(c, keep(e.bearing(c.Identity), alive))
	if !c.Strong.IsZero() {
		f.identity = slices.Concat(atHome, away)
		return
	}
	f.identity = atHome
	if len(atHome) == 0 {
		f.elsewhere = away
	}
	f.weak = keep(e.bearing(c.Weak...), func(v *vm) bool { return alive(v) && v.Exclude == "" && e.atHome(c, v) })
	switch {
	case len(f.identity) == 1:
		v := f.identity[0]
		f.contested = v.byStrong.others(c) || v.byIdentity.others(c)
	case len(f.weak) == 1:
		v := f.weak[0]
		f.contested = v.byStrong.others(c) || v.byIdentity.others(c) || v.byWeak.others(c)
	}
}

// partHome parts instances into those at the claim's home and the living ones
// elsewhere. Ended ones at home count only when none lives there.
func (e *estate) partHome(c *claim, all []*vm) (home, away []*vm) {
	var ended []*vm
	for _, v := range all {
		switch {
		case !e.atHome(c, v):
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

// singledOut returns the only one of several candidates that bears a second
// key of the claim.
func singledOut(c *claim, candidates []*vm) *vm {
	second := keep(candidates, func(v *vm) bool { return bears(v, c.Identity) || bears(v, c.Ref) })
	if len(second) != 1 {
		return nil
	}
	return second[0]
}

func alive(v *vm) bool { return !v.Gone }

func runs(v *vm) bool { return v.Runs() }

// bears is Instance.Bears for keys that may be zero, which nobody bears.
func bears(v *vm, k infra.Key) bool { return !k.IsZero() && v.Bears(k) }

// bearsOther says that the instance bears a key of k's kind, but not k.
func bearsOther(v *vm, k infra.Key) bool {
	return !k.IsZero() && !v.Bears(k) && valueOf(v, k.Kind) != ""
}

// valueOf is the value of the instance's first key of the kind, or empty.
func valueOf(v *vm, kind string) string {
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

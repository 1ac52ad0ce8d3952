package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// clusterScope is one cluster's view of one target, or of a part of it.
type clusterScope struct {
	cluster backup.ClusterID
	target  string
	folder  string // infra.Home.Part
}

func homeOf(c *expectedMachine) clusterScope {
	return clusterScope{c.of.Cluster, c.Home.Target, c.Home.Folder}
}

// homeScope is what is known of a place: whether absence can be concluded there, and
// why not.
type homeScope struct {
	listings     []int32 // those that cover the target
	complete     bool
	fault        *infra.Fault // why not
	contradicted bool         // more names than ids show that it is another place
	stated       string       // the operator's statement that makes a proof of it hold
	unasked      *infra.Fault // a pool was not looked for there
	name         string       // for people
	count        int          // instances seen there
	decides      bool         // on machines or pools, so that it must be a complete scope
}

// scopes answers, per cluster and target, whether the target was listed to the
// end and is proven to be the right place.
type scopes struct {
	subject  code.Subject
	listings []infra.Listing
	byTarget map[string][]int32
	showing  map[infra.Key][]int32 // listings that found a probe
	asking   map[infra.Key][]int32 // listings that looked for it
	several  map[infra.Key][]int32 // listings that found more than one thing for it
	sizes    map[infra.Key][]poolSize
	homes    map[clusterScope]*homeScope
}

// poolSize is what a listing says that a pool is set to.
type poolSize struct {
	listing int32
	desired int64
	living  *int64
}

// newScopes records which listings cover which target.
func newScopes(listings []infra.Listing, subject code.Subject) scopes {
	s := scopes{subject: subject, listings: listings, byTarget: map[string][]int32{}, showing: map[infra.Key][]int32{}, asking: map[infra.Key][]int32{}, several: map[infra.Key][]int32{}, sizes: map[infra.Key][]poolSize{}, homes: map[clusterScope]*homeScope{}}
	for i := range listings {
		if isNodeList(&listings[i]) {
			continue
		}
		for _, id := range listings[i].IDs {
			if at := s.byTarget[id]; !slices.Contains(at, int32(i)) {
				s.byTarget[id] = append(at, int32(i))
			}
		}
		for _, k := range listings[i].ProbesFound {
			s.showing[k] = append(s.showing[k], int32(i))
			s.asking[k] = append(s.asking[k], int32(i))
		}
		for _, k := range listings[i].Ambiguous {
			s.several[k] = append(s.several[k], int32(i))
		}
		for _, k := range listings[i].Asked {
			s.asking[k] = append(s.asking[k], int32(i))
		}
		for _, one := range listings[i].PoolSizes {
			s.sizes[one.Probe] = append(s.sizes[one.Probe], poolSize{int32(i), one.Desired, one.Living})
		}
	}
	return s
}

// judgeHomes judges every place where machines, pools or resources are looked for.
func (ix *index) judgeHomes(c *infra.Expected) {
	proofs := proofsOf(c.Proofs)
	judge := func(at clusterScope, decides bool) *homeScope {
		h := ix.scopes.homes[at]
		if h == nil {
			h = ix.judge(at, proofs(at))
			ix.scopes.homes[at] = h
		}
		h.decides = h.decides || decides
		return h
	}
	var last *expectedMachine // most machines have the home of the one before
	for _, c := range ix.expected {
		switch {
		case c.Provider == "":
		case last != nil && homeOf(c) == homeOf(last):
			c.home = last.home
		default:
			c.home, last = judge(homeOf(c), true), c
		}
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		judge(clusterScope{p.Cluster, p.Target, ""}, true)
		ix.scopes.noteUnasked(p)
	}
	for i := range c.Resources {
		judge(clusterScope{c.Resources[i].Cluster, c.Resources[i].Target, ""}, false)
	}
	for _, c := range ix.expected {
		if c.home == nil {
			c.home = ix.scopes.home(homeOf(c))
		}
	}
}

// proofsOf returns the proofs that count at a place, none for a part that has none of its
// own. For a target as a whole those of its parts count, too.
func proofsOf(all []infra.VisibilityProof) func(clusterScope) []*infra.VisibilityProof {
	of, whole := map[clusterScope][]*infra.VisibilityProof{}, map[clusterScope][]*infra.VisibilityProof{}
	for i := range all {
		p := &all[i]
		of[clusterScope{p.Cluster, p.Target, p.Folder}] = append(of[clusterScope{p.Cluster, p.Target, p.Folder}], p)
		whole[clusterScope{p.Cluster, p.Target, ""}] = append(whole[clusterScope{p.Cluster, p.Target, ""}], p)
	}
	return func(at clusterScope) []*infra.VisibilityProof {
		if at.folder == "" {
			return whole[at]
		}
		if len(of[at]) == 0 {
			return nil
		}
		return slices.Concat(of[clusterScope{at.cluster, at.target, ""}], of[at])
	}
}

// findUnvisited names, by provider, the first place of any machine of the backup that
// nobody listed: what is not found at home may have been moved there.
func (ix *index) findUnvisited() map[string]string {
	out := map[string]string{}
	for _, c := range ix.expected {
		if at := c.Home.Target; c.Provider != "" && at != "" && len(ix.scopes.byTarget[at]) == 0 && (out[c.Provider] == "" || at < out[c.Provider]) {
			out[c.Provider] = at
		}
	}
	return out
}

// isNodeList reports whether a listing is evidence from a workload cluster, not a
// scope.
func isNodeList(l *infra.Listing) bool { return l.NodeState != "" }

// home returns the judgement on a place. A place that nobody listed is not complete.
func (s *scopes) home(at clusterScope) *homeScope {
	if h := s.homes[at]; h != nil {
		return h
	}
	return &homeScope{fault: s.notListed(at.target), name: at.target}
}

func (s *scopes) notListed(target string) *infra.Fault {
	if target == "" {
		return &infra.Fault{Reason: code.NotListed, Message: s.subject.The() + " does not say where the machine's controller looks"}
	}
	return &infra.Fault{
		Reason:  code.NotListed,
		Message: fmt.Sprintf("%q was not listed", target),
		Hint:    s.listAgain(),
	}
}

// judge decides whether absence can be concluded at a place: every listing of
// it is complete, and its proofs hold.
func (ix *index) judge(at clusterScope, proofs []*infra.VisibilityProof) *homeScope {
	h := &homeScope{listings: ix.scopes.byTarget[at.target], name: at.target}
	if len(h.listings) == 0 {
		h.fault = ix.scopes.notListed(at.target)
		return h
	}
	for _, i := range h.listings {
		l := &ix.scopes.listings[i]
		h.name = cmp.Or(l.Endpoint, h.name)
		h.count += l.Count()
		fault := ix.tooOld(l, at.cluster)
		if l.State != code.ScopeComplete {
			fault = faultOf(l)
		}
		if fault != nil && (h.fault == nil || compareFaults(fault, h.fault) < 0) {
			h.fault = fault
		}
	}
	contradicted := ix.contradicted(at, h.listings)
	if h.contradicted = contradicted != nil; h.fault == nil {
		h.fault = contradicted
	}
	if h.fault == nil {
		h.fault = ix.unproven(at, h, proofs)
	}
	h.complete = h.fault == nil
	return h
}

// tooOld returns the fault of a listing that was made before the backup was written:
// what the backup records may have come into being since, and what was listed
// may have gone.
func (ix *index) tooOld(l *infra.Listing, id backup.ClusterID) *infra.Fault {
	if l.ListedAt.IsZero() || id.Backup < 0 || id.Backup >= len(ix.snap.Backups) {
		return nil
	}
	written := ix.snap.Backups[id.Backup].WrittenTo
	if !l.ListedAt.Before(written) {
		return nil
	}
	return &infra.Fault{
		Reason:  code.ListedBeforeBackup,
		Message: fmt.Sprintf("%s was listed at %s, before %s at %s", l.Endpoint, l.ListedAt.UTC().Format(time.RFC3339), ix.subject.Written(), written.UTC().Format(time.RFC3339)),
		Hint:    "list again; if this machine's clock is slow, set it first",
	}
}

func compareFaults(a, b *infra.Fault) int {
	return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
}

// faultOf returns why a listing is not complete; the listing may not give a fault.
func faultOf(l *infra.Listing) *infra.Fault {
	if l.Fault != nil {
		return l.Fault
	}
	return &infra.Fault{Reason: code.ListingIncomplete, Message: fmt.Sprintf("the listing of %s did not come to its end", l.Endpoint)}
}

// unproven returns the fault of a complete listing that is not proven to show
// the place where the cluster's machines are. No proof at all proves nothing.
func (ix *index) unproven(at clusterScope, h *homeScope, proofs []*infra.VisibilityProof) *infra.Fault {
	hint := "check that the account may see the cluster's folders and machines, and that the address leads to the right server"
	failed := len(proofs) == 0
	for _, p := range proofs {
		h.stated = cmp.Or(h.stated, p.Stated)
		if !ix.holds(p, h.listings) {
			failed = true
			hint = cmp.Or(p.Hint, hint)
		}
	}
	if !failed {
		return nil
	}
	return &infra.Fault{
		Reason:  code.VisibilityUnproven,
		Message: unprovenMessage(h.name, []string{at.cluster.Namespace + "/" + at.cluster.Name}),
		Hint:    hint,
	}
}

// shows reports whether any of the listings found a probe.
func (s *scopes) shows(listings []int32, k infra.Key) bool {
	return slices.ContainsFunc(s.showing[k], func(i int32) bool { return slices.Contains(listings, i) })
}

// shows reports whether what a key means was found at a target.
func (ix *index) shows(target string, k infra.Key) bool {
	return ix.scopes.shows(ix.scopes.byTarget[target], k)
}

// seenIn reports whether any of the listings shows the instance.
func (v *vm) seenIn(listings []int32) bool {
	return slices.ContainsFunc(v.seen, func(i int32) bool { return slices.Contains(listings, i) })
}

// atHome reports whether the instance is where the machine's controller looks.
func (ix *index) atHome(c *expectedMachine, v *vm) bool {
	return v.seenIn(ix.scopes.byTarget[c.Home.Target]) && (c.Home.Within.IsZero() || v.HasKey(c.Home.Within))
}

// mayBeAtHome reports what atHome does, for an instance whose missing keys prove nothing.
func (ix *index) mayBeAtHome(c *expectedMachine, v *vm) bool {
	return ix.atHome(c, v) ||
		v.seenIn(ix.scopes.byTarget[c.Home.Target]) && v.value(c.Home.Within.Kind) == ""
}

// unread returns the unreadable instances that may be the machine: at home by the keys
// which such an instance keeps, and anywhere by its name, as it may have been moved.
func (ix *index) unread(c *expectedMachine) []*vm {
	if len(ix.unreadable.of) == 0 {
		return nil
	}
	what := "unread, by name from " + strconv.Itoa(len(c.Blind))
	return ix.find(&ix.unreadable, what, &c.Home, slices.Concat(c.Blind, c.Names), func(v *vm) bool {
		return ix.mayBeAtHome(c, v) || slices.ContainsFunc(c.Names, v.HasKey)
	})
}

// hides reports whether an instance at home that cannot be read may have the name that the
// machine's controller searches for. One that the backup records for another machine has
// that one's name.
func (ix *index) hides(c *expectedMachine) bool {
	return ix.unreadable.has(func(v *vm) bool { return alive(v) && ix.atHome(c, v) && !v.byStrong.others(c) }, c.Hidden...)
}

// seenAt names the target where an instance was seen, the machine's own when it
// is one of several.
func (ix *index) seenAt(v *vm, prefer string) string {
	first := ""
	for _, i := range v.seen {
		ids := ix.scopes.listings[i].IDs // in order
		if _, has := slices.BinarySearch(ids, prefer); has {
			return prefer
		}
		if len(ids) > 0 && (first == "" || ids[0] < first) {
			first = ids[0]
		}
	}
	return first
}

package detector

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/detector/match"
	"drift-detector/report"
	"drift-detector/report/code"
)

// In two worlds of three a few hints and instances are many: what is found is shared then.
func TestRandomWorldsAgreeWithTheOracle(t *testing.T) {
	defer func(was int) { match.Many = was }(match.Many)
	statuses, reasons := map[code.Status]int{}, map[code.Reason]int{}
	for seed := range uint64(4000) {
		match.Many = []int{16, 1, 0}[seed%3]
		s := randomWorld(seed)
		r := s.detect()
		want, excluded, outOfScope := counted(askOracle(&s.snap, s.expected, s.inventory()))
		got := describe(r)
		if !slices.Equal(got, want) {
			t.Fatalf("world %d:\nonly Detect says\n%s\nonly the oracle says\n%s", seed, difference(got, want), difference(want, got))
		}
		if !reflect.DeepEqual(r.Excluded, excluded) || r.OutOfScope != outOfScope {
			t.Fatalf("world %d: excluded %v and %d out of scope, the oracle says %v and %d", seed, r.Excluded, r.OutOfScope, excluded, outOfScope)
		}
		for _, c := range r.Clusters {
			for _, v := range verdictsOf(c) {
				statuses[v.Status]++
				reasons[v.Reason]++
			}
		}
		for _, u := range r.Unattributed {
			reasons[u.Reason]++
		}
	}
	for _, reason := range everyReason {
		if reasons[reason] == 0 {
			t.Errorf("no random world led to %s: the worlds are too tame", reason)
		}
	}
	t.Logf("%v %v", statuses, reasons)
}

// everyReason is all reason codes of machines and instances.
var everyReason = []code.Reason{
	code.UnsupportedProvider, code.ClaimedTwice, code.ConflictingIDs, code.InstanceUnreadable, code.AmbiguousMatch, code.InfraObjectMissing, code.InstanceTerminated, code.ScopeIncomplete,
	code.FoundElsewhere, code.IdentityChanged, code.NodeAlive, code.NotProvisioned, code.InstanceNotFound, code.NodeListUnread, code.NameOnly,
	code.MachineNotInBackup, code.ForeignNode, code.AmbiguousOwner, code.InClusterFolder, code.SameName, code.NodeOfMachine, code.CloneOf, code.DuplicateID, code.PoolMember, code.LeftPool,
}

func difference(a, b []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(a), func(l string) bool { return slices.Contains(b, l) }), "\n")
}

func TestRandomWorldsInAnyOrder(t *testing.T) {
	for seed := range uint64(1500) {
		s := randomWorld(seed)
		want := s.detect()
		again := s.shuffled(rand.New(rand.NewPCG(seed, 7)))
		if got := again.detect(); !reflect.DeepEqual(got, want) {
			t.Fatalf("world %d in another order has another result:\n%s\nwas\n%s", seed,
				difference(describe(got), describe(want)), difference(describe(want), describe(got)))
		}
	}
}

// The laws hold for every result, whatever the oracle says.
func TestRandomWorldsKeepTheLaws(t *testing.T) {
	for seed := range uint64(1500) {
		s := randomWorld(seed)
		r := s.detect()
		everyMachineOnce(t, seed, s, r)
		everyInstanceOnce(t, seed, s, r)
		unlisted := slices.ContainsFunc(r.Scopes, func(sc report.Scope) bool { return sc.State != code.ScopeComplete || sc.Error != nil })
		unread := slices.ContainsFunc(r.Unattributed, func(u Unattributed) bool { return u.Unread })
		if (unlisted || unread || len(r.UnreadNodeLists()) > 0) == r.Complete {
			t.Fatalf("world %d: complete is %v and the scopes are %+v", seed, r.Complete, r.Scopes)
		}
		if !r.Complete && code.Worse(code.NeedFurtherConfirmation, r.Status) {
			t.Fatalf("world %d: incomplete and %s", seed, r.Status)
		}
		nothingFromParts(t, seed, s)
	}
}

// everyMachineOnce holds the machines of the backup against those of the result.
func everyMachineOnce(t *testing.T, seed uint64, s *scene, r Result) {
	t.Helper()
	seen := map[string]int{}
	for _, c := range r.Clusters {
		for _, v := range verdictsOf(c) {
			seen[v.UID]++
			if !slices.Contains(code.MachineStatuses(), v.Status) {
				t.Fatalf("world %d: %s has status %q", seed, v.Name, v.Status)
			}
		}
	}
	for _, m := range s.snap.Machines {
		if seen[m.UID] != 1 {
			t.Fatalf("world %d: machine %s has %d verdicts", seed, m.UID, seen[m.UID])
		}
	}
}

// everyInstanceOnce says that no instance is in two places, and that none is lost.
func everyInstanceOnce(t *testing.T, seed uint64, s *scene, r Result) {
	t.Helper()
	listed, located := map[string]bool{}, map[string]int{}
	for _, l := range s.listings {
		for _, i := range l.Instances {
			listed[i.Identity] = true
		}
	}
	for _, c := range r.Clusters {
		for _, v := range verdictsOf(c) {
			if v.Instance != nil {
				located[v.Instance.Identity]++
			}
			if len(v.Others) != len(v.OtherScopes) {
				t.Fatalf("world %d: %d others in %d scopes", seed, len(v.Others), len(v.OtherScopes))
			}
		}
	}
	for _, u := range r.Unattributed {
		located[u.Instance.Identity]++
	}
	total := r.OutOfScope
	for _, n := range r.Excluded {
		total += n
	}
	for id, n := range located {
		if total++; n != 1 {
			t.Fatalf("world %d: instance %s is in %d places", seed, id, n)
		}
	}
	if total != len(listed) {
		t.Fatalf("world %d: %d instances were listed, %d placed", seed, len(listed), total)
	}
}

// nothingFromParts takes one thing away from a world at a time: then absence on
// that side must not be concluded any more.
func nothingFromParts(t *testing.T, seed uint64, s *scene) {
	t.Helper()
	count := func(r Result, status code.Status, unless func(Verdict) bool) (n int) {
		for _, c := range r.Clusters {
			for _, v := range verdictsOf(c) {
				if v.Status == status && !unless(v) {
					n++
				}
			}
		}
		return n
	}
	terminated := func(v Verdict) bool { return v.Reason == code.InstanceTerminated }
	partial := *s
	partial.listings = nil
	for _, l := range s.listings {
		half := *l
		half.State = code.ScopePartial
		partial.listings = append(partial.listings, &half)
	}
	if n := count(partial.detect(), code.Stale, terminated); n > 0 {
		t.Fatalf("world %d: %d Stale from partial listings", seed, n)
	}
	unproven := *s
	unproven.expected.Proofs = nil
	if n := count(unproven.detect(), code.Stale, terminated); n > 0 {
		t.Fatalf("world %d: %d Stale from unproven places", seed, n)
	}
	short := *s
	short.snap.ControlPlanes, short.snap.Groups = slices.Clone(s.snap.ControlPlanes), slices.Clone(s.snap.Groups)
	for i := range short.snap.ControlPlanes {
		short.snap.ControlPlanes[i].Kind, short.snap.ControlPlanes[i].Replicas = plane, known(99)
	}
	for i := range short.snap.Groups {
		short.snap.Groups[i].Replicas = known(99)
	}
	made := func(v Verdict) bool { return v.Instance.Created.After(written) }
	if n := count(short.detect(), code.Ghost, made); n > 0 {
		t.Fatalf("world %d: %d Ghosts of owners whose machines are not all in the backup", seed, n)
	}
}

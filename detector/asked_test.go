package detector

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// ofAnotherBackup makes the scene's listing one that was made for another backup,
// which names nothing beyond what is given. A pool that nobody asked for is not
// found, and no instance has its key.
func (s *scene) ofAnotherBackup(asked ...infra.Key) {
	l := s.listings[0]
	l.Asked = append([]infra.Key{key("folder", "f")}, asked...)
	unasked := func(k infra.Key) bool { return k.Kind == asg("").Kind && !slices.Contains(l.Asked, k) }
	l.ProbesFound = slices.DeleteFunc(l.ProbesFound, unasked)
	for i := range l.Instances {
		l.Instances[i].Keys = slices.DeleteFunc(l.Instances[i].Keys, unasked)
	}
}

// What nobody asked for is not absent: the pool is undecided, its members are no
// Ghosts, and the result says that it is not whole.
func TestPoolThatNobodyAskedFor(t *testing.T) {
	arrange := func() *scene {
		s := newScene()
		s.pool("p", "recorded")
		s.hint(infra.Medium, key("tag", "prod"), ownedBy(machineSet, "md-bcdfg"), 0)
		s.worker("gone")
		s.vm("recorded", bios("recorded"), asg("p"), key("tag", "prod"))
		s.vm("new", bios("new"), asg("p"), key("tag", "prod")).Created = written.Add(time.Hour)
		return s
	}
	for _, tc := range []struct {
		name     string
		asked    []infra.Key
		state    Presence
		complete bool
		now      []string
	}{
		{"not asked", nil, Undecided, false, []string{"recorded"}},
		{"asked", []infra.Key{asg("p")}, Present, true, []string{"new", "recorded"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := arrange()
			s.ofAnotherBackup(tc.asked...)
			r := s.detect()
			if p := poolOf(t, r, "p").Pool; p.State != tc.state || !slices.Equal(p.Now, tc.now) {
				t.Errorf("the pool is %s with %v (%s), want %s with %v", p.State, p.Now, p.Message, tc.state, tc.now)
			}
			// That a machine's instance is gone rests on the instances, which are all listed.
			expect(t, r, wish{name: "gone", status: code.Stale, reason: code.InstanceNotFound})
			if v, found := find(r, "new"); found != !tc.complete || found && (v.status != code.Unknown || v.reason != code.MachineNotInBackup) {
				t.Errorf("the new member is %+v", v)
			}
			if r.Complete != tc.complete || (r.Scopes[0].Fault == nil) != tc.complete {
				t.Errorf("complete is %v, the scope %+v", r.Complete, r.Scopes[0])
			}
			if f := r.Scopes[0].Fault; f != nil && (f.Reason != code.NotAsked || !strings.Contains(f.Message, "tenant/p") || f.Hint == "") {
				t.Errorf("the fault is %+v", f)
			}
		})
	}
}

// An inventory from before Asked was kept says of nothing that it was asked for
// but of what was found.
func TestInventoryThatDoesNotSayWhatWasAsked(t *testing.T) {
	s := newScene()
	s.pool("p", "a")
	s.vm("a", bios("a"), asg("p"))
	s.listings[0].Asked = []infra.Key{}
	r := s.detect()
	if p := poolOf(t, r, "p").Pool; p.State != Present || !r.Complete {
		t.Errorf("a pool that was found: %+v, complete %v", p, r.Complete)
	}
	s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1]
	s.listings[0].Instances = nil
	r = s.detect()
	if p := poolOf(t, r, "p").Pool; p.State != Undecided || r.Complete {
		t.Errorf("a pool that was not found: %+v, complete %v", p, r.Complete)
	}
}

func TestResourceThatNobodyAskedFor(t *testing.T) {
	s := newScene()
	s.expected.Resources = []infra.Resource{
		{Cluster: prod, Target: vc, Kind: "network", Name: "asked", Keys: []infra.Key{key("net", "asked")}},
		{Cluster: prod, Target: vc, Kind: "network", Name: "half", Keys: []infra.Key{key("net", "asked"), key("net", "other")}},
		{Cluster: prod, Target: vc, Kind: "network", Name: "not asked", Keys: []infra.Key{key("net", "other")}},
	}
	s.ofAnotherBackup(key("net", "asked"))
	r := s.detect()
	for i, want := range []Presence{Absent, Undecided, Undecided} {
		if got := r.Clusters[0].Resources[i]; got.State != want {
			t.Errorf("%s is %s (%s), want %s", got.Name, got.State, got.Message, want)
		}
	}
	if !r.Complete {
		t.Error("a resource alone makes the result incomplete")
	}
}

// A folder that the backup's machines are in and that nobody asked for proves
// nothing.
func TestProofThatNobodyAskedFor(t *testing.T) {
	s := newScene()
	s.worker("gone")
	s.expected.Proofs[0].All = append(s.expected.Proofs[0].All, key("folder", "other"))
	s.ofAnotherBackup()
	r := s.detect()
	expect(t, r, wish{name: "gone", status: code.Unknown, reason: code.ScopeIncomplete})
	if f := r.Scopes[0].Fault; f == nil || f.Reason != code.VisibilityUnproven {
		t.Errorf("the fault is %+v", f)
	}
}

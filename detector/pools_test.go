package detector

import (
	"slices"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// poolOf returns the group of a pool in a result.
func poolOf(t *testing.T, r Result, name string) Set {
	t.Helper()
	for _, g := range r.Clusters[0].WorkerGroups {
		if g.Kind == machinePool && g.Name == name {
			return g
		}
	}
	t.Fatalf("no group of pool %s in %+v", name, r.Clusters[0].WorkerGroups)
	return Set{}
}

func TestPools(t *testing.T) {
	for _, tc := range []struct {
		name    string
		arrange func(*scene)
		state   code.Presence
		now     []string
		status  code.Status
		reason  code.Reason
		message string
	}{
		{"unchanged", func(s *scene) {
			s.pool("p", "a").Desired = known(1)
			s.vm("a", bios("a"), asg("p"))
		}, code.Present, []string{"a"}, code.Healthy, "", ""},
		{"changed members are no finding", func(s *scene) {
			s.pool("p", "a", "b").Desired = known(2)
			s.vm("b", bios("b"), asg("p"))
			s.vm("c", bios("c"), asg("p"))
		}, code.Present, []string{"b", "c"}, code.Healthy, "", "its members changed since the backup, as those of a pool do: 1 gone, 1 new"},
		{"other replicas are said", func(s *scene) {
			p := s.pool("p", "a")
			p.Desired, p.ManagedBy = known(3), "external-autoscaler"
			s.vm("a", bios("a"), asg("p"))
		}, code.Present, []string{"a"}, code.Healthy, "", "1 member now, the backup desires 3, which external-autoscaler sets now"},
		{"an ended member is none", func(s *scene) {
			s.pool("p", "a")
			s.vm("a", bios("a"), asg("p")).Gone = true
		}, code.Present, nil, code.Healthy, "", "its members changed since the backup, as those of a pool do: 1 gone, 0 new"},
		{"gone", func(s *scene) {
			s.pool("p", "a")
			s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1]
		}, code.Absent, nil, code.NeedFurtherConfirmation, code.PoolMissing, "it was not found: the restored controllers will re-create it, with new machines"},
		{"gone, and a member says otherwise", func(s *scene) {
			s.pool("p", "a")
			s.vm("a", bios("a"), asg("p"))
			s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1]
		}, code.Undecided, []string{"a"}, code.NeedFurtherConfirmation, code.PoolUndecided, "it was not found, but 1 instance says that it is its member"},
		{"its place was not listed whole", func(s *scene) {
			s.pool("p")
			s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1]
			s.listings[0].State = code.ScopePartial
		}, code.Undecided, nil, code.NeedFurtherConfirmation, code.PoolUndecided, "whether it exists is not known: the listing of vc/user did not come to its end"},
		{"pools could not be read", func(s *scene) {
			s.pool("p")
			s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1]
			s.listings[0].Unread = []infra.KeyKind{infra.KeyKindOf("asg")}
		}, code.Undecided, nil, code.NeedFurtherConfirmation, code.PoolUndecided, "whether it exists is not known: what there is of its kind at vc/user could not be read"},
		{
			"its place was not listed", func(s *scene) { s.pool("p").Target = "elsewhere" }, code.Undecided, nil, code.NeedFurtherConfirmation, code.PoolUndecided,
			`whether it exists is not known: "elsewhere" was not listed`,
		},
		{"machines that the backup lacks are no finding of a pool", func(s *scene) {
			s.pool("p")
			s.group(prod, "p").Replicas = known(5)
			m := s.poolWorker("m")
			s.snap.Machines[m.Machine].Owner, s.snap.Machines[m.Machine].Pool = backup.Owner{Kind: machinePool, Name: "p"}, "p"
			s.vmOf("m").Keys = append(s.listings[0].Instances[0].Keys, asg("p"))
		}, code.Present, []string{"b-m"}, code.Healthy, "", "its members changed since the backup, as those of a pool do: 0 gone, 1 new"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			tc.arrange(s)
			g := poolOf(t, s.detect(), "p")
			p := g.Pool
			if p.State != tc.state || !slices.Equal(p.Now, tc.now) || p.Message != tc.message {
				t.Errorf("pool is %s with %v: %q\nwant %s with %v: %q", p.State, p.Now, p.Message, tc.state, tc.now, tc.message)
			}
			if g.Status != tc.status || g.Reason != tc.reason {
				t.Errorf("group is %s %s, want %s %s", g.Status, g.Reason, tc.status, tc.reason)
			}
		})
	}
}

// Of a pool of a kind that no provider reads nothing was looked for, and that must show,
// whatever became of its Machines.
func TestPoolWithoutAClaim(t *testing.T) {
	for name, arrange := range map[string]func(*scene){
		"without Machines": func(*scene) {},
		"of three":         func(s *scene) { s.snap.Groups[len(s.snap.Groups)-1].Desired = known(3) },
		"of none":          func(s *scene) { s.snap.Groups[len(s.snap.Groups)-1].Desired = known(0) },
		"with its Machines": func(s *scene) {
			s.worker(subject)
			m := &s.snap.Machines[len(s.snap.Machines)-1]
			m.Owner, m.Set, m.Deployment = backup.Owner{Kind: machinePool, Name: "p"}, "", ""
			s.group(prod, "md").Replicas.N--
			s.group(prod, "md-bcdfg").Replicas.N--
			s.vmOf(subject)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.pool("p")
			s.expected.Pools = nil
			arrange(s)
			if g := poolOf(t, s.detect(), "p"); g.Pool == nil || g.Status != code.NeedFurtherConfirmation {
				t.Errorf("got %+v, pool %+v", g, g.Pool)
			}
		})
	}
}

// The infrastructure's pool may be in the backup without its MachinePool.
func TestPoolWithoutAGroup(t *testing.T) {
	s := newScene()
	s.pool("p").Desired = known(2)
	s.snap.Groups = s.snap.Groups[:len(s.snap.Groups)-1]
	if g := poolOf(t, s.detect(), "p"); g.Pool == nil || g.Desired != known(2) {
		t.Errorf("got %+v", g)
	}
}

// Of two pools under one name the one in trouble shows.
func TestTwoPoolsOfOneName(t *testing.T) {
	s := newScene()
	s.pool("p")
	gone := *s.pool("q")
	gone.Name, gone.Probe = "p", asg("gone")
	s.expected.Pools = append(s.expected.Pools, gone)
	if g := poolOf(t, s.detect(), "p"); g.Reason != code.PoolMissing {
		t.Errorf("got %+v", g.Pool)
	}
}

// A pool whose place was not listed makes the whole incomplete, as a machine does.
func TestPoolMakesAScope(t *testing.T) {
	s := newScene()
	s.pool("p").Target = "elsewhere"
	if r := s.detect(); r.Complete || len(r.Scopes) != 2 {
		t.Errorf("complete %v, scopes %+v", r.Complete, r.Scopes)
	}
}

// An orphan of a pool that has no instance is nothing to tell.
func TestOrphanOfAPool(t *testing.T) {
	s := newScene()
	s.pool("p")
	s.orphan("o").Pool = asg("p")
	if got, ok := find(s.detect(), "o"); ok {
		t.Errorf("got %+v", got)
	}
}

func TestMemberOfAPoolIsCounted(t *testing.T) {
	s := newScene()
	s.pool("p")
	s.vm("a", bios("a"), asg("p"))
	s.vm("b", bios("b"), asg("p")).Gone = true
	s.worker("m")
	s.vmOf("m").Keys = append(s.listings[0].Instances[2].Keys, asg("p"))
	r := s.detect()
	if r.Excluded[memberOfPool] != 1 || r.Excluded[terminated] != 1 {
		t.Errorf("excluded %v", r.Excluded)
	}
	if p := poolOf(t, r, "p").Pool; !slices.Equal(p.Now, []string{"a", "b-m"}) {
		t.Errorf("members %v, want those that live, that of a machine too", p.Now)
	}
	expect(t, r, wish{name: "m", status: code.Healthy})
}

// A pool needs no Machines for its members to be in the backup.
func TestPoolIsComplete(t *testing.T) {
	s := newScene()
	s.pool("p")
	s.group(prod, "p").Replicas = known(2)
	s.hint(infra.Medium, key("tag", "p"), ownedBy(machinePool, "p"), 0)
	s.vm("new", key("tag", "p"))
	expect(t, s.detect(), wish{name: "new", status: code.Ghost})
	s.expected.Pools = nil
	expect(t, s.detect(), wish{name: "new", status: code.Unknown, reason: code.MachineNotInBackup})
}

func TestExclusions(t *testing.T) {
	s := newScene()
	s.expected.Exclude = []infra.Exclusion{{Key: bios("b-1"), Cause: "nat"}, {Key: bios("b-1"), Cause: "bastion"}, {Key: bios("b-m"), Cause: "bastion"}}
	s.worker("m")
	s.vmOf("m")
	s.vm("jump", bios("b-1"))
	s.node(prod, bios("b-1"), "later")
	r := s.detect()
	if r.Excluded["bastion"] != 1 || len(r.Excluded) != 1 {
		t.Errorf("excluded %v, want one bastion", r.Excluded)
	}
	expect(t, r, wish{name: "m", status: code.Healthy})
}

// A resource is no part's: that it was not found proves something only where every
// part of the target is seen.
func TestResourcesNeedEveryPart(t *testing.T) {
	for _, shown := range []bool{false, true} {
		s := newScene()
		s.worker("m").Home.Folder = "f"
		s.worker("n").Home.Folder = "g"
		s.vmOf("n")
		s.expected.Proofs[0].Folder = "f"
		s.expected.Proofs = append(s.expected.Proofs, infra.VisibilityProof{Cluster: prod, Target: vc, Folder: "g", All: []infra.Key{key("folder", "g")}})
		s.expected.Resources = []infra.Resource{{Cluster: prod, Target: vc, Kind: "template", Name: "t", Keys: []infra.Key{key("template", "t")}, UsedBy: "T"}}
		want := code.Undecided
		if shown {
			s.listings[0].ProbesFound = append(s.listings[0].ProbesFound, key("folder", "g"))
			want = code.Absent
		}
		r := s.detect()
		if got := r.Clusters[0].Resources; len(got) != 1 || got[0].State != want || r.Complete != shown || len(r.Scopes) != 1 {
			t.Errorf("every part seen: %t: the resources are %+v, complete %t, scopes %+v", shown, got, r.Complete, r.Scopes)
		}
	}
}

func TestResources(t *testing.T) {
	s := newScene()
	resource := func(name string, keys ...infra.Key) {
		s.expected.Resources = append(s.expected.Resources, infra.Resource{Cluster: prod, Target: vc, Kind: "template", Name: name, Keys: keys, UsedBy: "T " + name})
	}
	s.listings[0].ProbesFound = append(s.listings[0].ProbesFound, key("tmpl", "here"))
	s.listings[0].Unread = []infra.KeyKind{infra.KeyKindOf("net")}
	resource("b", key("tmpl", "gone"))
	resource("a", key("tmpl", "gone"), key("tmpl", "here"))
	resource("c", key("net", "n"))
	resource("d")
	resource("b", key("tmpl", "gone"))
	r := s.detect()
	want := []report.Resource{
		{Kind: "template", Name: "a", State: code.Present, UsedBy: "T a", WhenGone: code.FailsReplacement, Message: ""},
		{Kind: "template", Name: "b", State: code.Absent, UsedBy: "T b", WhenGone: code.FailsReplacement, Message: "replacing a machine will fail: template b was not found"},
		{Kind: "template", Name: "c", State: code.Undecided, UsedBy: "T c", WhenGone: code.FailsReplacement, Message: "whether it exists is not known: what there is of its kind at vc/user could not be read"},
		{Kind: "template", Name: "d", State: code.Undecided, UsedBy: "T d", WhenGone: code.FailsReplacement, Message: "whether it exists is not known: the backup does not say how to find it"},
	}
	if got := r.Clusters[0].Resources; !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if r.Status != code.Healthy {
		t.Errorf("summary %s: a resource decides on no machine", r.Status)
	}
	s.listings[0].State = code.ScopePartial
	if got := s.detect().Clusters[0].Resources[1]; got.State != code.Undecided {
		t.Errorf("of a partial listing: %+v", got)
	}
	s.listings[0].State = code.ScopeComplete
	s.expected.Proofs = nil
	r = s.detect()
	if got := r.Clusters[0].Resources[1]; got.State != code.Undecided {
		t.Errorf("of an unproven place: %+v", got)
	}
	if !r.Complete {
		t.Error("the place of resources alone makes the report incomplete")
	}
}

// Of a pool whose name is only guessed, not to be found proves nothing, and the
// members that the backup records are its members as far as anybody knows.
func TestPoolOfAGuessedName(t *testing.T) {
	for name, c := range map[string]struct {
		there  bool
		state  code.Presence
		now    []string
		reason code.Reason
	}{
		"found":     {true, code.Present, nil, ""},
		"not found": {false, code.Undecided, []string{"i-1"}, code.PoolUndecided},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.pool("p", "i-1").Guessed = "its object is not in the backup"
			s.vm("member", bios("i-1"))
			if !c.there {
				s.listings[0].ProbesFound = slices.DeleteFunc(s.listings[0].ProbesFound, func(k infra.Key) bool { return k == asg("p") })
			}
			r := s.detect()
			g := poolOf(t, r, "p")
			if g.Pool.State != c.state || !slices.Equal(g.Pool.Now, c.now) || g.Reason != c.reason {
				t.Errorf("it is %s with %v, %s: %s", g.Pool.State, g.Pool.Now, g.Reason, g.Pool.Message)
			}
			if left := len(r.Unattributed) > 0; left != c.there {
				t.Errorf("unattributed are %+v", r.Unattributed)
			}
		})
	}
}

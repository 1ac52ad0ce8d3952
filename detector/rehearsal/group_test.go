package rehearsal

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/report"
	"drift-detector/report/code"
)

func TestEtcd(t *testing.T) {
	for name, c := range map[string]struct {
		arrange                           func(*story)
		quorum                            code.Quorum
		recorded, existing, removed, left int
	}{
		"all well":                     {three(found, found, found), code.QuorumStands, 3, 3, 0, 3},
		"one gone":                     {three(found, found, gone), code.QuorumStands, 3, 2, 0, 2},
		"two gone":                     {three(found, gone, gone), code.QuorumUncertain, 3, 1, 0, 1},
		"all gone":                     {three(gone, gone, gone), code.QuorumLost, 3, 0, 0, 0},
		"one unknown":                  {three(found, found, unknown(code.NodeAlive)), code.QuorumStands, 3, 2, 0, 2},
		"all unknown":                  {three(unknown("x"), unknown("x"), unknown("x")), code.QuorumUncertain, 3, 0, 0, 0},
		"scaled up since":              {func(s *story) { s.plane("a", found); s.ghostPlane("g"); s.ghostPlane("h") }, code.QuorumStands, 1, 3, 2, 1},
		"one replaced since":           {func(s *story) { three(found, found, gone)(s); s.ghostPlane("g") }, code.QuorumStands, 3, 3, 0, 3},
		"all replaced since":           {func(s *story) { three(gone, gone, gone)(s); s.ghostPlane("g"); s.ghostPlane("h"); s.ghostPlane("i") }, code.QuorumUncertain, 3, 3, 0, 3},
		"etcd elsewhere":               {func(s *story) { s.plane("a", found); s.snapshot.ControlPlanes[0].ExternalEtcd = true }, code.QuorumNotApplicable, 1, 1, 0, 1},
		"control plane of others":      {func(s *story) { otherPlane(s); s.plane("a", found) }, code.QuorumNotApplicable, 1, 1, 0, 1},
		"no control plane of machines": {func(s *story) { s.cluster.Applicable = false }, "", 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			e := cmp.Or(s.end().Clusters[0].ControlPlane.Etcd, &report.Etcd{})
			if e.Quorum != c.quorum || e.Recorded != c.recorded || e.Existing != c.existing || e.Removed != c.removed || e.After != c.left || (e.Message == "") != (c.quorum == "") {
				t.Errorf("%+v", e)
			}
			if removed := strings.Contains(e.Message, "KubeadmControlPlane removes"); removed != (c.removed > 0) {
				t.Errorf("%q", e.Message)
			}
		})
	}
}

func TestReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*story)
		want    string // recorded working created deleted running unknown surplus missing
	}{
		"as wanted":         {func(s *story) { s.worker("a", found); s.worker("b", found) }, "2 2 0 0 2 0 0 0"},
		"one stuck":         {func(s *story) { s.worker("a", found); s.worker("b", gone) }, "2 1 0 0 1 0 0 1"},
		"ghosts":            {func(s *story) { s.worker("a", found); s.ghostWorker("b") }, "1 1 0 0 2 0 1 0"},
		"stuck and ghost":   {func(s *story) { s.worker("a", gone); s.ghostWorker("b") }, "1 0 0 0 1 0 0 1"},
		"orphan":            {func(s *story) { s.worker("a", found); want(s, 2); s.orphan("b") }, "1 1 1 0 3 0 1 0"},
		"short of one":      {func(s *story) { s.worker("a", found); want(s, 2) }, "1 1 1 0 2 0 0 0"},
		"one too many":      {func(s *story) { s.worker("a", found); s.worker("b", found); want(s, 1) }, "2 1 0 1 1 0 0 0"},
		"paused, short":     {func(s *story) { s.cluster.Paused = true; s.worker("a", found); want(s, 2) }, "1 1 0 0 1 0 0 1"},
		"unknown":           {func(s *story) { s.worker("a", unknown("x")) }, "1 0 0 0 0 1 0 0"},
		"not there before":  {func(s *story) { s.worker("a", never) }, "1 1 0 0 1 0 0 0"},
		"pool":              {func(s *story) { s.cluster.WorkerGroups[0].Kind = "MachinePool"; want(s, 3) }, "0 0 0 0 0 0 0 0"},
		"set paused, short": {func(s *story) { s.snapshot.Groups[1].Paused = true; s.worker("a", found); want(s, 2) }, "1 1 0 0 1 0 0 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			r := s.end().Clusters[0].Groups[0].Replicas
			if got := fmt.Sprint(r.Recorded, r.Working, r.Created, r.Deleted, r.Running, r.Unknown, r.Surplus, r.Missing); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// want sets the replicas that the group and its MachineSet want.
func want(s *story, n int64) {
	s.snapshot.Groups[0].Desired, s.snapshot.Groups[1].Desired, s.cluster.WorkerGroups[0].Desired = number(n), number(n), number(n)
}

// KubeadmControlPlane makes no Machine while one of its own has no Node.
func TestControlPlaneWaitsForItsNodes(t *testing.T) {
	for status, created := range map[*detector.Verdict]int{&found: 1, &gone: 0} {
		s := newStory(t)
		s.plane("a", found)
		s.plane("b", *status)
		s.snapshot.ControlPlanes[0].Desired = number(3)
		if got := s.end().Clusters[0].ControlPlane.Replicas.Created; got != created {
			t.Errorf("beside a %s one: %d", status.Status, got)
		}
	}
}

func TestRollout(t *testing.T) {
	many := func(s *story, n int, prefix string, add func(string)) {
		for i := range n {
			add(fmt.Sprintf("%s-%d", prefix, i))
		}
	}
	stale := func(s *story) func(string) { return func(n string) { s.worker(n, gone) } }
	ghost := func(s *story) func(string) { return func(n string) { s.ghostWorker(n) } }
	for name, c := range map[string]struct {
		arrange       func(*story)
		stale, ghosts int // zero: no rollout
	}{
		"a generation":            {func(s *story) { many(s, 5, "md-old", stale(s)); many(s, 5, "md-new", ghost(s)) }, 5, 5},
		"of one":                  {func(s *story) { many(s, 1, "md-old", stale(s)); many(s, 1, "md-new", ghost(s)) }, 1, 1},
		"about as many":           {func(s *story) { many(s, 8, "md-old", stale(s)); many(s, 10, "md-new", ghost(s)) }, 8, 10},
		"a quarter more, and one": {func(s *story) { many(s, 8, "md-old", stale(s)); many(s, 11, "md-new", ghost(s)) }, 0, 0},
		"a quarter less":          {func(s *story) { many(s, 8, "md-old", stale(s)); many(s, 6, "md-new", ghost(s)) }, 8, 6},
		"a quarter less, and one": {func(s *story) { many(s, 8, "md-old", stale(s)); many(s, 5, "md-new", ghost(s)) }, 0, 0},
		"of few, one more":        {func(s *story) { many(s, 1, "md-old", stale(s)); many(s, 2, "md-new", ghost(s)) }, 1, 2},
		"of few, two more":        {func(s *story) { many(s, 1, "md-old", stale(s)); many(s, 3, "md-new", ghost(s)) }, 0, 0},
		"far more":                {func(s *story) { many(s, 5, "md-old", stale(s)); many(s, 9, "md-new", ghost(s)) }, 0, 0},
		"ghosts of the same set":  {func(s *story) { many(s, 5, "md-old", stale(s)); many(s, 5, "md-old", ghost(s)) }, 0, 0},
		"some of the old live": {func(s *story) {
			many(s, 4, "md-old", stale(s))
			s.worker("md-old-x", found)
			many(s, 4, "md-new", ghost(s))
		}, 0, 0},
		"beside another set": {func(s *story) {
			many(s, 5, "md-old", stale(s))
			many(s, 5, "md-new", ghost(s))
			many(s, 2, "md-old-y", ghost(s))
			s.worker("md-other", found).machine.Set = "md-other"
		}, 5, 5},
		"nobody came":              {func(s *story) { many(s, 5, "md-old", stale(s)) }, 0, 0},
		"control plane":            {func(s *story) { three(gone, gone, gone)(s); many(s, 3, "cp", func(n string) { s.ghostPlane(n) }) }, 3, 3},
		"one of the control plane": {func(s *story) { three(found, found, gone)(s); s.ghostPlane("cp-x") }, 0, 0},
		"control plane of one":     {func(s *story) { s.plane("a", gone); s.ghostPlane("cp-x") }, 0, 0},
		"group without a MachineSet": {func(s *story) {
			many(s, 3, "x", stale(s))
			s.cluster.WorkerGroups[0].Kind = ""
			s.worker("y", found)
			many(s, 3, "z", ghost(s))
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			f := s.end().Clusters[0]
			got := append(rollouts(&f), nil)[0]
			if c.stale == 0 {
				if got != nil || rolledOut(&f) != 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			if n := rolledOut(&f); n != c.stale+c.ghosts {
				t.Errorf("%d machines are part of it, want %d", n, c.stale+c.ghosts)
			}
			if got == nil || got.Stale != c.stale || got.Ghosts != c.ghosts || !slices.ContainsFunc(f.Notes, func(n report.Note) bool { return n.Code == code.RolledOut && n.Message == got.Message }) {
				t.Errorf("%+v, notes %v", got, f.Notes)
			}
		})
	}
}

// rolledOut counts the machines and ghosts that are part of a rollout.
func rolledOut(f *Cluster) int {
	n := 0
	for _, ms := range [][]Machine{f.ControlPlane.Machines, f.Groups[0].Machines} {
		for _, m := range ms {
			if m.RolledOut {
				n++
			}
		}
	}
	return n
}

// The order of machines, groups and listings in the inputs changes nothing.
func TestOrderOfTheInputsDoesNotMatter(t *testing.T) {
	tell := func(reverse bool) Forecast {
		s := newStory(t, checkSpec(workers), checkSpec(planes))
		three(found, found, gone)(s)
		s.ghostPlane("g")
		s.worker("x", gone)
		s.worker("y", found)
		s.node("y", false)
		s.node("a", true)
		if reverse {
			slices.Reverse(s.snapshot.Machines)
			slices.Reverse(s.snapshot.Groups)
			slices.Reverse(s.inventory.Listings)
		}
		return s.end()
	}
	if a, b := tell(false), tell(true); !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

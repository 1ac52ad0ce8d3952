package detector

import (
	"slices"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Only of a pool that was looked for does anybody know who left it: of one that nobody
// read, those that the backup records are members as far as anybody knows.
func TestNobodyLeavesAPoolThatWasNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*scene, *infra.Pool)
		left    bool
	}{
		"read":                     {func(*scene, *infra.Pool) {}, true},
		"gone":                     {func(s *scene, _ *infra.Pool) { s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1] }, true},
		"its place was not listed": {func(_ *scene, p *infra.Pool) { p.Target = "elsewhere" }, false},
		"its kind could not be read": {func(s *scene, _ *infra.Pool) {
			s.listings[0].ProbesFound, s.listings[0].Unread = s.listings[0].ProbesFound[:1], []infra.KeyKind{infra.KeyKindOf("asg")}
		}, false},
	} {
		s := newScene()
		c.arrange(s, s.pool("p", "b-m"))
		s.vm(subject, bios("b-m"))
		r := s.detect()
		p := poolOf(t, r, "p").Pool
		left := len(r.Unattributed) == 1 && r.Unattributed[0].Reason == code.LeftPool
		if left != c.left || slices.Contains(p.Now, "b-m") == c.left {
			t.Errorf("%s: unattributed %+v, the pool is %+v", name, r.Unattributed, p)
		}
	}
}

// A machine of a pool whose instance is gone is part of what changed in the set, when
// the pool was read.
func TestMembersThatAreGone(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*scene)
		want    code.Status
	}{
		"the pool is there":         {func(s *scene) { s.pool("p", "b-m") }, code.Stale},
		"its instance is listed":    {func(s *scene) { s.pool("p", "b-m"); s.vmOf(subject).Gone = true }, code.Stale},
		"the pool is gone":          {func(s *scene) { s.pool("p", "b-m"); s.listings[0].ProbesFound = s.listings[0].ProbesFound[:1] }, code.Stale},
		"the pool was not read":     {func(s *scene) { s.pool("p", "b-m").Target = "elsewhere" }, code.Unknown},
		"the backup lacks the pool": {func(*scene) {}, code.Unknown},
		"listed in part": {func(s *scene) {
			s.pool("p", "b-m")
			s.vmOf(subject).Gone = true
			s.listings[0].State = code.ScopePartial
		}, code.Unknown},
	} {
		s := newScene()
		s.worker(subject).Pool = asg("p")
		c.arrange(s)
		if v := verdictOf(t, s); v.Status != c.want || v.Reason != code.PoolMember {
			t.Errorf("%s: %s %s: %s; want %s", name, v.Status, v.Reason, v.Message, c.want)
		}
	}
}

func TestWhatAPoolIsSetTo(t *testing.T) {
	size := func(n int64) infra.PoolSize { return infra.PoolSize{Probe: asg("p"), Desired: n} }
	for name, c := range map[string]struct {
		sizes   [][]infra.PoolSize // by listing of the place
		want    backup.Number
		message string
	}{
		"not known":             {nil, backup.Number{}, "1 member now, the backup desires 3"},
		"as the backup desires": {[][]infra.PoolSize{{size(3)}}, known(3), "1 member now, the backup desires 3"},
		"another number":        {[][]infra.PoolSize{{size(1), {Probe: asg("q"), Desired: 9}}}, known(1), "it is set to 1 and has 1 member, the backup desires 3"},
		"two that agree":        {[][]infra.PoolSize{{size(0)}, {size(0)}}, known(0), "it is set to 0 and has 1 member, the backup desires 3"},
		"two that do not agree": {[][]infra.PoolSize{{size(0)}, {size(2)}}, backup.Number{}, "1 member now, the backup desires 3"},
	} {
		s := newScene()
		s.pool("p", "a").Desired = known(3)
		s.vm("a", bios("a"), asg("p"))
		for i, sizes := range c.sizes {
			if i > 0 {
				s.list(vc)
			}
			s.listings[i].PoolSizes = sizes
		}
		if p := poolOf(t, s.detect(), "p").Pool; p.DesiredNow != c.want || p.Message != c.message {
			t.Errorf("%s: it is set to %+v: %q; want %+v: %q", name, p.DesiredNow, p.Message, c.want, c.message)
		}
	}
}

func TestWhatTheAbsenceOfResourcesMeans(t *testing.T) {
	s := newScene()
	for name, r := range map[string]infra.Resource{
		"a": {}, "b": {WhenGone: code.HaltsCluster}, "c": {WhenGone: code.MadeAgain}, "d": {WhenGone: code.HaltsCluster, Consequence: "nothing goes on"},
		"e": {WhenGone: code.HaltsCluster, Keys: []infra.Key{key("net", "n")}},
	} {
		r.Cluster, r.Target, r.Kind, r.Name = prod, vc, "thing", name
		if r.Keys == nil {
			r.Keys = []infra.Key{key("thing", name)}
		}
		s.expected.Resources = append(s.expected.Resources, r)
	}
	s.listings[0].Unread = []infra.KeyKind{infra.KeyKindOf("net")}
	s.expected.Halts = []infra.Halt{{Cluster: prod, Object: "Identity z"}, {Cluster: prod, Object: "Identity a"}, {Cluster: prod, Object: "Identity a"}}
	c := s.detect().Clusters[0]
	want := []report.Resource{
		{Kind: "thing", Name: "a", State: code.Absent, UsedBy: "", WhenGone: code.FailsReplacement, Message: "replacing a machine will fail: thing a was not found"},
		{Kind: "thing", Name: "b", State: code.Absent, UsedBy: "", WhenGone: code.HaltsCluster, Message: "the restored controllers do nothing for the cluster until it is back: thing b was not found"},
		{Kind: "thing", Name: "c", State: code.Absent, UsedBy: "", WhenGone: code.MadeAgain, Message: "the restored controllers create a new one: thing c was not found"},
		{Kind: "thing", Name: "d", State: code.Absent, UsedBy: "", WhenGone: code.HaltsCluster, Message: "nothing goes on: thing d was not found"},
		{Kind: "thing", Name: "e", State: code.Undecided, UsedBy: "", WhenGone: code.HaltsCluster, Message: "whether it exists is not known: what there is of its kind at vc/user could not be read; if it is gone: the restored controllers do nothing for the cluster until it is back"},
	}
	if !slices.Equal(c.Resources, want) {
		t.Errorf("got %+v\nwant %+v", c.Resources, want)
	}
	if len(c.Halts) != 2 || c.Halts[0].Object != "Identity a" {
		t.Errorf("halted by %+v", c.Halts)
	}
}

// A tie that asks for a shared key ties what is beside living instances of recorded
// machines of the same cluster.
func TestTiesByWhatIsShared(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*scene)
		want    code.Status
	}{
		"beside a recorded machine": {func(s *scene) { s.vm("x", bios("b-x"), key("net", "1")) }, code.Ghost},
		"beside one that has ended": {func(s *scene) { s.vm("x", bios("b-x"), key("net", "1")).Gone = true }, ""},
		"beside somebody else's":    {func(s *scene) { s.vm("y", bios("b-y"), key("net", "1")) }, ""},
		"somewhere else":            {func(s *scene) { s.vm("x", bios("b-x"), key("net", "2")) }, ""},
		"beside another cluster's": {func(s *scene) {
			s.expected.OwnershipHints[0].Owner.Cluster = backup.ClusterID{Namespace: "t9", Name: "other"}
			s.vm("x", bios("b-x"), key("net", "1"))
		}, ""},
	} {
		s := newScene()
		s.worker("x")
		s.hint(infra.Strong, key("stem", "md"), ownedBy(machineSet, "md-bcdfg"), 0).Shares = infra.KeyKindOf("net")
		s.vm(subject, key("stem", "md"), key("net", "1"))
		c.arrange(s)
		got := code.Status("")
		for _, cl := range s.detect().Clusters {
			for _, v := range verdictsOf(cl) {
				if v.Instance != nil && v.Instance.Name == subject {
					got = v.Status
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// An instance that a pool of a kind that nobody reads lists is its member, as long as nothing
// says that it is another's.
func TestMembersOfAnUnreadPool(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*scene)
		member  bool
	}{
		"nothing else":                 {func(*scene) {}, true},
		"where machines are":           {func(s *scene) { s.hint(infra.LocationOnly, bios("a"), infra.OwnerID{Cluster: prod}, 0) }, true},
		"a Node that names no machine": {func(s *scene) { s.node(prod, bios("a"), "") }, true},
		"a Node of the pool":           {func(s *scene) { n := s.node(prod, bios("a"), "a"); n.OwnerKind, n.OwnerName = machinePool, "own" }, true},
		"a Node of a MachineSet":       {func(s *scene) { s.node(prod, bios("a"), "a") }, false},
		"a Node of another cluster":    {func(s *scene) { s.node(backup.ClusterID{Namespace: "tenant", Name: "dev"}, bios("a"), "") }, false},
		"made for a MachineSet":        {func(s *scene) { s.hint(infra.Strong, bios("a"), ownedBy("MachineSet", "md-bcdfg"), 1) }, false},
		"ended":                        {func(s *scene) { s.listings[0].Instances[0].Gone = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Namespace: "tenant", Name: "own"}, Kind: machinePool, Cluster: prod})
			s.expected.UnreadPools = []infra.UnreadPool{{Cluster: prod, Name: "own", Members: []infra.Key{bios("a"), bios("gone")}}}
			s.vm("a", bios("a"))
			c.arrange(s)
			r := s.detect()
			p := poolOf(t, r, "own").Pool
			if p.State != code.Undecided || len(p.Then) != 2 || (len(p.Now) == 1) != c.member || (r.Excluded[memberOfPool] == 1) != c.member {
				t.Errorf("the pool is %+v, left out are %v", p, r.Excluded)
			}
		})
	}
}

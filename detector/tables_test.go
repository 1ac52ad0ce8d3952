package detector

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
)

// subject is the machine, and also the instance without a machine, that the
// rows decide on in the scenes of this file.
const subject = "m"

// rowScene is a scene in which a row decides on the subject.
type rowScene struct {
	row     string // name of the row
	arrange func(*scene)
	status  Status // of the subject; empty for instances that get no verdict
	reason  string // of the verdict, of the unattributed instance, or "excluded", "out of scope"
}

// machineScenes has the plainest scene of every row first; those after it also
// fit later rows, so that the order of the rows shows.
var machineScenes = []rowScene{
	{"1 ", func(s *scene) { s.worker(subject).Provider = "" }, Unknown, UnsupportedProvider},
	{"2 strong", func(s *scene) { s.worker(subject); s.worker("other").Strong = bios("b-m") }, Unknown, ClaimedTwice},
	{"2 two", func(s *scene) { s.worker(subject).Conflict = "b-m and b-x" }, Unknown, ConflictingIDs},
	{"3 ", func(s *scene) { s.worker(subject); s.vm("dark", ref("r-m")).Unreadable = true }, Unknown, InstanceUnreadable},
	{"3 strong", func(s *scene) { s.worker(subject); s.vmOf(subject); s.elsewhere("x", "y") }, Unknown, ScopeIncomplete},
	{"4 ", func(s *scene) { s.worker(subject); s.vmOf(subject); s.vm("copy", bios("b-m")) }, Healthy, ""},
	{"4 ", func(s *scene) { s.worker(subject); s.vm("a", bios("b-m")); s.vm("b", bios("b-m")) }, Unknown, AmbiguousMatch},
	{"5 ", func(s *scene) { s.worker(subject).InfraMissing = true; s.vmOf(subject) }, Unknown, InfraObjectMissing},
	{"6 member", func(s *scene) { s.poolWorker(subject); s.vmOf(subject).Gone = true }, Unknown, PoolMember},
	{"6 ended", func(s *scene) {
		s.worker(subject)
		s.vmOf(subject).Gone = true
		s.vm("re-made", bios("b-x"), uuid("i-m"))
	}, Unknown, IdentityChanged},
	{"6 strong", func(s *scene) { s.worker(subject); s.vmOf(subject).Gone = true }, Stale, InstanceTerminated},
	{"7 ", func(s *scene) { s.worker(subject); s.vmOf(subject) }, Healthy, ""},
	{"8 found", func(s *scene) { inDatacenter(s); s.listings[0].State = infra.Partial; s.vm("away", bios("b-m")) }, Unknown, FoundElsewhere},
	{"8 home", func(s *scene) { s.worker(subject); s.listings[0].State = infra.Partial }, Unknown, ScopeIncomplete},
	{"9 ", func(s *scene) { s.worker(subject); s.list("far"); s.vmIn(1, "away", bios("b-m")) }, Unknown, FoundElsewhere},
	{"10 infra", func(s *scene) { weakWorker(s).InfraMissing = true; s.vm("new", weakly("w")) }, Unknown, InfraObjectMissing},
	{"10 second", func(s *scene) { s.worker(subject); s.vm("re-made", bios("b-x"), uuid("i-m")) }, Unknown, IdentityChanged},
	{"10 second", func(s *scene) { s.worker(subject).Strong = infra.Key{}; s.vm("new", bios("b-x"), uuid("i-m")) }, Healthy, ""},
	{"10 another", func(s *scene) { withWitness(s) }, Unknown, IdentityChanged},
	{"11 ", func(s *scene) { weakWorker(s); s.vm("new", bios("b-x"), weakly("w")) }, Healthy, ""},
	{"12 ", func(s *scene) { s.worker(subject); s.node(prod, bios("b-m"), subject) }, Unknown, NodeAlive},
	{"13 member", func(s *scene) { s.poolWorker(subject) }, Unknown, PoolMember},
	{"13 no strong key recorded, a", func(s *scene) { s.worker(subject).Strong = infra.Key{}; s.vm("later", named(subject)) }, Unknown, AmbiguousMatch},
	{"13 no strong key recorded, i", func(s *scene) { c := s.worker(subject); c.Strong, c.InfraMissing = infra.Key{}, true }, Unknown, InfraObjectMissing},
	{"13 no strong key recorded, nor", func(s *scene) { c := s.worker(subject); c.Strong, c.Unnamed = infra.Key{}, "odd" }, Unknown, AmbiguousMatch},
	{"13 no strong key recorded, i", func(s *scene) {
		c := s.worker(subject)
		c.Strong, c.Unnamed, c.InfraMissing = infra.Key{}, "odd", true
	}, Unknown, InfraObjectMissing},
	{"13 the Node list", func(s *scene) { s.worker(subject); s.unread(prod) }, Unknown, NodeListUnread},
	{"13 no strong key recorded", func(s *scene) { s.worker(subject).Strong = infra.Key{} }, Stale, NotProvisioned},
	{"14 ", func(s *scene) { s.worker(subject) }, Stale, InstanceNotFound},

	{"1 ", func(s *scene) { s.worker(subject).Provider = ""; s.worker("other").Strong = bios("b-m") }, Unknown, UnsupportedProvider},
	{"2 strong", func(s *scene) { s.worker(subject).Conflict = "two"; s.worker("other").Strong = bios("b-m") }, Unknown, ClaimedTwice},
	{"2 two", func(s *scene) {
		s.worker(subject).Conflict = "two"
		s.vm("dark", ref("r-m")).Unreadable = true
	}, Unknown, ConflictingIDs},
	{"4 ", func(s *scene) { s.worker(subject).InfraMissing = true; s.vmOf(subject); s.vm("copy", bios("b-m")) }, Unknown, InfraObjectMissing},
	{"5 ", func(s *scene) { s.poolWorker(subject).InfraMissing = true; s.vmOf(subject).Gone = true }, Unknown, InfraObjectMissing},
	{"5 ", func(s *scene) { s.worker(subject).InfraMissing = true; s.vmOf(subject).Gone = true }, Unknown, InfraObjectMissing},
	{"6 member", func(s *scene) {
		s.poolWorker(subject)
		s.vmOf(subject).Gone = true
		s.vm("re-made", bios("b-x"), uuid("i-m"))
	}, Unknown, PoolMember},
	{"6 ended", func(s *scene) {
		s.worker(subject).Witness = []infra.Key{key("place", "f/m")}
		s.vmOf(subject).Gone = true
		s.vm("re-made", bios("b-x"), key("place", "f/m"))
	}, Unknown, IdentityChanged},
	{"7 ", func(s *scene) { s.poolWorker(subject); s.vmOf(subject) }, Healthy, ""},
	{"7 lives", func(s *scene) { s.pool("p"); s.poolWorker(subject); s.vmOf(subject) }, Unknown, LeftPool},
	{"7 strong", func(s *scene) { s.pool("p").Guessed = "it is"; s.poolWorker(subject); s.vmOf(subject) }, Healthy, ""},
	{"7 strong", func(s *scene) {
		s.pool("p")
		s.poolWorker(subject)
		s.vm(subject, bios("b-"+subject), asg("p"))
	}, Healthy, ""},
	{"7 ", func(s *scene) { s.worker(subject); s.vmOf(subject); s.listings[0].State = infra.Partial }, Healthy, ""},
	{"3 an", func(s *scene) {
		s.worker(subject)
		s.vmOf(subject).Unreadable = true
		s.elsewhere("x", "y")
	}, Unknown, InstanceUnreadable},
	{"3 strong", func(s *scene) {
		s.worker(subject)
		s.vmOf(subject)
		s.vm("copy", bios("b-m"))
		s.elsewhere("x", "y")
	}, Unknown, ScopeIncomplete},
	{"7 ", func(s *scene) {
		inDatacenter(s)
		s.vm(subject, bios("b-m"), ref("r-m"), named(subject), key("datacenter", "DC0"))
		s.vm("away", bios("b-m"), key("datacenter", "DC1"))
	}, Healthy, ""},
	{"10 second", func(s *scene) {
		withWitness(s)
		s.vm("re-made", bios("b-y"), uuid("i-m"))
	}, Unknown, IdentityChanged},
	{"10 another", func(s *scene) {
		withWitness(s)
		s.node(prod, bios("b-m"), subject)
	}, Unknown, IdentityChanged},
	{"13 no strong key recorded, nor", func(s *scene) {
		c := s.worker(subject)
		c.Strong, c.Unnamed = infra.Key{}, "odd"
		s.unread(prod)
	}, Unknown, AmbiguousMatch},
	{"13 the Node list", func(s *scene) {
		s.worker(subject).Strong = infra.Key{}
		s.unread(prod)
	}, Unknown, NodeListUnread},
	{"8 home", func(s *scene) {
		s.worker(subject)
		s.listings[0].State = infra.Failed
		s.list("far")
		s.vmIn(1, "away", bios("b-m"))
	}, Unknown, ScopeIncomplete},
	{"9 ", func(s *scene) {
		s.worker(subject)
		s.list("far")
		s.vmIn(1, "away", bios("b-m"))
		s.vm("re-made", uuid("i-m"))
	}, Unknown, FoundElsewhere},
	{"9 ", func(s *scene) {
		weakWorker(s).InfraMissing = true
		s.list("far")
		s.vmIn(1, "away", uuid("i-m"))
		s.vm("new", weakly("w"))
	}, Unknown, FoundElsewhere},
	{"10 infra", func(s *scene) {
		weakWorker(s).InfraMissing = true
		s.vm("new", uuid("i-m"))
	}, Unknown, InfraObjectMissing},
	{"10 second", func(s *scene) { weakWorker(s); s.vm("new", uuid("i-m")); s.vm("older", weakly("w")) }, Healthy, ""},
	{"11 ", func(s *scene) { weakWorker(s); s.vm("new", weakly("w")); s.node(prod, bios("b-x"), subject) }, Healthy, ""},
	{"12 ", func(s *scene) { s.poolWorker(subject); s.node(prod, bios("b-m"), subject) }, Unknown, NodeAlive},
	{"13 member", func(s *scene) { s.poolWorker(subject).Strong = infra.Key{} }, Unknown, PoolMember},
	{"13 member", func(s *scene) { s.poolWorker(subject).Strong = infra.Key{}; s.vm("later", named(subject)) }, Unknown, PoolMember},
	{"13 no strong key recorded, a", func(s *scene) {
		c := s.worker(subject)
		c.Strong, c.InfraMissing = infra.Key{}, true
		s.vm("later", named(subject))
	}, Unknown, AmbiguousMatch},
	{"12 ", func(s *scene) { s.worker(subject).Strong = infra.Key{}; s.node(prod, bios("b-x"), subject) }, Unknown, NodeAlive},
}

// withWitness gives the machine's place and name to a VM of another id; that of
// another machine shows that this is the right vCenter.
func withWitness(s *scene) {
	s.worker(subject).Witness = []infra.Key{key("place", "f/m")}
	s.vm("made again", bios("b-new"), key("place", "f/m"))
	s.worker("x")
	s.vmOf("x")
}

func inDatacenter(s *scene) {
	s.worker(subject).Home.Within = key("datacenter", "DC0")
}

func weakWorker(s *scene) *infra.Claim {
	c := s.worker(subject)
	c.Strong, c.Weak = infra.Key{}, []infra.Key{weakly("w")}
	return c
}

// disjointMachineRows are neighbours that never fit one machine both, by what
// their facts mean.
var disjointMachineRows = map[string]string{
	"4 ":         "row 4 needs two at home, row 5 exactly one",
	"6 strong":   "row 6 needs one that has ended, row 7 one that lives",
	"10 another": "row 10 needs a recorded id, row 11 none",
}

// disjointInstanceRows is the same for instances.
var disjointInstanceRows = map[string]string{
	"5 name": "what is unreadable and has a name like the cluster's is taken by the row before",
}

var instanceScenes = []rowScene{
	{"1 left", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")).Exclude = infra.Managed }, "", NameOnly},
	{"1 left", func(s *scene) { byAnyName(s); s.vm(subject, key("anywhere", "md")).Exclude = infra.Template }, "", NameOnly},
	{"1 left", func(s *scene) { withNode(s); s.vm(subject, bios("b-m")).Exclude = infra.Managed }, "", NameOnly},
	{"1 nobody", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")).Exclude = "vCLS" }, "", "excluded"},
	{"1 nobody", func(s *scene) { s.vm(subject).Exclude = "template" }, "", "excluded"},
	{"1 ", func(s *scene) {
		s.claims.Exclude = []infra.Exclusion{{Key: bios("b-m"), Cause: "bastion"}}
		s.vm(subject, bios("b-m"))
	}, "", "excluded"},
	{"1 ", func(s *scene) {
		s.pool("p")
		s.vm(subject, asg("p"))
		s.tie(infra.Strong, asg("p"), ownedBy("", ""), 0)
	}, "", "excluded"},
	{"2 carries", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, bios("b-x")) }, "", DuplicateID},
	{"2 mentioned", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, named("x")) }, "", SameName},
	{"2 left", func(s *scene) { s.pool("p", "b-m"); s.vm(subject, bios("b-m")) }, "", LeftPool},
	{"6 ", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject).Host = key("host", "x") }, "", CloneOf},
	{"2 shares", func(s *scene) { withNode(s); s.vm("copy", bios("b-m")) }, "", DuplicateID},
	{"3 evidence", func(s *scene) { withNode(s); s.elsewhere("x") }, "", ScopeIncomplete},
	{"3 a", withNode, Ghost, ""},
	{"4 ", func(s *scene) { s.vm(subject, bios("b-m")); s.node(prod, bios("b-m"), "") }, "", ForeignNode},
	{"5 unreadable", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")).Unreadable = true }, "", InstanceUnreadable},
	{"5 at", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")); unprove(s) }, "", ScopeIncomplete},
	{"5 name", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")) }, Ghost, ""},
	{"7 unreadable", func(s *scene) { byFolder(s); s.vm(subject, key("folder", "f")).Unreadable = true }, "", InstanceUnreadable},
	{"7 unreadable", func(s *scene) { s.vm(subject).Unreadable = true }, "", InstanceUnreadable},
	{"7 lies", func(s *scene) { byFolder(s); s.vm(subject, key("folder", "f")) }, "", InClusterFolder},
	{"7 a name", func(s *scene) { byAnyName(s); s.vm(subject, key("anywhere", "md")) }, "", NameOnly},
	{"8 ", func(s *scene) { i := s.vm(subject); i.Unreadable, i.Path = true, "/DC0/vm/else/m" }, "", "out of scope"},
	{"8 ", func(s *scene) { s.vm(subject) }, "", "out of scope"},

	{"1 ", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, bios("b-x")).Exclude = "template" }, "", "excluded"},
	{"2 carries", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, bios("b-x"), named("x")) }, "", DuplicateID},
	{"2 mentioned", func(s *scene) {
		s.pool("p", "b-m")
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, bios("b-m"), named("x"))
	}, "", SameName},
	{"2 left", func(s *scene) {
		s.pool("p", "b-m")
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, bios("b-m")).Host = key("host", "x")
	}, "", LeftPool},
	{"2 mentioned", func(s *scene) {
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, named("x")).Host = key("host", "x")
	}, "", SameName},
	{"6 ", func(s *scene) {
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, bios("b-m")).Host = key("host", "x")
		s.node(prod, bios("b-m"), "later")
	}, "", CloneOf},
	{"6 ", func(s *scene) {
		s.worker("x")
		s.vmOf("x")
		withNode(s)
		s.listings[0].Instances[1].Host = key("host", "x")
		s.vm("copy", bios("b-m"))
	}, "", CloneOf},
	{"2 shares", func(s *scene) {
		byStem(s)
		s.vm(subject, bios("b-m"), key("stem", "md-bcdfg"))
		s.vm("copy", bios("b-m"))
	}, "", DuplicateID},
	{"2 shares", func(s *scene) {
		s.vm(subject, bios("b-m"))
		s.vm("copy", bios("b-m"))
		s.node(prod, bios("b-m"), "")
	}, "", DuplicateID},
	{"2 shares", func(s *scene) { withNode(s); s.vm("copy", bios("b-m")); s.elsewhere("x") }, "", DuplicateID},
	{"5 unreadable", func(s *scene) {
		byStem(s)
		s.vm(subject, key("stem", "md-bcdfg")).Unreadable = true
		unprove(s)
	}, "", InstanceUnreadable},
	{"7 lies", func(s *scene) { byFolder(s); byAnyName(s); s.vm(subject, key("folder", "f"), key("anywhere", "md")) }, "", InClusterFolder},
	{"3 a", func(s *scene) {
		s.vm(subject, bios("b-m"))
		s.node(prod, bios("b-m"), "later")
		s.node(prod, bios("b-m"), "")
	}, Ghost, ""},
	{"4 ", func(s *scene) {
		byStem(s)
		s.vm(subject, bios("b-m"), key("stem", "md-bcdfg"))
		s.node(prod, bios("b-m"), "")
	}, "", ForeignNode},
	{"4 ", func(s *scene) {
		byStem(s)
		s.vm(subject, bios("b-m"), key("stem", "md-bcdfg")).Unreadable = true
		s.node(prod, bios("b-m"), "")
	}, "", ForeignNode},
	{"5 name", func(s *scene) {
		byStem(s)
		byFolder(s)
		s.vm(subject, key("stem", "md-bcdfg"), key("folder", "f"))
	}, Ghost, ""},
}

func withNode(s *scene) {
	s.vm(subject, bios("b-m"))
	s.node(prod, bios("b-m"), "later")
}

func byStem(s *scene) {
	s.tie(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
}

func byAnyName(s *scene) {
	s.tie(infra.Named, key("anywhere", "md"), ownedBy(machineSet, "md-bcdfg"), 0)
}

// unprove takes the folder away that shows the vCenter to be the right one.
func unprove(s *scene) { s.claims.Proofs[0].All = []infra.Key{key("folder", "g")} }

func byFolder(s *scene) { s.tie(infra.Place, key("folder", "f"), ownedBy("", ""), 0) }

// outcome is what became of the subject, as status and reason.
func outcome(r Result) (Status, string) {
	for _, c := range r.Clusters {
		for _, v := range verdictsOf(c) {
			if v.Name == subject {
				return v.Status, v.Reason
			}
		}
	}
	for _, u := range r.Unattributed {
		if u.Instance.Name == subject {
			return "", u.Reason
		}
	}
	if len(r.Excluded) > 0 {
		return "", "excluded"
	}
	return "", "out of scope"
}

func verdictsOf(c Cluster) []Verdict {
	all := slices.Clone(c.ControlPlane.Machines)
	for _, g := range c.WorkerGroups {
		all = append(all, g.Machines...)
	}
	return all
}

func arranged(rs rowScene) *scene {
	s := newScene()
	rs.arrange(s)
	return s
}

// deciding runs a scene and returns the row that decided on the subject.
func deciding(s *scene, ofMachines bool) string {
	t := tables{slices.Clone(machineRows), slices.Clone(instanceRows)}
	row := ""
	for i := range t.machines {
		one := machineRows[i]
		t.machines[i].Decide = func(f *machineFacts) Verdict {
			if ofMachines && f.claim.name == subject {
				row = one.Name
			}
			return one.Decide(f)
		}
	}
	for i := range t.instances {
		one := instanceRows[i]
		t.instances[i].Decide = func(f *instanceFacts) placement {
			if !ofMachines && f.vm.Name == subject {
				row = one.Name
			}
			return one.Decide(f)
		}
	}
	s.with(t)
	return row
}

func TestRowsDecideTheirScenes(t *testing.T) {
	for _, table := range []struct {
		scenes   []rowScene
		machines bool
	}{{machineScenes, true}, {instanceScenes, false}} {
		for i, rs := range table.scenes {
			s := arranged(rs)
			if row := deciding(s, table.machines); !strings.HasPrefix(row, rs.row) {
				t.Errorf("scene %d for row %q was decided by row %q", i, rs.row, row)
			}
			if status, reason := outcome(s.detect()); status != rs.status || reason != rs.reason {
				t.Errorf("scene %d for row %q: got %s %s, want %s %s", i, rs.row, status, reason, rs.status, rs.reason)
			}
		}
	}
}

// walkTable deletes each row, and swaps it with the one after it. Both must
// change the outcome of a scene: the row's own when deleted, any when swapped.
func walkTable[R any](t *testing.T, rows []R, name func(R) string, scenes []rowScene, with func([]R) tables, disjoint map[string]string) {
	t.Helper()
	full := make([]Result, len(scenes))
	for i := range scenes {
		full[i] = arranged(scenes[i]).with(with(rows))
	}
	differs := func(rows []R, only string) bool {
		for i := range scenes {
			if strings.HasPrefix(only, scenes[i].row) || only == "" {
				if !reflect.DeepEqual(arranged(scenes[i]).with(with(rows)), full[i]) {
					return true
				}
			}
		}
		return false
	}
	for i := range rows {
		if !differs(slices.Delete(slices.Clone(rows), i, i+1), name(rows[i])) {
			t.Errorf("row %q can be deleted and its scenes do not notice", name(rows[i]))
		}
		if i+1 == len(rows) {
			continue
		}
		swapped := slices.Clone(rows)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		why := ""
		for prefix := range disjoint {
			if strings.HasPrefix(name(rows[i]), prefix) {
				why = disjoint[prefix]
			}
		}
		if got := differs(swapped, ""); got == (why != "") {
			t.Errorf("rows %q and %q swapped: noticed %v, said to be disjoint: %q", name(rows[i]), name(rows[i+1]), got, why)
		}
	}
}

func TestEveryMachineRowCounts(t *testing.T) {
	walkTable(t, machineRows, func(r machineRow) string { return r.Name }, machineScenes,
		func(rows []machineRow) tables { return tables{rows, instanceRows} }, disjointMachineRows)
}

func TestEveryInstanceRowCounts(t *testing.T) {
	walkTable(t, instanceRows, func(r instanceRow) string { return r.Name }, instanceScenes,
		func(rows []instanceRow) tables { return tables{machineRows, rows} }, disjointInstanceRows)
}

// Rows said to be disjoint must be so in every combination of facts that a
// scene can have; the facts that part them are checked where they are made.
func TestBlindFactNeedsAnUnfoundKey(t *testing.T) {
	s := newScene()
	s.worker(subject)
	s.vm("dark", ref("r-m")).Unreadable = true
	s.vm("a", bios("b-m"))
	s.vm("b", bios("b-m"))
	e := newEstate(&s.snap, s.claims, s.inventory(), noon)
	if f := e.facts(e.claims[0]); len(f.blind) != 0 || len(f.home) != 2 {
		t.Errorf("%d blind and %d at home, want 0 and 2", len(f.blind), len(f.home))
	}
}

// The tables must decide on every machine and every instance.
func TestLastRowsAlwaysFit(t *testing.T) {
	if !machineRows[len(machineRows)-1].Fits(&machineFacts{claim: &claim{Claim: &infra.Claim{}}}) {
		t.Error("the last row for machines has a condition")
	}
	if !instanceRows[len(instanceRows)-1].Fits(&instanceFacts{vm: &vm{}}) {
		t.Error("the last row for instances has a condition")
	}
}

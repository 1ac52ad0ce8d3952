package detector

import (
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// subject is the machine, and also the instance without a machine, that the
// rows decide on in the scenes of this file.
const subject = "m"

// rowScene is a scene in which a row decides on the subject.
type rowScene struct {
	row     string // name of the row
	arrange func(*scene)
	status  code.Status // of the subject; empty for instances that get no verdict
	reason  code.Reason // of the verdict, of the unattributed instance, or "excluded", "out of scope"
}

// machineScenes has the plainest scene of every row first; those after it also
// apply to later rows, so that the order of the rows shows.
var machineScenes = []rowScene{
	{"being-deleted", func(s *scene) {
		s.worker(subject).Dying = &infra.Deletion{Text: "its Machine is being deleted", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		s.vmOf(subject)
	}, code.Unknown, code.BeingDeleted},
	{"kind-unread", func(s *scene) { s.worker(subject); s.vmOf(subject); s.kindUnread() }, code.Unknown, code.KindUnread},
	{"provider-unsupported", func(s *scene) { s.worker(subject).Provider = "" }, code.Unknown, code.UnsupportedProvider},
	{"id-recorded-twice", func(s *scene) { s.worker(subject); s.worker("other").Strong = bios("b-m") }, code.Unknown, code.ClaimedTwice},
	{"id-recorded-twice", func(s *scene) {
		for _, name := range []string{subject, "o1", "o2", "o3", "o4", "o5", "o6"} {
			s.worker(name).Strong = bios("b-m")
		}
	}, code.Unknown, code.ClaimedTwice},
	{"recorded-ids-differ", func(s *scene) { s.worker(subject).Conflict = "b-m and b-x" }, code.Unknown, code.ConflictingIDs},
	{"unreadable-at-home", func(s *scene) { s.worker(subject); s.vm("dark", ref("r-m")).Unreadable = true }, code.Unknown, code.InstanceUnreadable},
	{"id-at-contradicted-home", func(s *scene) { s.worker(subject); s.vmOf(subject); s.elsewhere("x", "y") }, code.Unknown, code.ScopeIncomplete},
	{"id-on-several-at-home", func(s *scene) { s.worker(subject); s.vmOf(subject); s.vm("copy", bios("b-m")) }, code.Healthy, ""},
	{"id-on-several-at-home", func(s *scene) { s.worker(subject); s.vm("a", bios("b-m")); s.vm("b", bios("b-m")) }, code.Unknown, code.AmbiguousMatch},
	{"id-at-home-without-infra-object", func(s *scene) { s.worker(subject).InfraMissing = true; s.vmOf(subject) }, code.Unknown, code.InfraObjectMissing},
	{"pool-member-ended", func(s *scene) { s.poolWorker(subject); s.vmOf(subject).Gone = true }, code.Unknown, code.PoolMember},
	{"ended-and-replaced", func(s *scene) {
		s.worker(subject)
		s.vmOf(subject).Gone = true
		s.vm("re-made", bios("b-x"), uuid("i-m"))
	}, code.Unknown, code.IdentityChanged},
	{"instance-ended", func(s *scene) { s.worker(subject); s.vmOf(subject).Gone = true }, code.Stale, code.InstanceTerminated},
	{"id-at-home", func(s *scene) { s.worker(subject); s.vmOf(subject) }, code.Healthy, ""},
	{"id-at-home", func(s *scene) {
		s.worker(subject).Blockers = []infra.Blocker{
			{Key: key("zone", "gone"), Why: "what is not there keeps nobody"},
			{Key: key("zone", "here"), Why: "its controller waits"},
			{Key: key("zone", "here"), Why: "it makes no VM", Making: true},
		}
		s.listings[0].ProbesFound = []infra.Key{key("zone", "here")}
		s.vmOf(subject)
	}, code.Healthy, ""},
	{"moved-within-listing", func(s *scene) { inDatacenter(s); s.listings[0].State = code.ScopePartial; s.vm("away", bios("b-m")) }, code.Unknown, code.FoundElsewhere},
	{"home-incomplete", func(s *scene) { s.worker(subject); s.listings[0].State = code.ScopePartial }, code.Unknown, code.ScopeIncomplete},
	{"id-elsewhere", func(s *scene) { s.worker(subject); s.list("far"); s.vmIn(1, "away", bios("b-m")) }, code.Unknown, code.FoundElsewhere},
	{"found-without-infra-object", func(s *scene) { weakWorker(s).InfraMissing = true; s.vm("new", weakly("w")) }, code.Unknown, code.InfraObjectMissing},
	{"second-id", func(s *scene) { s.worker(subject); s.vm("re-made", bios("b-x"), uuid("i-m")) }, code.Unknown, code.IdentityChanged},
	{"second-id", func(s *scene) { s.worker(subject).Strong = infra.Key{}; s.vm("new", bios("b-x"), uuid("i-m")) }, code.Healthy, ""},
	{"other-id-in-its-place", func(s *scene) { withWitness(s) }, code.Unknown, code.IdentityChanged},
	{"weaker-key-at-home", func(s *scene) { weakWorker(s); s.vm("new", bios("b-x"), weakly("w")) }, code.Healthy, ""},
	{"node-alive", func(s *scene) { s.worker(subject); s.node(prod, bios("b-m"), subject) }, code.Unknown, code.NodeAlive},
	{"pool-member-not-found", func(s *scene) { s.poolWorker(subject) }, code.Unknown, code.PoolMember},
	{"pool-member-not-found", func(s *scene) { s.poolWorker(subject).LeavesPool = "Cluster API deletes it" }, code.Unknown, code.PoolMember},
	{"no-id-but-namesake", func(s *scene) { s.worker(subject).Strong = infra.Key{}; s.vm("later", named(subject)) }, code.Unknown, code.AmbiguousMatch},
	{"no-id-no-infra-object", func(s *scene) { c := s.worker(subject); c.Strong, c.InfraMissing = infra.Key{}, true }, code.Unknown, code.InfraObjectMissing},
	{"no-id-no-name", func(s *scene) { c := s.worker(subject); c.Strong, c.Unnamed = infra.Key{}, "odd" }, code.Unknown, code.AmbiguousMatch},
	{"no-id-no-infra-object", func(s *scene) {
		c := s.worker(subject)
		c.Strong, c.Unnamed, c.InfraMissing = infra.Key{}, "odd", true
	}, code.Unknown, code.InfraObjectMissing},
	{"node-list-unread", func(s *scene) { s.worker(subject); s.unread(prod) }, code.Unknown, code.NodeListUnread},
	{"never-provisioned", func(s *scene) { s.worker(subject).Strong = infra.Key{} }, code.Stale, code.NotProvisioned},
	{"not-found", func(s *scene) { s.worker(subject) }, code.Stale, code.InstanceNotFound},

	{"being-deleted", func(s *scene) {
		s.worker(subject).Dying = &infra.Deletion{Text: "its Machine is being deleted"}
		s.kindUnread()
	}, code.Unknown, code.BeingDeleted},
	{"kind-unread", func(s *scene) {
		s.worker(subject).Provider = ""
		s.expected.Unread = map[infra.Reading]string{{}: "Machines could not be read"}
	}, code.Unknown, code.KindUnread},
	{"provider-unsupported", func(s *scene) { s.worker(subject).Provider = ""; s.worker("other").Strong = bios("b-m") }, code.Unknown, code.UnsupportedProvider},
	{"id-recorded-twice", func(s *scene) { s.worker(subject).Conflict = "two"; s.worker("other").Strong = bios("b-m") }, code.Unknown, code.ClaimedTwice},
	{"recorded-ids-differ", func(s *scene) {
		s.worker(subject).Conflict = "two"
		s.vm("dark", ref("r-m")).Unreadable = true
	}, code.Unknown, code.ConflictingIDs},
	{"id-on-several-at-home", func(s *scene) { s.worker(subject).InfraMissing = true; s.vmOf(subject); s.vm("copy", bios("b-m")) }, code.Unknown, code.InfraObjectMissing},
	{"id-at-home-without-infra-object", func(s *scene) { s.poolWorker(subject).InfraMissing = true; s.vmOf(subject).Gone = true }, code.Unknown, code.InfraObjectMissing},
	{"id-at-home-without-infra-object", func(s *scene) { s.worker(subject).InfraMissing = true; s.vmOf(subject).Gone = true }, code.Unknown, code.InfraObjectMissing},
	{"pool-member-ended", func(s *scene) {
		s.poolWorker(subject)
		s.vmOf(subject).Gone = true
		s.vm("re-made", bios("b-x"), uuid("i-m"))
	}, code.Unknown, code.PoolMember},
	{"ended-and-replaced", func(s *scene) {
		s.worker(subject).Witness = []infra.Key{key("place", "f/m")}
		s.vmOf(subject).Gone = true
		s.vm("re-made", bios("b-x"), key("place", "f/m"))
	}, code.Unknown, code.IdentityChanged},
	{"id-at-home", func(s *scene) { s.poolWorker(subject); s.vmOf(subject) }, code.Healthy, ""},
	{"member-left-pool", func(s *scene) { s.pool("p"); s.poolWorker(subject); s.vmOf(subject) }, code.Unknown, code.LeftPool},
	{"id-at-home", func(s *scene) { s.pool("p").Guessed = "it is"; s.poolWorker(subject); s.vmOf(subject) }, code.Healthy, ""},
	{"id-at-home", func(s *scene) {
		s.pool("p")
		s.poolWorker(subject)
		s.vm(subject, bios("b-"+subject), asg("p"))
	}, code.Healthy, ""},
	{"id-at-home", func(s *scene) { s.worker(subject); s.vmOf(subject); s.listings[0].State = code.ScopePartial }, code.Healthy, ""},
	{"unreadable-at-home", func(s *scene) {
		s.worker(subject)
		s.vmOf(subject).Unreadable = true
		s.elsewhere("x", "y")
	}, code.Unknown, code.InstanceUnreadable},
	{"id-at-contradicted-home", func(s *scene) {
		s.worker(subject)
		s.vmOf(subject)
		s.vm("copy", bios("b-m"))
		s.elsewhere("x", "y")
	}, code.Unknown, code.ScopeIncomplete},
	{"id-at-home", func(s *scene) {
		inDatacenter(s)
		s.vm(subject, bios("b-m"), ref("r-m"), named(subject), key("datacenter", "DC0"))
		s.vm("away", bios("b-m"), key("datacenter", "DC1"))
	}, code.Healthy, ""},
	{"second-id", func(s *scene) {
		withWitness(s)
		s.vm("re-made", bios("b-y"), uuid("i-m"))
	}, code.Unknown, code.IdentityChanged},
	{"other-id-in-its-place", func(s *scene) {
		withWitness(s)
		s.node(prod, bios("b-m"), subject)
	}, code.Unknown, code.IdentityChanged},
	{"no-id-no-name", func(s *scene) {
		c := s.worker(subject)
		c.Strong, c.Unnamed = infra.Key{}, "odd"
		s.unread(prod)
	}, code.Unknown, code.AmbiguousMatch},
	{"node-list-unread", func(s *scene) {
		s.worker(subject).Strong = infra.Key{}
		s.unread(prod)
	}, code.Unknown, code.NodeListUnread},
	{"home-incomplete", func(s *scene) {
		s.worker(subject)
		s.listings[0].State = code.ScopeFailed
		s.list("far")
		s.vmIn(1, "away", bios("b-m"))
	}, code.Unknown, code.ScopeIncomplete},
	{"id-elsewhere", func(s *scene) {
		s.worker(subject)
		s.list("far")
		s.vmIn(1, "away", bios("b-m"))
		s.vm("re-made", uuid("i-m"))
	}, code.Unknown, code.FoundElsewhere},
	{"id-elsewhere", func(s *scene) {
		weakWorker(s).InfraMissing = true
		s.list("far")
		s.vmIn(1, "away", uuid("i-m"))
		s.vm("new", weakly("w"))
	}, code.Unknown, code.FoundElsewhere},
	{"found-without-infra-object", func(s *scene) {
		weakWorker(s).InfraMissing = true
		s.vm("new", uuid("i-m"))
	}, code.Unknown, code.InfraObjectMissing},
	{"second-id", func(s *scene) { weakWorker(s); s.vm("new", uuid("i-m")); s.vm("older", weakly("w")) }, code.Healthy, ""},
	{"weaker-key-at-home", func(s *scene) { weakWorker(s); s.vm("new", weakly("w")); s.node(prod, bios("b-x"), subject) }, code.Healthy, ""},
	{"node-alive", func(s *scene) { s.poolWorker(subject); s.node(prod, bios("b-m"), subject) }, code.Unknown, code.NodeAlive},
	{"pool-member-not-found", func(s *scene) { s.poolWorker(subject).Strong = infra.Key{} }, code.Unknown, code.PoolMember},
	{"pool-member-not-found", func(s *scene) { s.poolWorker(subject).Strong = infra.Key{}; s.vm("later", named(subject)) }, code.Unknown, code.PoolMember},
	{"no-id-but-namesake", func(s *scene) {
		c := s.worker(subject)
		c.Strong, c.InfraMissing = infra.Key{}, true
		s.vm("later", named(subject))
	}, code.Unknown, code.AmbiguousMatch},
	{"node-alive", func(s *scene) { s.worker(subject).Strong = infra.Key{}; s.node(prod, bios("b-x"), subject) }, code.Unknown, code.NodeAlive},
	{"id-on-several-at-home", func(s *scene) { twoPoweredOff(s); s.unread(prod) }, code.Unknown, code.NodeListUnread},
	{"id-on-several-at-home", func(s *scene) { twoPoweredOff(s); s.listings[0].State = code.ScopePartial }, code.Unknown, code.ScopeIncomplete},
	{"weaker-key-at-home", func(s *scene) {
		weakWorker(s)
		s.vm("off", weakly("w")).Warnings = []code.Reason{code.PoweredOff}
		s.node(prod, bios("b-x"), subject)
	}, code.Unknown, code.NodeAlive},
	{"weaker-key-at-home", func(s *scene) {
		weakWorker(s)
		s.vm("off", weakly("w")).Warnings = []code.Reason{code.PoweredOff}
		s.unread(prod)
	}, code.Unknown, code.NodeListUnread},
}

// twoPoweredOff gives the machine its instance and a copy, neither of which runs.
func twoPoweredOff(s *scene) {
	s.worker(subject)
	s.vmOf(subject).Warnings = []code.Reason{code.PoweredOff}
	s.vm("copy", bios("b-m")).Warnings = []code.Reason{code.PoweredOff}
}

// withWitness gives the machine's place and name to a VM of another id; that of
// another machine shows that this is the right vCenter.
func withWitness(s *scene) {
	s.worker(subject).Witness = []infra.Key{key("place", "f/m")}
	s.vm("created again", bios("b-new"), key("place", "f/m"))
	s.worker("x")
	s.vmOf("x")
}

func inDatacenter(s *scene) {
	s.worker(subject).Home.Within = key("datacenter", "DC0")
}

func weakWorker(s *scene) *infra.ExpectedMachine {
	c := s.worker(subject)
	c.Strong, c.Weak = infra.Key{}, []infra.Key{weakly("w")}
	return c
}

// disjointMachineRows are neighbours that never apply to one machine both, by what
// their facts mean.
var disjointMachineRows = map[string]string{
	"id-on-several-at-home": "it needs two at home, the next row exactly one",
	"instance-ended":        "it needs one that has ended, the next row one that runs",
	"other-id-in-its-place": "it needs a recorded id, the next row none",
}

// disjointInstanceRows is the same for instances.
var disjointInstanceRows = map[string]string{
	"cluster-name": "what is unreadable and has a name like the cluster's is taken by the row before",
}

var instanceScenes = []rowScene{
	{"left-out-but-related", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")).Exclude = infra.Managed }, "", code.NameOnly},
	{"left-out-but-related", func(s *scene) { byAnyName(s); s.vm(subject, key("anywhere", "md")).Exclude = infra.Template }, "", code.NameOnly},
	{"left-out-but-related", func(s *scene) { withNode(s); s.vm(subject, bios("b-m")).Exclude = infra.Managed }, "", code.NameOnly},
	{"excluded", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")).Exclude = "vCLS" }, "", "excluded"},
	{"excluded", func(s *scene) { s.vm(subject).Exclude = "template" }, "", "excluded"},
	{"excluded", func(s *scene) {
		s.expected.Exclude = []infra.Exclusion{{Key: bios("b-m"), Cause: "bastion"}}
		s.vm(subject, bios("b-m"))
	}, "", "excluded"},
	{"excluded", func(s *scene) {
		s.pool("p")
		s.vm(subject, asg("p"))
		s.hint(infra.Strong, asg("p"), ownedBy("", ""), 0)
	}, "", "excluded"},
	{"id-of-matched-machine", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, bios("b-x")) }, "", code.DuplicateID},
	{"referenced-by-machine", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, named("x")) }, "", code.SameName},
	{"former-pool-member", func(s *scene) { s.pool("p", "b-m"); s.vm(subject, bios("b-m")) }, "", code.LeftPool},
	{"host-name-of-machine", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject).Host = key("host", "x") }, "", code.CloneOf},
	{"id-on-two-instances", func(s *scene) { withNode(s); s.vm("copy", bios("b-m")) }, "", code.DuplicateID},
	{"tied-at-contradicted-place", func(s *scene) { withNode(s); s.elsewhere("x") }, "", code.ScopeIncomplete},
	{"node-or-ownership-mark", withNode, code.Ghost, ""},
	{"foreign-node", func(s *scene) { s.vm(subject, bios("b-m")); s.node(prod, bios("b-m"), "") }, "", code.ForeignNode},
	{"unreadable-with-cluster-name", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")).Unreadable = true }, "", code.InstanceUnreadable},
	{"cluster-name-at-unproven-place", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")); unprove(s) }, "", code.ScopeIncomplete},
	{"cluster-name", func(s *scene) { byStem(s); s.vm(subject, key("stem", "md-bcdfg")) }, code.Ghost, ""},
	{"unreadable-in-cluster-place", func(s *scene) { byFolder(s); s.vm(subject, key("folder", "f")).Unreadable = true }, "", code.InstanceUnreadable},
	{"unreadable-in-cluster-place", func(s *scene) { s.vm(subject).Unreadable = true }, "", code.InstanceUnreadable},
	{"in-cluster-place", func(s *scene) { byFolder(s); s.vm(subject, key("folder", "f")) }, "", code.InClusterFolder},
	{"cluster-name-elsewhere", func(s *scene) { byAnyName(s); s.vm(subject, key("anywhere", "md")) }, "", code.NameOnly},
	{"unrelated", func(s *scene) { i := s.vm(subject); i.Unreadable, i.Path = true, "/DC0/vm/else/m" }, "", "out of scope"},
	{"unrelated", func(s *scene) { s.vm(subject) }, "", "out of scope"},

	{"excluded", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, bios("b-x")).Exclude = "template" }, "", "excluded"},
	{"id-of-matched-machine", func(s *scene) { s.worker("x"); s.vmOf("x"); s.vm(subject, bios("b-x"), named("x")) }, "", code.DuplicateID},
	{"referenced-by-machine", func(s *scene) {
		s.pool("p", "b-m")
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, bios("b-m"), named("x"))
	}, "", code.SameName},
	{"former-pool-member", func(s *scene) {
		s.pool("p", "b-m")
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, bios("b-m")).Host = key("host", "x")
	}, "", code.LeftPool},
	{"referenced-by-machine", func(s *scene) {
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, named("x")).Host = key("host", "x")
	}, "", code.SameName},
	{"host-name-of-machine", func(s *scene) {
		s.worker("x")
		s.vmOf("x")
		s.vm(subject, bios("b-m")).Host = key("host", "x")
		s.node(prod, bios("b-m"), "later")
	}, "", code.CloneOf},
	{"host-name-of-machine", func(s *scene) {
		s.worker("x")
		s.vmOf("x")
		withNode(s)
		s.listings[0].Instances[1].Host = key("host", "x")
		s.vm("copy", bios("b-m"))
	}, "", code.CloneOf},
	{"id-on-two-instances", func(s *scene) {
		byStem(s)
		s.vm(subject, bios("b-m"), key("stem", "md-bcdfg"))
		s.vm("copy", bios("b-m"))
	}, "", code.DuplicateID},
	{"id-on-two-instances", func(s *scene) {
		s.vm(subject, bios("b-m"))
		s.vm("copy", bios("b-m"))
		s.node(prod, bios("b-m"), "")
	}, "", code.DuplicateID},
	{"id-on-two-instances", func(s *scene) { withNode(s); s.vm("copy", bios("b-m")); s.elsewhere("x") }, "", code.DuplicateID},
	{"unreadable-with-cluster-name", func(s *scene) {
		byStem(s)
		s.vm(subject, key("stem", "md-bcdfg")).Unreadable = true
		unprove(s)
	}, "", code.InstanceUnreadable},
	{"in-cluster-place", func(s *scene) { byFolder(s); byAnyName(s); s.vm(subject, key("folder", "f"), key("anywhere", "md")) }, "", code.InClusterFolder},
	{"node-or-ownership-mark", func(s *scene) {
		s.vm(subject, bios("b-m"))
		s.node(prod, bios("b-m"), "later")
		s.node(prod, bios("b-m"), "")
	}, code.Ghost, ""},
	{"foreign-node", func(s *scene) {
		byStem(s)
		s.vm(subject, bios("b-m"), key("stem", "md-bcdfg"))
		s.node(prod, bios("b-m"), "")
	}, "", code.ForeignNode},
	{"foreign-node", func(s *scene) {
		byStem(s)
		s.vm(subject, bios("b-m"), key("stem", "md-bcdfg")).Unreadable = true
		s.node(prod, bios("b-m"), "")
	}, "", code.ForeignNode},
	{"cluster-name", func(s *scene) {
		byStem(s)
		byFolder(s)
		s.vm(subject, key("stem", "md-bcdfg"), key("folder", "f"))
	}, code.Ghost, ""},
}

func withNode(s *scene) {
	s.vm(subject, bios("b-m"))
	s.node(prod, bios("b-m"), "later")
}

func byStem(s *scene) {
	s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
}

func byAnyName(s *scene) {
	s.hint(infra.NameOnly, key("anywhere", "md"), ownedBy(machineSet, "md-bcdfg"), 0)
}

// unprove takes the folder away that shows the vCenter to be the right one.
func unprove(s *scene) { s.expected.Proofs[0].All = []infra.Key{key("folder", "g")} }

func byFolder(s *scene) { s.hint(infra.LocationOnly, key("folder", "f"), ownedBy("", ""), 0) }

package verify

import (
	"strings"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// finding is what was concluded of a subject.
type finding struct {
	verdict Verdict
	seen    string    // a clause: "is Deleting"
	since   time.Time // of what was seen
	until   time.Time // when it is expected; zero: not known
	awake   bool      // an annotation would have its controller look again
	paused  bool
	unseen  bool // it is not judged, because something was not listed
	above   bool // it is of what stands above the machine, and no step of a plan does that
}

func not(seen string) *finding                 { return &finding{verdict: Not, seen: seen} }
func as(seen string) *finding                  { return &finding{verdict: As, seen: seen} }
func unjudged(why string) *finding             { return &finding{verdict: NotJudged, seen: why} }
func unseen(why string) *finding               { return &finding{verdict: NotJudged, seen: why, unseen: true} }
func notYet(why string) *finding               { return &finding{verdict: NotYet, seen: why} }
func (f *finding) at(since time.Time) *finding { f.since = since; return f }

// rules say of each outcome what was seen of it. Of others nothing is judged.
var rules = map[code.Outcome]func(*subject) *finding{
	code.Adopted:                      (*subject).adopted,
	code.AdoptedPoweredOn:             (*subject).poweredOn,
	code.AdoptedByName:                (*subject).takenByName,
	code.OtherInstanceTaken:           (*subject).otherTaken,
	code.NewInstanceCreated:           (*subject).created,
	code.NewInstanceNeverJoins:        (*subject).neverJoins,
	code.Stuck:                        (*subject).stuck,
	code.StuckNodeLeft:                (*subject).stuckNodeLeft,
	code.Halted:                       (*subject).halted,
	code.UntouchedPaused:              (*subject).untouched,
	code.ReplacedByMachineHealthCheck: (*subject).replaced,
	code.RolledByOwner:                (*subject).rolled,
	code.DeletedByOwner:               (*subject).deletedByOwner,
	code.DeletedByMachineHealthCheck:  (*subject).deletedByCheck,
	code.MemberGone:                   (*subject).memberGone,
	code.OrphanedAndReplaced:          (*subject).orphaned,
	code.GhostKeepsRunning:            (*subject).keepsRunning,
	code.GhostEtcdMemberKept:          (*subject).etcdMember,
	code.GhostEtcdMemberRemoved:       (*subject).etcdMember,
}

// judge returns the verdict on a subject: that of its rule, where what keeps it is there and stays.
func (f *subject) judge() *finding {
	rule := rules[f.outcome]
	if rule == nil {
		return unjudged(f.describe())
	}
	if out := f.doomed(); out != nil {
		return out
	}
	is := f.decide(rule)
	if kind := f.unreadAbove(); is.verdict == As && kind != "" {
		return unjudged(kind + " could not be read")
	}
	if b := f.bereft(); b != nil && (is.verdict == As || b.verdict == Not && is.verdict != Not) {
		return b
	}
	return is
}

// decide returns the verdict of a rule, where it may be asked.
func (f *subject) decide(rule func(*subject) *finding) *finding {
	switch {
	case len(Kinds(f.cluster.Provider)) == 0:
		return unjudged("what the controller of provider " + f.cluster.Provider + " says of its machines is not known here")
	case f.of.Infrastructure != nil && !isObject(f.of.Infrastructure.Kind):
		return unjudged("what is said of a " + f.of.Infrastructure.Kind + " is not known here")
	case f.unread() != "":
		return unjudged(f.unread() + " could not be read")
	case f.of.Status == code.Ghost:
		return f.ghost(rule)
	case f.there == nil:
		return notYet("waits: its Cluster is not there")
	case f.machine == nil && f.there.Paused:
		return f.waitsPaused("its Machine is not there, and its Cluster is paused")
	case f.paused() && f.outcome != code.UntouchedPaused:
		if d := f.deleting(); d != nil {
			return d
		}
		if f.of.Instance != nil && f.instance() == isMissing {
			return not("is paused, and its VM is gone")
		}
		return f.waitsPaused("is paused")
	}
	return rule(f)
}

func (f *subject) waitsPaused(why string) *finding {
	out := notYet(why)
	out.paused = true
	return out
}

// describe says what is seen of a machine that is not judged.
func (f *subject) describe() string {
	switch {
	case f.machine == nil:
		return "its Machine is not there"
	case !f.machine.Deleting.IsZero():
		return "is Deleting"
	case f.machine.joined():
		return "is Running"
	case f.machine.Phase == "":
		return "no controller has looked at it yet"
	}
	return "is " + f.machine.Phase + f.says()
}

// says returns what the infrastructure's controller says of it, as a clause that may be empty.
func (f *subject) says() string {
	if r := f.taken.say.Reason; r != "" && f.taken.say.Status != "True" {
		return " (" + r + ")"
	}
	return ""
}

func (f *subject) deleting() *finding {
	if f.machine == nil || f.machine.Deleting.IsZero() {
		return nil
	}
	return not("is Deleting").at(f.machine.Deleting)
}

// stays decides where a Machine that is to stay does not, or where nothing was seen of it.
func (f *subject) stays() *finding {
	switch {
	case f.machine == nil && !f.longer(restoring):
		return f.awaits("its Machine is not there yet", restoring)
	case f.machine == nil:
		return not("its Machine is gone")
	case !f.machine.Deleting.IsZero():
		return f.deleting()
	case f.of.Instance != nil && f.instance() == isMissing:
		return not("its VM is gone")
	case !beyondPaused(f.machine.Conditions):
		return f.awaits("no controller has looked at it yet", 2*time.Minute)
	}
	return nil
}

// awaits returns not yet as foretold, and expected within a time after controllers could act.
func (f *subject) awaits(why string, within time.Duration) *finding {
	out := notYet(why)
	if at := f.start(); !at.IsZero() {
		out.until = at.Add(within)
	}
	return out
}

// Times within which what was foretold was seen in recorded restores, with room: CAPV adopted
// within 12 s, CAPO within 60 s, or at the next resync, 20 min after its start. A VM is created
// within seconds there, and in minutes elsewhere; a Node has 10 min (Cluster API's default).
const (
	restoring = 30 * time.Second // a Machine may come after its Cluster
	soon      = 2 * time.Minute
	resync    = 20 * time.Minute
	startup   = 10 * time.Minute
)

// adopted asks for the recorded instance under a Machine that is Running.
func (f *subject) adopted() *finding {
	if out := f.wentOff(); out != nil {
		return out
	}
	if out := f.takenOver(); out != nil {
		return out
	}
	if f.of.IsOff() {
		return not("is Running, and its VM was off when the report was made: it was started")
	}
	return as("is Running")
}

// wentOff returns nil unless the VM was on when the report was made, and is listed as off: nobody was to
// stop it, even if its controller calls it Running.
func (f *subject) wentOff() *finding {
	v := f.of.Instance
	if v == nil || v.State == "" || isOff(v.State) || f.of.IsOff() || f.instance() != stopped || f.machine == nil {
		return nil
	}
	return not("its VM " + v.Name + " is off, and was on when the report was made")
}

// takenOver returns nil where the Machine is Running with the recorded instance.
func (f *subject) takenOver() *finding {
	if out := f.stays(); out != nil {
		return out
	}
	t := f.taken
	switch {
	case f.recorded == "":
		return unjudged("the report has no id by which its VM would be known")
	case t.id != "" && t.id != f.recorded:
		return not("has taken instance " + t.id + " instead of " + f.recorded)
	case t.is == absent || t.is == refused || t.is == broken || t.is == off:
		return not("its controller reports " + t.say.Reason).at(t.say.Since)
	case condition(f.machine.Conditions, "HealthCheckSucceeded").Status == "False":
		c := condition(f.machine.Conditions, "HealthCheckSucceeded")
		return not("a MachineHealthCheck calls it unhealthy: " + c.Reason).at(c.Since)
	case f.second() != "":
		return not("instance " + f.second() + " of its name was created beside its own")
	case f.refusal() != nil:
		return f.refusal()
	case t.is == silent:
		return f.awaits("its controller has not found its VM yet", soon)
	case f.machine.joined():
		return nil
	case condition(f.machine.Conditions, "InfrastructureReady").Status != "True" && f.cluster.Provider == "openstack":
		out := f.awaits("its VM is taken over, and its OpenStackMachine was not woken", resync)
		out.awake = true
		return out
	}
	return f.awaits("its VM is taken over, and its Machine is not Running"+f.nodeSays(), startup)
}

// nodeSays returns what the Machine says of its Node, as a clause that may be empty.
func (f *subject) nodeSays() string {
	if c := condition(f.machine.Conditions, "NodeHealthy"); c.Status != "True" && c.Reason != "" {
		return " (NodeHealthy: " + c.Reason + ")"
	}
	return ""
}

// second returns the id of an instance with the name of the subject's that was created after the
// restore.
func (f *subject) second() string {
	if f.of.Instance == nil || f.of.Instance.Name == "" {
		return ""
	}
	for _, id := range f.get("", f.of.Instance.Name).ids {
		if id != f.recorded && f.ageOf(id) == after {
			return id
		}
	}
	return ""
}

func (f *subject) poweredOn() *finding {
	if out := f.takenOver(); out != nil {
		return out
	}
	switch {
	case !f.of.IsOff():
		return unjudged("is Running, and its VM ran already when the report was made")
	case f.instance() == stopped:
		return f.awaits("is Running, and its VM is listed as off", soon)
	case f.instance() == runs:
		return as("is Running, and its VM was started")
	}
	return unseen("is Running; whether its VM runs was not listed")
}

// idOr decides where no instance is taken yet, or one that does not run.
func (f *subject) idOr() *finding {
	if out := f.stays(); out != nil {
		return out
	}
	switch t := f.taken; {
	case t.is == absent || t.is == refused || t.is == broken || t.is == off:
		return not("its controller reports " + t.say.Reason).at(t.say.Since)
	case f.refusal() != nil:
		return f.refusal()
	case t.id == "":
		return f.awaits("its controller has taken no VM yet", soon)
	}
	return nil
}

func (f *subject) takenByName() *finding {
	if out := f.wentOff(); out != nil {
		return out
	}
	if out := f.idOr(); out != nil {
		return out
	}
	id := f.taken.id
	switch {
	case f.recorded != "" && id == f.recorded:
		return unjudged("has taken the VM whose id is recorded, not one by its name alone")
	case f.recorded != "":
		return not("has taken instance " + id + ", and " + f.recorded + " is recorded")
	case f.of.Instance != nil && id != report.InstanceID(f.of.Instance.ID):
		return not("has taken instance " + id + ", another than was foretold")
	}
	return f.byAge(before, "has taken a VM by its name", "was given a new VM, "+id)
}

func (f *subject) otherTaken() *finding {
	if out := f.idOr(); out != nil {
		return out
	}
	id := f.taken.id
	if id == f.recorded && strings.Contains(id, "/") { // in Azure, where ids are made of names
		return as("has taken the VM that has its name")
	}
	if id == f.recorded || f.of.Instance != nil && id == report.InstanceID(f.of.Instance.ID) {
		return not("has taken its own VM")
	}
	return f.byAge(before, "has taken VM "+id+", which is another's", "was given a new VM, "+id)
}

// byAge returns as foretold where the instance that was taken is of that age.
func (f *subject) byAge(want age, seen, otherwise string) *finding {
	switch f.ageOf(f.taken.id) {
	case want:
		return as(seen)
	case unknownAge:
		if f.get(f.taken.id).instances == nil && !f.complete(f.cluster.Provider, nil) {
			return unseen("has taken VM " + f.taken.id + ", which was not listed")
		}
		return unjudged("has taken VM " + f.taken.id + ", and whether that is older than the restore was not listed")
	}
	return not(otherwise)
}

// newVM decides where the Machine has no new VM.
func (f *subject) newVM() *finding {
	if out := f.stays(); out != nil {
		return out
	}
	t := f.taken
	switch {
	case t.id != "" && t.id == f.recorded:
		return not("has taken its old VM")
	case t.is == refused || t.is == absent:
		return not("no VM was created: its controller reports " + t.say.Reason).at(t.say.Since)
	case t.is == broken || t.is == off:
		return not("its new VM does not run: its controller reports " + t.say.Reason).at(t.say.Since)
	case f.refusal() != nil:
		return f.refusal()
	case t.id == "":
		return f.awaits("no VM is created for it yet", startup)
	}
	if out := f.byAge(after, "", "has taken VM "+t.id+", which is older than the restore"); out.verdict != As {
		return out
	}
	return nil
}

func (f *subject) created() *finding {
	if out := f.newVM(); out != nil {
		return out
	}
	if f.machine.joined() {
		return as("is Running on a new VM")
	}
	return f.awaits("has a new VM, and is not Running"+f.nodeSays(), startup)
}

func (f *subject) neverJoins() *finding {
	if out := f.newVM(); out != nil {
		return out
	}
	switch made := f.get(f.taken.id).instance(nil); {
	case f.machine.joined() || f.machine.nodeHealthy():
		return not("is Running on a new VM")
	case made == nil || made.Created == nil || f.seen.At.Sub(*made.Created) < startup:
		return f.awaits("has a new VM; whether it joins shows later", startup+soon)
	}
	return as("has a new VM, whose Node is not its own")
}

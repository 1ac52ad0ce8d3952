package rehearsal

import (
	"cmp"

	"drift-detector/report"
	"drift-detector/report/code"
)

// sayings are the messages of effects that machines have one by one.
var sayings = map[code.Reason]string{
	code.MachinesDeleted:     "Running machines are deleted with their instances",
	code.RolloutDue:          "A rollout is due: running machines are deleted, one after the other, and created again as their owners specify",
	code.LivingReplaced:      "A MachineHealthCheck has running machines deleted with their instances",
	code.SecondInstance:      "A second instance is created beside one that exists",
	code.OtherInstance:       "The controller takes over an instance that is not the machine's, because it has the machine's name: deleting the Machine terminates it",
	code.EtcdMembersRemoved:  "KubeadmControlPlane removes running etcd members that have no Machine in the backup",
	code.MachinesUnknown:     "Whether the instances of these machines exist, or which they are, is not known",
	code.OutcomeUnknown:      "What becomes of these is not known here",
	code.CopiedID:            "Another instance has the recorded id, or only a copy is left: which one the controller takes is not known, and deleting the Machine may destroy both",
	code.OwnerHalted:         "Nobody manages these machines, because their MachineSet is not in the backup",
	code.MachinesHalted:      "The controller does nothing for these machines until you act; their instances run on",
	code.MachinesBroken:      "These machines have no instance and stay broken until you act",
	code.StaleReplaced:       "These machines have no instance and are replaced",
	code.MachinesMade:        "New instances are created for these machines",
	code.InstancesNeverJoin:  "New instances are created for these machines and never join: their ids cannot be recorded, and nobody deletes them",
	code.GhostsLeft:          "These instances run on, and nobody manages them",
	code.MachinesMissing:     "The backup lacks the Machines of these: their instances are left alone, and their owners may create others",
	code.InstancesStarted:    "The controller starts the instances of these machines",
	code.InstancesStopped:    "The instances of these machines exist and do not run, and no controller starts them",
	code.FoundByNameOnly:     "These machines are found by name alone, which is no proof",
	code.PoolMachinesDeleted: "The Machines of members that left their pools are deleted; nothing that lives is",
}

// effects gathers what is the effect of several machines or owners.
type effects struct{ report.Reasons }

// said adds the effect on one machine.
func (e *effects) said(reason code.Reason, f *machine) { e.Add(reason, sayings[reason], f.object()) }

// onMachine adds what becomes of one machine or instance.
func (e *effects) onMachine(f *machine, o code.Outcome) {
	if f.verdict.Status == code.Unknown && o != code.MemberGone {
		e.said(code.MachinesUnknown, f)
	}
	switch reason := f.effect(o); {
	case reason == "":
	case deletes[o] && f.outlives() != "":
		e.Add(reason, "Machines whose instances run are deleted, and these stay: "+f.outlives(), f.object())
	default:
		e.said(reason, f)
	}
	switch {
	case !deletes[o]:
	case f.takesOther():
		e.said(code.OtherInstance, f)
	case f.doubled():
		e.said(code.SecondInstance, f)
	case f.anyOfSeveral():
		e.said(code.OutcomeUnknown, f)
	}
	if f.warned(code.DuplicateID) || f.warned(code.Reidentified) {
		e.said(code.CopiedID, f)
	}
	if r := f.restore; r != nil && r.Unclaimed != "" && f.Machine != nil {
		e.Add(code.OutcomeUnknown, "The addresses of these machines come from pools, and the backup lacks their IPAddressClaims or IPAddresses: others are created, which may be addresses that other machines have", f.object())
	}
}

// byOutcome is the effect that goes with an outcome: of what lives, and of a machine
// without an instance. What is empty is no effect.
var byOutcome = map[code.Outcome][2]code.Reason{}

// deletes are the outcomes in which somebody deletes the Machine, and with it whatever
// instance its controller took for it.
var deletes = map[code.Outcome]bool{}

func init() {
	for _, r := range code.Table {
		if r.Is(code.Forecast) {
			byOutcome[code.Outcome(r.Code)], deletes[code.Outcome(r.Code)] = r.Effects, r.Deletes
		}
	}
}

// effect returns the code of what becomes of the machine or instance, or empty.
func (f *machine) effect(o code.Outcome) code.Reason {
	codes, known := byOutcome[o]
	unknown := f.verdict.Status == code.Unknown
	switch {
	case !known:
		return code.OutcomeUnknown
	case o == code.Halted && f.leftBehind():
		return code.MachinesBroken
	case f.orphan() && o == code.GhostKeepsRunning:
		return code.MachinesMissing
	case o == code.GhostEtcdMemberKept && f.cluster.remediates:
		return code.EtcdMembersRemoved // once what keeps it is replaced, which nobody has to do
	case unknown && (o == code.CannotKnow || o == code.Stuck || o == code.StuckNodeLeft):
		return "" // that it is Unknown says it
	case f.verdict.Status == code.Stale || unknown && f.verdict.Instance == nil:
		return codes[1]
	}
	return codes[0]
}

// object names the machine, or the instance that has none.
func (f *machine) object() string {
	switch {
	case f.Machine != nil:
		return f.title()
	case !f.orphan():
		return "instance " + f.verdict.Name
	}
	return "Machine " + cmp.Or(f.verdict.Namespace, f.cluster.ID.Namespace) + "/" + f.verdict.Name
}

// generalEffects returns those that no single cluster has.
func (w *world) generalEffects() []report.AnswerReason {
	var e effects
	if priorities, first := ownOrder(w.in.Snapshot); first {
		e.Add(code.ClustersFirst, "The Velero in the backup restores Clusters before their machines ("+prioritiesFlag+"="+priorities+"): while controllers run, each MachineDeployment then creates a new MachineSet and terminates every running worker of the restored one", "Deployment velero")
	}
	e.onWalk(w.walked)
	return e.List
}

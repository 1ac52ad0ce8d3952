package report

import "slices"

// Status is the status of a machine, or the roll-up of what holds machines. Healthy
// is both.
type Status string

// Statuses of a machine.
const (
	Healthy Status = "Healthy" // object and instance match
	Stale   Status = "Stale"   // object without instance
	Ghost   Status = "Ghost"   // instance without object
	Unknown Status = "Unknown" // cannot be decided
)

// Statuses of control plane, workers, group, cluster and summary, worst first;
// the best is Healthy. The third is of the summary only.
const (
	ManualRemediationRequired            Status = "ManualRemediationRequired"
	NeedFurtherConfirmation              Status = "NeedFurtherConfirmation"
	NeedFurtherConfirmationInfraMachines Status = "NeedFurtherConfirmationInfraMachines"
	ManualRemediationNotRequired         Status = "ManualRemediationNotRequired"
)

// Unattributed takes the place of a machine's status for VMs that may or may not belong
// to a cluster (Report.InfraMachines): they have none in a report.
const Unattributed Status = "Unattributed"

// Role is the role of a machine, empty when it is not known.
type Role string

// Roles of a machine.
const (
	RoleControlPlane Role = "control-plane"
	RoleWorker       Role = "worker"
)

// Presence is whether a pool or a resource exists.
type Presence string

// A pool or a resource is absent only where a place that was listed whole lacks it.
const (
	Present   Presence = "present"
	Absent    Presence = "absent"
	Undecided Presence = "unknown"
)

// ScopeState is how much of a scope was listed.
type ScopeState string

// States of a scope.
const (
	ScopeComplete ScopeState = "complete" // listed whole
	ScopePartial  ScopeState = "partial"
	ScopeFailed   ScopeState = "failed"
)

// States of a cluster's Node list; others are reasons why it was not read.
const (
	NodesRead         = "read"
	NodesSkipped      = "skipped"
	NodesNoKubeconfig = "noKubeconfig" // the backup has no kubeconfig
)

// Strength is how much a piece of evidence proves.
type Strength string

// Strengths of evidence, the strongest first.
const (
	Strong Strength = "strong"
	Medium Strength = "medium"
	Weak   Strength = "weak"
)

// QuorumNotApplicable is the quorum of an etcd that does not run on the machines of
// the control plane.
const QuorumNotApplicable = "NotApplicable"

// Severity is how bad the finding of a check is.
type Severity string

// Severities of a check, worst first.
const (
	CheckError   Severity = "error" // part of a cluster does not work after the restore until you act
	CheckWarning Severity = "warning"
	CheckInfo    Severity = "info"
)

// order is the one order of statuses, the most urgent first. Statuses of one row
// are equally urgent: that of a machine is the first of its row, what it makes of
// its set is the second, and of the roll-ups the worst comes first.
var order = [...][]Status{
	{Ghost, ManualRemediationRequired},
	{Unknown, NeedFurtherConfirmation, NeedFurtherConfirmationInfraMachines},
	{Stale, ManualRemediationNotRequired},
	{Healthy},
}

// CheckSeverities returns the severities of checks, the worst first.
func CheckSeverities() []Severity { return []Severity{CheckError, CheckWarning, CheckInfo} }

// Answers returns the words of [Answer] for whether a restore is safe.
func Answers() []Safe { return []Safe{Yes, WithWork, No, Unclear} }

// ScopeStates returns how much of a place may have been listed.
func ScopeStates() []ScopeState { return []ScopeState{ScopeComplete, ScopePartial, ScopeFailed} }

// Presences returns whether something may exist.
func Presences() []Presence { return []Presence{Present, Absent, Undecided} }

// MachineStatuses returns the statuses of machines, the most urgent first.
func MachineStatuses() []Status {
	var out []Status
	for _, row := range order {
		out = append(out, row[0])
	}
	return out
}

// RollUps returns the statuses of control planes, groups, clusters and the
// summary, the worst first.
func RollUps() []Status {
	var out []Status
	for _, row := range order {
		out = append(out, row[1:]...)
	}
	return append(out, Healthy)
}

// Urgency orders statuses, of machines and of roll-ups alike: 0 is the most
// urgent. A status that is not known is as urgent as Unknown.
func Urgency(status Status) int {
	for i, row := range order {
		if slices.Contains(row, status) {
			return i
		}
	}
	return Urgency(Unknown)
}

// RollUpRank orders roll-ups strictly: 0 is the worst. One that is not known is as
// bad as NeedFurtherConfirmation.
func RollUpRank(status Status) int {
	all := RollUps()
	if i := slices.Index(all, status); i >= 0 {
		return i
	}
	return slices.Index(all, NeedFurtherConfirmation)
}

// Worse reports whether roll-up a is worse than b.
func Worse(a, b Status) bool { return RollUpRank(a) < RollUpRank(b) }

// Worst returns the worst of roll-ups; Healthy when there are none.
func Worst(all ...Status) Status {
	out := Healthy
	for _, s := range all {
		if Worse(s, out) {
			out = s
		}
	}
	return out
}

// confirmWarnings are the warnings that need a person whatever the machine's status is.
var confirmWarnings = []Reason{MachineMissing, DuplicateID, Reidentified, Template}

// NeedsPerson reports whether a warning of that code needs a person whatever the
// status of its machine: it is a danger, such as DuplicateID.
func NeedsPerson(warning Reason) bool { return slices.Contains(confirmWarnings, warning) }

// RollUp returns what the machine makes of the status of what holds it: its set, its
// cluster, the whole. It is the detector's rule, for those who look at the machines of
// a finished report again; a test of report/build holds it to the detector's.
func (m *Machine) RollUp() Status {
	row := order[Urgency(m.Status)]
	out := row[min(1, len(row)-1)]
	for _, w := range m.Warnings {
		if slices.Contains(confirmWarnings, w.Reason) {
			out = Worst(out, NeedFurtherConfirmation)
		}
	}
	return out
}

// Mark returns the one character that stands for a status beside its word, so
// that no meaning is left to colour: ! ? - and =.
func Mark(status Status) string { return [...]string{"!", "?", "-", "="}[Urgency(status)] }

package report

import (
	"drift-detector/report/code"
)

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

// CheckSeverities returns the severities of checks, the worst first.
func CheckSeverities() []Severity { return []Severity{CheckError, CheckWarning, CheckInfo} }

// Answers returns the words of [Answer] for whether a restore is safe.
func Answers() []code.Safe { return []code.Safe{code.Yes, code.WithWork, code.No, code.Unclear} }

// ScopeStates returns how much of a place may have been listed.
func ScopeStates() []ScopeState { return []ScopeState{ScopeComplete, ScopePartial, ScopeFailed} }

// Presences returns whether something may exist.
func Presences() []Presence { return []Presence{Present, Absent, Undecided} }

// RollUp returns what the machine makes of the status of what holds it: its set, its
// cluster, the whole.
func (m *Machine) RollUp() code.Status {
	out := m.Status.RollUp()
	for _, w := range m.Warnings {
		if code.NeedsPerson(w.Reason) {
			out = code.Worst(out, code.NeedFurtherConfirmation)
		}
	}
	return out
}

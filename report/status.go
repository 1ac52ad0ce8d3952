package report

// Statuses of a machine.
const (
	Healthy = "Healthy" // object and instance match
	Stale   = "Stale"   // object without instance
	Ghost   = "Ghost"   // instance without object
	Unknown = "Unknown" // cannot be decided
)

// Statuses of control plane, workers, group, cluster and summary, worst first;
// the best is Healthy. The third is of the summary only.
const (
	ManualRemediationRequired            = "ManualRemediationRequired"
	NeedFurtherConfirmation              = "NeedFurtherConfirmation"
	NeedFurtherConfirmationInfraMachines = "NeedFurtherConfirmationInfraMachines"
	ManualRemediationNotRequired         = "ManualRemediationNotRequired"
)

// Roles of a machine; of one that is not known the role is empty.
const (
	RoleControlPlane = "control-plane"
	RoleWorker       = "worker"
)

// Whether a pool or a resource exists.
const (
	Present   = "present"
	Absent    = "absent"
	Undecided = "unknown"
)

// States of a scope.
const (
	ScopeComplete = "complete" // listed whole
	ScopePartial  = "partial"
	ScopeFailed   = "failed"
)

// Severities of a check, worst first.
const (
	CheckError   = "error" // part of a cluster does not work after the restore until somebody acts
	CheckWarning = "warning"
	CheckInfo    = "info"
)

// MachineStatuses returns the statuses of machines, the most urgent first.
func MachineStatuses() []string { return []string{Ghost, Unknown, Stale, Healthy} }

// RollUps returns the statuses of control planes, groups, clusters and the
// summary, the most urgent first.
func RollUps() []string {
	return []string{
		ManualRemediationRequired, NeedFurtherConfirmation, NeedFurtherConfirmationInfraMachines,
		ManualRemediationNotRequired, Healthy,
	}
}

// urgency is the one order of all statuses, the most urgent first.
var urgency = map[string]int{
	Ghost: 0, Unknown: 1, Stale: 2, Healthy: 3,
	ManualRemediationRequired: 0, NeedFurtherConfirmation: 1, NeedFurtherConfirmationInfraMachines: 1, ManualRemediationNotRequired: 2,
}

// Urgency orders statuses, of machines and of roll-ups alike: 0 is the most
// urgent. A status that is not known is as urgent as Unknown.
func Urgency(status string) int {
	if u, ok := urgency[status]; ok {
		return u
	}
	return urgency[Unknown]
}

// Mark returns the one character that stands for a status beside its word, so
// that no meaning is left to colour: ! ? - and =.
func Mark(status string) string { return [...]string{"!", "?", "-", "="}[Urgency(status)] }

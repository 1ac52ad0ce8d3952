package code

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

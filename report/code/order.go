package code

import "slices"

// Unattributed takes the place of a machine's status for VMs that may or may not belong
// to a cluster (Report.InfraMachines): they have none in a report.
const Unattributed Status = "Unattributed"

// order is the one order of statuses, the most urgent first. Statuses of one row
// are equally urgent: that of a machine is the first of its row, what it makes of
// its set is the second, and of the roll-ups the worst comes first.
var order = [...][]Status{
	{Ghost, ManualRemediationRequired},
	{Unknown, NeedFurtherConfirmation, NeedFurtherConfirmationInfraMachines},
	{Stale, ManualRemediationNotRequired},
	{Healthy},
}

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
func RollUps() []Status { return slices.Clone(rollUps) }

var rollUps = func() (out []Status) {
	for _, row := range order {
		out = append(out, row[1:]...)
	}
	return append(out, Healthy)
}()

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
	if i := slices.Index(rollUps, status); i >= 0 {
		return i
	}
	return slices.Index(rollUps, NeedFurtherConfirmation)
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

// NeedsPerson reports whether a warning of that code needs a person whatever the
// status of its machine: it is a danger, such as DuplicateID.
func NeedsPerson(warning Reason) bool {
	r := Of(warning)
	return r.Person
}

// RollUp returns what a machine of the status makes of the status of what holds it: its
// set, its cluster, the whole.
func (s Status) RollUp() Status {
	row := order[Urgency(s)]
	return row[min(1, len(row)-1)]
}

// Mark returns the one character that stands for a status beside its word, so
// that no meaning is left to colour: ! ? - and =.
func Mark(status Status) string { return [...]string{"!", "?", "-", "="}[Urgency(status)] }

package detector

import (
	"cmp"
	"slices"
)

// Reason codes of roll-ups.
const (
	HostedInManagementCluster = "HostedInManagementCluster"
	ControlPlaneLost          = "ControlPlaneLost"
	MachinesNotInBackup       = "MachinesNotInBackup"
)

// machinelessPlanes are the kinds of control planes that have no machines by
// design. Those that ran as pods inside the management cluster are lost with it.
var machinelessPlanes = map[string]struct{ hosted bool }{
	"AWSManagedControlPlane":      {},
	"ROSAControlPlane":            {},
	"AzureManagedControlPlane":    {},
	"AzureASOManagedControlPlane": {},
	"GCPManagedControlPlane":      {},
	"OCIManagedControlPlane":      {},
	"K0smotronControlPlane":       {hosted: true},
	"KamajiControlPlane":          {hosted: true},
	"HostedControlPlane":          {hosted: true},
}

func machineless(kind string) bool {
	_, ok := machinelessPlanes[kind]
	return ok
}

// severity orders the roll-up words, worst highest.
var severity = map[Rollup]int{
	AllHealthy:                          1,
	ManualRemediationNotRequired:        2,
	NeedFurtherConfirmationInfraMachine: 3,
	NeedFurtherConfirmation:             4,
	ManualRemediationRequired:           5,
}

// Worst is the worst of them; AllHealthy when there are none.
func Worst(all ...Rollup) Rollup {
	out := AllHealthy
	for _, r := range all {
		if severity[r] > severity[out] {
			out = r
		}
	}
	return out
}

// confirmWarnings are the warnings that need a person although the machine is Healthy.
var confirmWarnings = map[string]bool{MachineMissing: true, DuplicateID: true, Reidentified: true, Template: true}

// RollUp is what a warning contributes, whatever the status that it goes with.
func (w Warning) RollUp() Rollup {
	if confirmWarnings[w.Reason] {
		return NeedFurtherConfirmation
	}
	return AllHealthy
}

// rollUps are what verdicts contribute, warnings aside.
var rollUps = map[Status]Rollup{
	Healthy: AllHealthy, Stale: ManualRemediationNotRequired, Ghost: ManualRemediationRequired, Unknown: NeedFurtherConfirmation,
}

// RollUp is what a status contributes to what holds it, warnings aside.
func (s Status) RollUp() Rollup {
	if r, ok := rollUps[s]; ok {
		return r
	}
	return NeedFurtherConfirmation
}

// rollUp is the status of one verdict.
func (v *Verdict) rollUp() Rollup {
	out := v.Status.RollUp()
	for _, w := range v.Warnings {
		out = Worst(out, w.RollUp())
	}
	return out
}

// finish puts the verdicts of a set in order and rolls them up. A reason means
// that the set needs confirmation whatever its machines are.
func (s *Set) finish(reason string) {
	slices.SortStableFunc(s.Machines, compareVerdicts)
	s.Status, s.Reason = AllHealthy, reason
	if reason != "" {
		s.Status = NeedFurtherConfirmation
	}
	for i := range s.Machines {
		s.Status = Worst(s.Status, s.Machines[i].rollUp())
	}
}

func compareVerdicts(a, b Verdict) int {
	c := cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	if c != 0 || a.Instance == nil || b.Instance == nil {
		return cmp.Or(c, compareBool(a.Instance != nil, b.Instance != nil))
	}
	return compareInstances(a.Instance, b.Instance)
}

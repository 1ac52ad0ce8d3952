package detector

import (
	"cmp"
	"slices"
)

// Reason codes of roll-ups.
const (
	HostedInManagementCluster Reason = "HostedInManagementCluster"
	ControlPlaneLost          Reason = "ControlPlaneLost"
	MachinesNotInBackup       Reason = "MachinesNotInBackup"
)

// hostedPlanes are the kinds of control planes that run as pods inside the management
// cluster, and are lost with it. They are of no provider of infrastructure.
var hostedPlanes = map[string]bool{
	"K0smotronControlPlane": true, "KamajiControlPlane": true, "HostedControlPlane": true,
}

// managedPlanes are the kinds of control planes without machines that infrastructures
// run which no provider here lists. Those of the others are in their Specs.
var managedPlanes = map[string]bool{
	"AzureManagedControlPlane": true, "AzureASOManagedControlPlane": true, "GCPManagedControlPlane": true, "OCIManagedControlPlane": true,
}

// machineless reports whether control planes of a kind have no machines by design.
func (o *owners) machineless(kind string) bool {
	return o.managed[kind] || managedPlanes[kind] || hostedPlanes[kind]
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
		if r != out && severity[r] > severity[out] {
			out = r
		}
	}
	return out
}

// confirmWarnings are the warnings that need a person although the machine is Healthy.
var confirmWarnings = map[Reason]bool{MachineMissing: true, DuplicateID: true, Reidentified: true, Template: true}

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
func (s *Set) finish(reason Reason) {
	slices.SortStableFunc(s.Machines, compareVerdicts)
	s.Status, s.Reason = AllHealthy, reason
	if reason != "" {
		s.Status = NeedFurtherConfirmation
	}
	for _, v := range s.Machines {
		s.Status = Worst(s.Status, v.rollUp())
	}
}

func compareVerdicts(a, b *Verdict) int {
	c := cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	if c != 0 || a.Instance == nil || b.Instance == nil {
		return cmp.Or(c, compareBool(a.Instance != nil, b.Instance != nil))
	}
	return compareInstances(a.Instance, b.Instance)
}

package detector

import (
	"cmp"
	"slices"

	"drift-detector/report/code"
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

// rollUp is the status of one verdict.
func (v *Verdict) rollUp() code.Status {
	out := v.Status.RollUp()
	for _, w := range v.Warnings {
		if code.NeedsPerson(w.Reason) {
			out = code.Worst(out, code.NeedFurtherConfirmation)
		}
	}
	return out
}

// finish puts the verdicts of a set in order and rolls them up. A reason means
// that the set needs confirmation whatever its machines are.
func (s *Set) finish(reason code.Reason) {
	slices.SortStableFunc(s.Machines, compareVerdicts)
	s.Status, s.Reason = code.Healthy, reason
	if reason != "" {
		s.Status = code.NeedFurtherConfirmation
	}
	for _, v := range s.Machines {
		s.Status = code.Worst(s.Status, v.rollUp())
	}
}

func compareVerdicts(a, b *Verdict) int {
	c := cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	if c != 0 || a.Instance == nil || b.Instance == nil {
		return cmp.Or(c, compareBool(a.Instance != nil, b.Instance != nil))
	}
	return compareInstances(a.Instance, b.Instance)
}

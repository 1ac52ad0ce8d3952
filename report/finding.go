package report

import (
	"slices"

	"drift-detector/report/code"
)

// Finding reports whether there is something to say of the machine: it is not plainly
// Healthy, or carries a warning. Findings that a rule sets aside are findings.
func (m *Machine) Finding() bool { return m.Status != code.Healthy || len(m.Warnings) > 0 }

// HasStrongEvidence reports whether any evidence is strong.
func (m *Machine) HasStrongEvidence() bool {
	return slices.ContainsFunc(m.Evidence, func(e Evidence) bool { return e.Strength == code.Strong })
}

// IsOff reports whether the VM of the machine is known not to run.
func (m *Machine) IsOff() bool {
	return slices.ContainsFunc(m.Warnings, func(w Warning) bool { return w.Reason == code.PoweredOff })
}

// MayBelongTo returns the clusters, as namespace/name, that the VM may belong to; none where that is
// not known. It is one VM however many they are.
func (m *InfraMachine) MayBelongTo() []string {
	if m.Cluster != "" {
		return []string{m.Cluster}
	}
	return m.Candidates
}

// ToConfirm counts the VMs to confirm that neither a rule sets aside nor a person has
// confirmed.
func (r *Report) ToConfirm() int {
	n := 0
	for i := range r.InfraMachines {
		n += one(r.InfraMachines[i].Ignored == nil && r.InfraMachines[i].Confirmed == nil)
	}
	return n
}

// Open counts the machines of which the statuses of the report speak: all
// without those that rules set aside.
func (r *Report) Open() MachineCounts {
	n := r.Summary.Machines
	if i := r.Summary.IgnoredMachines; i != nil {
		n.Total -= i.Total
		n.Healthy -= i.Healthy
		n.Stale -= i.Stale
		n.Ghost -= i.Ghost
		n.Unknown -= i.Unknown
	}
	return n
}

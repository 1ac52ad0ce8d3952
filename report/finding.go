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
	return slices.ContainsFunc(m.Evidence, func(e Evidence) bool { return e.Strength == Strong })
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

package plan

import (
	"slices"

	"drift-detector/report"
)

// Fill writes into the report what to do about each of its findings. Whatever
// steps it held before are forgotten. The same report gives the same steps.
func Fill(r *report.Report) {
	b := open(r)
	b.plan()
	for m, steps := range b.steps {
		m.Remediation = steps
	}
	for m, steps := range b.others {
		m.Remediation = steps
	}
}

// plan makes the steps of every finding.
func (b *book) plan() {
	b.steps, b.others = map[*report.Machine][]report.Step{}, map[*report.InfraMachine][]report.Step{}
	for i := range b.Clusters {
		for _, s := range sets(&b.Clusters[i]) {
			for j := range s.machines {
				b.steps[&s.machines[j]] = b.machine(s, &s.machines[j])
			}
		}
	}
	for i := range b.InfraMachines {
		b.others[&b.InfraMachines[i]] = b.infraMachine(&b.InfraMachines[i])
	}
}

// machine is what to do about one machine or Ghost; nothing about one that is
// healthy, is set aside by an ignore rule, or is of the management cluster
// itself, which is lost anyway.
func (b *book) machine(s *set, m *report.Machine) []report.Step {
	var d draft
	if s.cluster.Self || m.Ignored != nil {
		return nil
	}
	if warned(m, report.DuplicateID) {
		b.duplicateID(&d, s.cluster, m)
	}
	switch {
	case m.Status == report.Ghost:
		b.ghost(&d, s, m)
	case m.Status == report.Stale:
		b.stale(&d, s, m)
	case m.Status == report.Unknown:
		b.unknown(&d, s, m)
	default:
		b.warnings(&d, s, m)
	}
	return d.steps
}

func warned(m *report.Machine, reason string) bool {
	return slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == reason })
}

// outcome is the forecast of a machine, "" when the report has none.
func outcome(m *report.Machine) string {
	if m.Forecast == nil {
		return ""
	}
	return m.Forecast.Outcome
}

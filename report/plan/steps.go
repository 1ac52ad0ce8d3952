package plan

import (
	"drift-detector/report"
	"drift-detector/report/code"
)

// Fill writes into the report what to do about each of its findings, and the list of all that
// is to be done. Whatever it held of that before is forgotten. The same report gives the same steps. The variables
// that the commands read are listed beside them.
func Fill(r *report.Report, tools Tools) {
	pl := newPlanner(r, tools)
	pl.texts = true
	pl.plan()
	for _, m := range pl.machines() {
		m.Remediation = plain(pl.steps[m])
	}
	for m, steps := range pl.others {
		m.Remediation = plain(steps)
	}
	p := pl.arranged()
	pl.correct(&p)
	r.ToDo = p.toDo()
	r.Variables = nil
	for _, v := range pl.variables {
		if pl.read[v.Name] {
			r.Variables = append(r.Variables, report.Variable{Name: v.Name, Meaning: v.Meaning})
		}
	}
}

// plain returns steps as reports have them.
func plain(steps []Step) []report.Step {
	if steps == nil {
		return nil
	}
	out := make([]report.Step, len(steps))
	for i := range steps {
		out[i] = steps[i].Step
	}
	return out
}

// plan makes the steps of every finding.
func (pl *planner) plan() {
	n, _ := pl.listed()
	pl.steps, pl.others, pl.read = make(map[*report.Machine][]Step, n), make(map[*report.InfraMachine][]Step, len(pl.InfraMachines)), map[string]bool{}
	for s, m := range pl.machines() {
		if steps := pl.machine(s, m); len(steps) > 0 {
			pl.steps[m] = steps
		}
	}
	for i := range pl.InfraMachines {
		pl.others[&pl.InfraMachines[i]] = pl.infraMachine(&pl.InfraMachines[i])
	}
}

// machine returns what to do about one machine or Ghost; nothing about one that is
// healthy, is set aside by an ignore rule, or is of the management cluster
// itself, which is lost anyway.
func (pl *planner) machine(s *set, m *report.Machine) []Step {
	if s.cluster.Self || s.cluster.Confirmed != nil || m.Ignored != nil || m.Confirmed != nil && !warned(m, code.DuplicateID) && !warned(m, code.MachineMissing) {
		return nil
	}
	d := draft{steps: pl.room[:0], read: pl.read, texts: pl.texts}
	if warned(m, code.DuplicateID) {
		pl.duplicateID(&d, s.cluster, m)
	}
	switch {
	case m.Confirmed != nil && warned(m, code.MachineMissing):
		d.after("Left as it is, " + m.Confirmed.OnTheWord() + ": do not delete what was restored of it without its Machine, because its controller deletes the VM with that.").kind = reminder
	case m.Status == code.Ghost:
		pl.ghost(&d, s, m)
	case m.Status == code.Stale:
		pl.stale(&d, s, m)
	case m.Status == code.Unknown:
		pl.unknown(&d, s, m)
	default:
		pl.warnings(&d, s, m)
	}
	return pl.done(&d)
}

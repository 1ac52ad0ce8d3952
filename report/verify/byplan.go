package verify

import (
	"slices"

	"drift-detector/report/code"
)

// takenOver are the outcomes of machines that no step of a plan deletes or replaces.
var takenOver = []code.Outcome{code.Adopted, code.AdoptedPoweredOn, code.AdoptedByName}

// byPlan returns a finding where the restore was made by the report's plan, whose steps are done by
// people: what they delete and create is not held against the forecast.
func (f *subject) byPlan(is *finding) *finding {
	switch {
	case !f.seen.ByPlan || is.verdict != Not || is.above || slices.Contains(takenOver, f.outcome):
		return is
	case f.isMended():
		return as("is Running, after the plan's steps")
	case len(f.of.Remediation) > 0:
		out := unjudged(is.seen + "; the plan has steps that change it")
		out.since = is.since
		return out
	}
	return is
}

// isMended reports whether the controllers have the VM that they were not to find, or to take, without
// the plan's steps.
func (f *subject) isMended() bool {
	switch f.outcome {
	case code.Halted, code.Stuck, code.StuckNodeLeft:
		return f.machine != nil && f.machine.Deleting.IsZero() && f.machine.joined() && (f.taken.id == "" || f.recorded == "" || f.taken.id == f.recorded)
	}
	return false
}

// changed returns how many machines of a group the plan has steps for: each may be gone, with another
// Machine in its place.
func (g *group) changed() int {
	n := 0
	for i := range g.machines {
		if len(g.machines[i].Remediation) > 0 {
			n++
		}
	}
	return n
}

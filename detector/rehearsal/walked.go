package rehearsal

import (
	"slices"
	"strings"

	"drift-detector/infra/walk"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// What the steps of the walk that did not pass do to the forecast: they halt a cluster, keep a
// controller from a machine, are effects, leave the answer open, or are conditions.

// halting returns the steps for which no controller acts on the cluster.
func (w *world) halting(steps []*walk.Step) []standstill {
	var out []standstill
	for _, s := range steps {
		if w.waits(s, walk.Halts) {
			object := s.Subject
			if len(s.Objects) > 0 {
				object = s.Objects[0]
			}
			until := strings.TrimPrefix(s.Until, object+" ")
			if until == "" {
				until = "is mended"
			}
			out = append(out, standstill{Object: object, Why: "because " + s.Why + " (" + s.Row.ID + "): " + s.Does().What, Until: until, step: s.Row.ID})
		}
	}
	return out
}

// waits reports whether the controllers wait for a step of the walk: one that halts a cluster
// or keeps a machine, unless it is mended by the plan.
func (w *world) waits(s *walk.Step, effect walk.Effect) bool {
	return s.Does().Effect == effect && (!w.byPlan || s.Until == "")
}

// finds reports whether a row found that in the cluster.
func (c *cluster) finds(row string, found walk.Found) bool {
	return slices.ContainsFunc(c.walked, func(s *walk.Step) bool { return s.Row.ID == row && s.Found == found })
}

// waits says for which step of the walk the controller does nothing for the machine, or is
// empty.
func (f *machine) waits() string {
	s := f.waiting
	if s == nil {
		return ""
	}
	return s.Why + ": " + s.Does().What
}

// onWalk adds the effects of the steps that did not pass. Halts are said of the cluster, and
// waiting machines have an outcome of their own.
func (e *effects) onWalk(steps []*walk.Step) {
	for _, s := range steps {
		switch does := s.Does(); {
		case s.Found == walk.Unread:
			e.Add(code.OutcomeUnknown, s.Row.Of+" asks for "+s.Row.Asks+", and that was not seen: "+s.Why, s.Subject).Row = s.Row.ID
		case does.Effect == walk.Halts || does.Effect == walk.Waits:
		case Reason(s) != "":
			object := s.Subject
			if object == "" {
				object = s.Objects[0]
			}
			e.Add(Reason(s), english.Capital(does.What)+": "+s.Why, object).Row = s.Row.ID
		}
	}
}

// acting are the effects by which something of a cluster is started, made, replaced or
// ended.
var acting = map[code.Reason]bool{
	code.MachinesDeleted: true, code.PoolScaledBack: true, code.RolloutDue: true, code.LivingReplaced: true, code.SecondInstance: true, code.OtherInstance: true,
	code.EtcdMembersRemoved: true, code.MachinesMade: true, code.InstancesNeverJoin: true, code.PoolGrown: true, code.StaleReplaced: true, code.InstancesStarted: true, code.CreatedFirst: true, code.SecondControlPlane: true,
}

// acts returns what the restored controllers do to the management cluster itself. It is
// lost, so that what is broken of it is nobody's concern, and what acts is: not while it is
// restored paused, which is a condition then.
func acts(c *cluster, all []report.AnswerReason) []report.AnswerReason {
	var out []report.AnswerReason
	for _, e := range all {
		switch {
		case e.Code == code.ManagementClusterActs || e.Code == code.ManagementClusterRuns || e.Code == code.OutcomeUnknown || e.Code == code.SpecUnseen:
		case c.Paused:
			continue
		case acting[e.Code] || e.Code == code.ControlPlaneDown && c.remaking != "":
			e.Code, e.Message = code.ManagementClusterActs, "Of the management cluster itself: "+e.Message
		default:
			continue
		}
		out = append(out, e)
	}
	return out
}

// walkConditions returns what nobody could see, by their codes.
func walkConditions(t *Trace) []report.Note {
	objects := map[code.Reason][]string{}
	for i := range t.Steps {
		if s := &t.Steps[i]; s.Found == walk.Unseen {
			objects[s.Row.Condition] = append(objects[s.Row.Condition], s.Objects...)
		}
	}
	var out []report.Note
	for _, c := range Conditions {
		of, unseen := objects[c.Code]
		if !unseen {
			continue
		}
		text := c.Text
		if slices.Sort(of); len(of) > 0 {
			of = slices.Compact(of)
			text += ": " + english.First(10, of)
		}
		out = append(out, report.Note{Code: c.Code, Message: text, Objects: of})
	}
	return out
}

package rehearsal

import (
	"slices"

	"drift-detector/infra/walk"
	"drift-detector/report"
	"drift-detector/report/code"
)

// deed is a question whose answer rests on what others have found: what is wanted and what there
// is, which machines are unhealthy, whether the control plane is initialised. Ask notes what does
// not pass, and reports whether the question arises.
type deed[Of any] struct {
	walk.Row
	ask func(*actions, Of) bool
}

// Deeds are asked once all steps are taken that rest on no other, in this order: of each cluster,
// of its control plane and each group of its workers with all their machines, and of the control
// plane as a whole.
var (
	clusterDeeds = slices.Concat(infrastructureDeeds, checkDeeds, topologyDeeds, []deed[*cluster]{planeThereDeed, bootstrapThereDeed, classWholeDeed, groupsThereDeed})
	machineDeeds = slices.Concat(ownerDeeds, healthDeeds, remedyDeeds)
	setDeeds     = slices.Concat(templateDeeds, poolDeeds, replicaDeeds, rolloutDeeds)
)

// actions are what the restored controllers do to one cluster: what the answer says of it, and the
// steps that did not pass.
type actions struct {
	effects
	steps  []walk.Step
	passed map[string]int // nil: nobody counts

	row     *walk.Row
	of      step
	subject string // of a set; empty: of says it
	found   bool   // the row found something
}

// effectsOn plays what the controllers do to one cluster, once it is not paused. The answer says
// first what the clusters wait for, then what becomes of machines and what their owners do, and
// then what else did not pass.
func (w *world) effectsOn(c *cluster, f *Cluster) []report.AnswerReason {
	var p actions
	if !w.byPlan {
		p.passed = w.trace.Passed
	}
	p.of = step{c: c}
	asked(&p, clusterDeeds, c)
	machines := f.ControlPlane.Machines
	for i, s := range c.all {
		if i > 0 {
			machines = f.Groups[i-1].Machines
		}
		for j, m := range s.members {
			p.onMachine(m, machines[j].After)
			if m.Machine != nil {
				p.of.machine = m
				asked(&p, machineDeeds, m)
			}
		}
		p.of.machine, p.subject = nil, s.title()
		asked(&p, setDeeds, s)
	}
	p.subject = c.control.title()
	asked(&p, planeDeeds, c)
	p.onWalk(c.walked)
	if !w.byPlan {
		w.played = append(w.played, p.steps...)
	}
	return p.List
}

func asked[Of any](p *actions, deeds []deed[Of], of Of) {
	for i := range deeds {
		d := &deeds[i]
		p.row, p.found = &d.Row, false
		if d.ask(p, of) && !p.found && p.passed != nil {
			p.passed[d.ID]++
		}
	}
}

// notes adds a step that did not pass, of which the outcomes of machines say what follows.
func (p *actions) notes(found walk.Found, why string, objects ...string) *walk.Step {
	p.found = true
	s := walk.Step{Row: p.row, Cluster: p.of.c.ID, Subject: p.subject, Machine: -1, Answer: walk.Answer{Found: found, Why: why, Objects: objects}}
	if s.Subject == "" || p.of.machine != nil {
		s.Subject = p.of.subject()
	}
	if p.of.machine != nil {
		s.Machine = p.of.machine.index
	}
	p.steps = append(p.steps, s)
	return &p.steps[len(p.steps)-1]
}

// finds adds a step that did not pass, and the reason that it is of the answer, in a sentence
// without its full stop. It is about the objects, else about the subject of the step.
func (p *actions) finds(found walk.Found, says string, objects ...string) *report.AnswerReason {
	s := p.notes(found, says, objects...)
	reason := Reason(s)
	if found == walk.Unread {
		reason = code.OutcomeUnknown
	}
	return p.says(reason, s)
}

// lacks is finds of what could not be looked up.
func (p *actions) unread(reason code.Reason, says string) { p.says(reason, p.notes(walk.Unread, says)) }

func (p *actions) says(reason code.Reason, s *walk.Step) *report.AnswerReason {
	about := s.Objects
	if about == nil {
		about = []string{s.Subject}
	}
	r := p.Add(reason, s.Why, about...)
	r.Row = s.Row.ID
	return r
}

func appendRows[Of any](rows []walk.Row, deeds []deed[Of]) []walk.Row {
	for i := range deeds {
		rows = append(rows, deeds[i].Row)
	}
	return rows
}

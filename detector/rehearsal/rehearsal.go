package rehearsal

import (
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Inputs are what a restore is rehearsed from.
type Inputs struct {
	Snapshot  *backup.Snapshot
	Expected  infra.Expected  // made from the Snapshot; may be Decided
	Inventory infra.Inventory // the one that Result was decided from, with its instances, unless [infra.Expected.Look] has looked
	Result    detector.Result
	// Controllers are those of the providers, by the providers' names.
	Controllers map[string]infra.Controller
	Secrets     Secrets
	Now         time.Time // the clock: certificates expire, and rollouts become due
}

// Rehearsal is what a restore does, read off one trace.
type Rehearsal struct {
	Trace    Trace
	Forecast *Forecast // as Velero restores by default
	// ByPlan is the forecast of a restore by the plan, of which there are only the effects. It is
	// Forecast where nothing keeps the controllers from anything that the plan mends.
	ByPlan *Forecast
}

// Trace is what the controllers' questions found, in the order in which they are asked.
// Steps that passed are counted alone.
type Trace struct {
	Steps  []walk.Step
	Passed map[string]int // by Row.ID
}

// Rehearse asks all questions of all controllers, cluster by cluster, and says what follows. It
// is a pure function of its inputs.
func Rehearse(in Inputs) Rehearsal {
	w := newWorld(&in)
	w.askAll()
	w.readTrace()
	tables := rules{outcomeRows, conditionRows}
	out := Rehearsal{Trace: w.trace, Forecast: tables.of(w)}
	if !w.moved() { // of which no plan can mend anything before controllers act
		out.ByPlan = tables.byPlan(w, out.Forecast)
	}
	return out
}

func (w *world) askAll() {
	for i := range restoreRows {
		r := &restoreRows[i]
		w.ask(&r.Row, step{}, r.ask(w))
	}
	for _, c := range w.clusters {
		for i := range clusterRows {
			r := &clusterRows[i]
			w.ask(&r.Row, step{c: c}, r.ask(c))
		}
		for i := range c.machines {
			m := &c.machines[i]
			for j := range machineRows {
				r := &machineRows[j]
				w.ask(&r.Row, step{c: c, machine: m}, r.ask(m))
			}
		}
	}
	w.providers()
}

// readTrace gives the steps that did not pass to the clusters and machines that they are of.
func (w *world) readTrace() {
	for i := range w.trace.Steps {
		s := &w.trace.Steps[i]
		switch c := w.at[s.Cluster]; {
		case c != nil:
			c.walked = append(c.walked, s)
		case s.Cluster == backup.ClusterID{}:
			w.walked = append(w.walked, s)
		}
		if s.Machine < 0 || w.machines[s.Machine] == nil {
			continue
		}
		switch m, effect := w.machines[s.Machine], s.Does().Effect; {
		case effect == walk.Deletes && s.Found == walk.Several:
			m.contested = s
		case effect == walk.Doubles:
			m.doubling = true
		}
	}
}

// row is a question and how its answer is found.
type row[Of any] struct {
	walk.Row
	ask func(Of) walk.Answer
}

// step is of whom a question was asked.
type step struct {
	c       *cluster
	machine *machine
}

// subject names it.
func (s *step) subject() string {
	switch {
	case s.machine != nil:
		return s.machine.title()
	case s.c != nil:
		return s.c.title()
	}
	return ""
}

// notAsked is the answer where the question does not arise.
var notAsked = walk.Answer{}

var passed = walk.Answer{Found: walk.Passed}

func none(why, until string, objects ...string) walk.Answer {
	return walk.Answer{Found: walk.None, Why: why, Until: until, Objects: objects}
}

func differs(why, until string, objects ...string) walk.Answer {
	return walk.Answer{Found: walk.Differs, Why: why, Until: until, Objects: objects}
}

func several(why, until string, objects ...string) walk.Answer {
	return walk.Answer{Found: walk.Several, Why: why, Until: until, Objects: objects}
}

func unread(why string, objects ...string) walk.Answer {
	return walk.Answer{Found: walk.Unread, Why: why, Objects: objects}
}

func unseen(objects ...string) walk.Answer {
	return walk.Answer{Found: walk.Unseen, Objects: objects}
}

// ask notes the answer to a question.
func (w *world) ask(r *walk.Row, of step, a walk.Answer) {
	switch a.Found {
	case "":
		return
	case walk.Passed:
		w.trace.Passed[r.ID]++
		return
	}
	s := walk.Step{Row: r, Subject: of.subject(), Machine: -1, Answer: a}
	if of.c != nil {
		s.Cluster = of.c.ID
	}
	if of.machine != nil {
		s.Machine = of.machine.index
	}
	w.trace.Steps = append(w.trace.Steps, s)
}

// providers adds the steps of the infrastructure providers: what the backup alone decides, what a
// listing decides, and those on the instance that each machine's controller takes.
func (w *world) providers() {
	for s := range w.in.Expected.Answers(&w.in.Inventory) {
		if s.Secret != nil && w.in.Secrets.Pools[*s.Secret] {
			s.Answer = passed
		}
		w.note(s.Step)
	}
	for _, c := range w.clusters {
		inspect := w.in.Expected.OnInstance[c.Provider]
		if inspect == nil {
			continue
		}
		for i := range c.machines {
			m := &c.machines[i]
			if m.verdict == nil || m.verdict.Instance == nil || m.verdict.Status != code.Healthy {
				continue
			}
			for _, s := range inspect(m.index, infra.Sight{Instance: m.verdict.Instance, Listing: w.in.Inventory.Named(m.verdict.Scope)}) {
				if s.Found != walk.Passed {
					s.Cluster, s.Machine, s.Subject = c.ID, m.index, m.title()
				}
				w.note(s)
			}
		}
	}
}

func (w *world) note(s walk.Step) {
	switch {
	case s.Found == walk.Passed || s.Found == "":
		w.trace.Passed[s.Row.ID] += min(1, len(s.Found))
		return
	case s.Found == walk.Unseen && len(s.Objects) == 1:
		// What all machines of a cluster have in common is a condition once.
		at := seen{s.Row, s.Cluster, s.Objects[0]}
		if w.unseen[at] {
			return
		}
		w.unseen[at] = true
	}
	w.trace.Steps = append(w.trace.Steps, s)
}

// seen is what could not be seen of an object.
type seen struct {
	row     *walk.Row
	cluster backup.ClusterID
	object  string
}

// Rows returns all rows of Cluster API itself, in the order of their walk.
func Rows() []walk.Row {
	var out []walk.Row
	for _, r := range restoreRows {
		out = append(out, r.Row)
	}
	for _, r := range clusterRows {
		out = append(out, r.Row)
	}
	for _, r := range machineRows {
		out = append(out, r.Row)
	}
	out = appendRows(out, clusterDeeds)
	out = appendRows(out, machineDeeds)
	out = appendRows(out, setDeeds)
	return appendRows(out, planeDeeds)
}

func named(kind, namespace, name string) string {
	return kind + " " + namespace + "/" + name
}

// byEffect is the reason of the answer for each effect.
var byEffect = map[walk.Effect]code.Reason{
	walk.Deletes: code.MachinesDeleted, walk.Replaces: code.RolloutDue, walk.RemovesMember: code.EtcdMembersRemoved, walk.Doubles: code.SecondInstance,
	walk.Halts: code.ClusterHalted, walk.OwnerHalts: code.OwnerHalted, walk.Waits: code.MachinesHalted, walk.Makes: code.MachinesMade,
	walk.Starts: code.InstancesStarted, walk.NotReady: code.MachinesNotReady,
}

// Reason returns the reason of the answer that a step leaves: that of its row, else that of its
// effect. It is empty where nothing of what runs is touched, and where the step passed.
func Reason(s *walk.Step) code.Reason {
	d := s.Does()
	if d.Code != "" {
		return d.Code
	}
	return byEffect[d.Effect]
}

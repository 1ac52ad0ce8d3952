package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// ToDo returns what a person has to do or to decide about the restore of a report, phase by
// phase, the most dangerous first, with the steps of the report's plan. What controllers do by
// themselves and nobody has to see to is no part of it.
func ToDo(r *report.Report, tools Tools) []report.ToDo {
	p := New(r, tools)
	return p.toDo()
}

func (p *Plan) toDo() []report.ToDo {
	r := p.Report
	l := list{plan: p, report: r, all: []report.ToDo{}, points: r.Foretold(), steps: p.index(), tells: p.tells, left: map[code.Reason]bool{}}
	if a := r.Summary.AnswerByPlan; a != nil {
		for i := range a.Reasons {
			l.left[a.Reasons[i].Code] = true
		}
	}
	l.read()
	for i := range l.points {
		switch point := &l.points[i]; {
		case point.Code == code.BackupError:
			l.checkErrors()
		case point.Code == code.ClusterHalted && l.isOfChecks(point): // those of the checks say so
		default:
			l.reason(point)
		}
	}
	l.conditions()
	sorting.StableBy(l.all, func(a, b report.ToDo) int {
		return cmp.Or(slices.Index(code.Phases(), a.Phase)-slices.Index(code.Phases(), b.Phase), code.Urgency(a.Status())-code.Urgency(b.Status()))
	})
	return l.all
}

// list gathers what is to be done.
type list struct {
	plan   *Plan
	report *report.Report
	points []report.Point
	steps  *stepIndex
	tells  func(*report.Cluster) bool // from all others, by a selector
	left   map[code.Reason]bool       // reasons of which something is left by the plan
	all    []report.ToDo

	waiting map[string][]string // clusters that are halted, by what they wait for
	errors  map[string]bool     // objects of errors in the backup
}

// add completes what is to be done, and adds it: once for each phase in which the plan has
// steps about some of the objects.
func (l *list) add(t report.ToDo, objects []report.Object) {
	reason := cmp.Or(t.Reason, t.Code)
	row := code.Of(reason)
	t.Decide = row.Decides
	t.Resolved = l.report.Summary.AnswerByPlan != nil && !l.left[reason]
	phases := row.Phases
	switch {
	case t.Phase != "":
		phases = []code.Phase{t.Phase}
	case t.Reason == code.BackupError:
		phases = []code.Phase{code.Before}
	}
	if l.report.IsMoved() && slices.Contains(phases, code.Paused) { // there is no such time
		phases = []code.Phase{code.Before, code.Restoring, code.After}
	}
	otherwise := code.Before
	switch {
	case t.Safe == code.WithWork && (len(phases) == 0 || slices.Contains(phases, code.After)):
		otherwise = code.After
	case len(phases) > 0:
		otherwise = phases[0]
	}
	if len(objects) == 0 {
		objects = []report.Object{{}}
	}
	isGivenUp := func(o report.Object) bool { return o.Name != "" && l.isConfirmed(o.At) }
	if slices.ContainsFunc(objects, isGivenUp) {
		l.givenUp(t, objects)
		if objects = slices.DeleteFunc(slices.Clone(objects), isGivenUp); len(objects) == 0 {
			return
		}
	}
	in := map[code.Phase]*report.ToDo{}
	named := make(map[string]bool, len(objects))
	known := shared{index: l.steps, phases: phases}
	for _, o := range objects {
		if named[o.Name] {
			continue
		}
		named[o.Name] = true
		steps, common := known.at(o)
		own := within(phases, slices.Clone(l.steps.named(t.Code, o.Name)))
		phase := otherwise
		switch {
		case len(own) > 0 && (len(steps) == 0 || own[0].at < steps[0].at):
			phase = own[0].phase
		case len(steps) > 0:
			phase = steps[0].phase
		}
		if in[phase] == nil {
			item := t
			item.Phase, item.Objects, item.Steps, in[phase] = phase, []string{}, []int{}, &item
		}
		item := in[phase]
		item.Steps = addNumbers(item.Steps, own)
		if common == nil || !slices.Contains(common.added, phase) {
			item.Steps = addNumbers(item.Steps, steps)
			if common != nil {
				common.added = append(common.added, phase)
			}
		}
		if o.Name != "" {
			item.Objects = append(item.Objects, o.Name)
		}
	}
	for _, phase := range code.Phases() {
		if own := in[phase]; own != nil {
			slices.Sort(own.Steps)
			own.Steps = slices.Compact(own.Steps)
			l.all = append(l.all, *own)
		}
	}
}

// isConfirmed reports whether the thing there is of a cluster that a person has given up.
func (l *list) isConfirmed(at report.Place) bool {
	return at.Part == report.InClusters && l.report.Clusters[at.Index].Confirmed != nil
}

// givenUp adds what is of clusters that people have given up: Velero restores them by default, so
// that it is a reason of that answer still. The plan's restore leaves them out, but for those that no
// selector tells from others: they stay paused.
func (l *list) givenUp(t report.ToDo, objects []report.Object) {
	if t.Safe == code.WithWork {
		return
	}
	own := map[string]*report.ToDo{}
	var messages []string
	named := map[string]bool{}
	for _, o := range objects {
		if o.Name == "" || !l.isConfirmed(o.At) || named[o.Name] {
			continue
		}
		named[o.Name] = true
		c, item := &l.report.Clusters[o.At.Index], t
		item.Phase, item.Decide, item.Resolved, item.Objects, item.Steps = code.Restoring, false, true, []string{}, []int{}
		steps, does := l.steps.named(code.UnpausedClusters, ""), "restored by default: left out, "
		if !l.tells(c) {
			item.Phase, does = code.Paused, "no selector can leave it out: restored, and left paused, "
			steps = within([]code.Phase{code.Paused}, slices.Clone(l.steps.clusters[c.Title()]))
		}
		item.Message = does + c.Confirmed.OnTheWord()
		if own[item.Message] == nil {
			own[item.Message], messages = &item, append(messages, item.Message)
		}
		known := own[item.Message]
		known.Objects, known.Steps = append(known.Objects, o.Name), addNumbers(known.Steps, steps)
	}
	for _, m := range messages {
		item := own[m]
		slices.Sort(item.Steps)
		item.Steps = slices.Compact(item.Steps)
		l.all = append(l.all, *item)
	}
}

// within returns the steps in the phases in which there are steps about a code.
func within(phases []code.Phase, steps []numbered) []numbered {
	return slices.DeleteFunc(steps, func(s numbered) bool { return len(phases) > 0 && !slices.Contains(phases, s.phase) })
}

func addNumbers(out []int, steps []numbered) []int {
	for i := range steps {
		out = append(out, int(steps[i].number))
	}
	return out
}

// shared is what many things have in common: it is looked up once.
type shared struct {
	index  *stepIndex
	phases []code.Phase
	known  map[spot]*common
}

type common struct {
	steps []numbered
	added []code.Phase // those to which the steps were added
}

// at returns the steps about the place of something, and to which phases they were added: nil of
// a machine, which has nothing in common with others.
func (x *shared) at(o report.Object) ([]numbered, *common) {
	if o.At.Part == report.InClusters && o.At.Machine >= 0 {
		return within(x.phases, x.index.at(o)), nil
	}
	at := x.index.spot(o)
	found := x.known[at]
	if found == nil {
		found = &common{steps: within(x.phases, x.index.at(o))}
		if x.known == nil {
			x.known = map[spot]*common{}
		}
		x.known[at] = found
	}
	return found.steps, found
}

// reason adds a reason of the answer.
func (l *list) reason(p *report.Point) {
	t := report.ToDo{Code: p.Code, Safe: code.SafeAfter(p.Code), Message: cmp.Or(code.Of(p.Code).Screen, english.Clause(p.Text))}
	objects := p.Objects
	for i := range p.Likes {
		objects = append(objects, p.Likes[i].Objects...)
	}
	switch {
	case p.Code == code.CopiedID && l.isDuplicate(objects):
		t.Code, t.Reason, t.Safe = code.DuplicateID, code.CopiedID, code.No
	case p.Code == code.ControlPlaneDown && len(objects) == 1 && l.isGone(objects[0].At):
		t.Message = "its control plane is gone: leave the cluster out, or recover etcd"
	}
	l.add(t, objects)
}

// isDuplicate reports whether several VMs have the id of the machine at the first place.
func (l *list) isDuplicate(objects []report.Object) bool {
	at := objects[0].At
	if at.Part != report.InClusters || at.Set < 0 || at.Machine < 0 {
		return false
	}
	m := &l.report.Clusters[at.Index].MachinesOf(at.Set)[at.Machine]
	return slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == code.DuplicateID })
}

// isGone reports whether nothing is left of the control plane of the cluster there.
func (l *list) isGone(at report.Place) bool {
	if at.Part != report.InClusters || l.report.Clusters[at.Index].Forecast == nil {
		return false
	}
	return slices.ContainsFunc(l.report.Clusters[at.Index].Forecast.Notes, func(n report.Note) bool { return n.Code == code.ControlPlaneGone })
}

// checkErrors adds the errors in the backup itself, one thing for each code, with the clusters
// that they halt.
func (l *list) checkErrors() {
	at := map[code.Reason]int{}
	var all []report.ToDo
	var objects [][]report.Object
	for i := range l.report.Checks {
		c := &l.report.Checks[i]
		if !c.Error() {
			continue
		}
		j, known := at[c.Code]
		if !known {
			message := cmp.Or(c.Brief, c.Message)
			if halted := l.haltedBy(c); len(halted) > 0 {
				message = "create it; without it no controller acts on " + english.First(1, halted)
			}
			j = len(all)
			at[c.Code], all, objects = j, append(all, report.ToDo{Code: c.Code, Reason: code.BackupError, Safe: code.No, Message: message}), append(objects, nil)
		}
		objects[j] = append(objects[j], report.Object{Name: c.Object, At: report.Place{Part: report.InChecks, Index: i}})
	}
	for i := range all {
		l.checkError(all[i], objects[i])
	}
}

// checkError adds an error in the backup itself: of what the plan creates while the clusters are
// paused, once for the manifest that is written before, and once for when it is applied.
func (l *list) checkError(t report.ToDo, objects []report.Object) {
	applied := slices.DeleteFunc(slices.Clone(objects), func(o report.Object) bool {
		return len(within([]code.Phase{code.Paused}, slices.Clone(l.steps.named("", o.Name)))) == 0
	})
	if len(applied) > 0 {
		own := t
		own.Phase = code.Paused
		l.add(own, applied)
		t.Message = "write its manifest; it is applied after the restore"
		before := slices.DeleteFunc(slices.Clone(objects), func(o report.Object) bool { return !slices.Contains(applied, o) })
		objects = slices.DeleteFunc(slices.Clone(objects), func(o report.Object) bool { return slices.Contains(applied, o) })
		l.add(t, before)
		t.Message = own.Message
	}
	if len(objects) > 0 {
		l.add(t, objects)
	}
}

// read finds the clusters that wait for an object, and the objects of errors in the backup.
func (l *list) read() {
	l.waiting, l.errors = map[string][]string{}, map[string]bool{}
	for i := range l.points {
		if l.points[i].Code != code.ClusterHalted {
			continue
		}
		for _, p := range append([]report.Point{l.points[i]}, l.points[i].Likes...) {
			for _, o := range p.Objects {
				l.waiting[p.Until] = append(l.waiting[p.Until], strings.TrimPrefix(o.Name, "Cluster "))
			}
		}
	}
	for i := range l.report.Checks {
		if c := &l.report.Checks[i]; c.Error() && c.Object != "" {
			l.errors[c.Object] = true
		}
	}
}

// haltedBy returns the clusters that no controller acts on because of a check's object.
func (l *list) haltedBy(c *report.Check) []string {
	if !l.errors[c.Object] {
		return nil
	}
	return l.waiting[c.Object]
}

// isOfChecks reports whether each of a point's likes is because of some error in the backup.
func (l *list) isOfChecks(p *report.Point) bool {
	return l.errors[p.Until] && !slices.ContainsFunc(p.Likes, func(p report.Point) bool { return !l.errors[p.Until] })
}

// conditions adds the conditions that a person has to see to, whatever the answer is.
func (l *list) conditions() {
	a := l.report.Summary.Answer
	if a == nil {
		return
	}
	n := 0
	for i := range l.report.Clusters {
		if c := &l.report.Clusters[i]; !c.Paused && !c.Self {
			n++
		}
	}
	pause := english.Count(n, "Cluster") + " as paused"
	if l.report.Options.Filter != nil { // the others are restored, too
		pause = "every Cluster as paused"
	}
	for i := range a.Conditions {
		t := report.ToDo{Code: a.Conditions[i].Code, Safe: code.No}
		switch t.Code {
		case code.OldManagementCluster:
			t.Message = "keep the old management cluster off, or two manage one VM"
		case code.UnpausedClusters:
			t.Message = fmt.Sprintf("restore %s, or their controllers act at once", pause)
		default:
			continue
		}
		l.add(t, nil)
	}
}

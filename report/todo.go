package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// ToDo is one thing to do about a restore, or to decide. The list of them is the same in
// every format.
type ToDo struct {
	Phase code.Phase `json:"phase"` // when
	Safe  code.Safe  `json:"safe"`  // the answer that it leaves as long as nothing is done
	// Code says what it is, and Reason for which reason or condition of the answer it is to be
	// done, where that has another code: BackupError is for several checks.
	Code   code.Reason `json:"code"`
	Reason code.Reason `json:"reason,omitempty"`
	// Message says what happens, or what to do, behind the names of Objects: a clause without
	// its full stop.
	Message string   `json:"message"`
	Objects []string `json:"objects"` // as the reasons of the answer have them, most dangerous first
	Steps   []int    `json:"steps"`   // of the plan, in order; none: it has no step about it
	// Decide is set where a person has to decide, and Resolved where nothing is left of it once
	// that and the steps of the plan are done.
	Decide   bool `json:"decide,omitempty"`
	Resolved bool `json:"resolved,omitempty"`
}

// Status returns one that is as urgent as the answer that is left.
func (t *ToDo) Status() code.Status { return asStatus[t.Safe] }

// Mark returns the one character that stands for that: "?" where a person has to decide, too.
func (t *ToDo) Mark() string {
	if t.Decide && t.Safe == code.No {
		return code.Mark(asStatus[code.Unclear])
	}
	return code.Mark(t.Status())
}

// mostRanges is how many numbers or ranges of steps are named before the others are counted: in a
// fleet the steps of one thing to do lie between those of another, by the hundreds.
const mostRanges = 8

// StepRanges returns the numbers of the steps in few characters, "6" or "9-11", and how many steps
// there are beside those.
func (t *ToDo) StepRanges() (first []string, more int) {
	for i := 0; i < len(t.Steps); i++ {
		from := i
		for i+1 < len(t.Steps) && t.Steps[i+1] == t.Steps[i]+1 {
			i++
		}
		switch {
		case len(first) == mostRanges:
			return first, len(t.Steps) - from
		case i == from:
			first = append(first, fmt.Sprint(t.Steps[i]))
		default:
			first = append(first, fmt.Sprintf("%d-%d", t.Steps[from], t.Steps[i]))
		}
	}
	return first, 0
}

// StepsText returns them as text: "6", "9-11", "3 17", "1 3 5 7 9 11 13 15 and 20 more"; it is empty
// where there is none.
func (t *ToDo) StepsText() string {
	first, more := t.StepRanges()
	if more > 0 {
		first = append(first, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(first, " ")
}

// Places finds the things of a report by the names that its reasons have for them.
type Places struct {
	of *Report
	by *places
}

// Places returns those of the report as it is now.
func (r *Report) Places() *Places { return &Places{r, r.places()} }

// Of returns the place of a thing that a reason of the answer names.
func (p *Places) Of(reason code.Reason, object string) Place { return p.by.of(reason, object) }

// At returns the places of the things that it is about, in the order of Objects.
func (p *Places) At(t *ToDo) []Object {
	out := make([]Object, len(t.Objects))
	for i, name := range t.Objects {
		out[i] = Object{name, p.by.of(cmp.Or(t.Reason, t.Code), name)}
	}
	return out
}

// Short returns the name of a thing without its kind where the place says that: namespace and
// name of what is in the clusters, the name of a VM.
func (p *Places) Short(o Object) string {
	switch o.At.Part {
	case InVMs:
		return cmp.Or(p.of.InfraMachines[o.At.Index].Instance.Name, o.Name)
	case InClusters:
		if kind, name, ok := strings.Cut(o.Name, " "); ok && !strings.Contains(name, " ") && kind != "" {
			return name
		}
	}
	return o.Name
}

// About names what a thing to do is about, at most so many things: "tenant/a, tenant/b and 3
// more". It is empty where it is about the restore as a whole.
func (p *Places) About(t *ToDo, most int) string {
	names := make([]string, len(t.Objects))
	for i, o := range p.At(t) {
		names[i] = p.Short(o)
	}
	return english.First(most, names)
}

// IsShown reports whether the report has anything that it is about, which a report that was
// narrowed may not.
func (p *Places) IsShown(t *ToDo) bool {
	f := p.of.Options.Filter
	if f == nil || !f.View || len(t.Objects) == 0 {
		return true
	}
	return slices.ContainsFunc(p.At(t), func(o Object) bool {
		if o.At.Part == InChecks {
			c := &p.of.Checks[o.At.Index]
			return len(c.Clusters) == 0 || slices.ContainsFunc(p.of.Clusters, func(k Cluster) bool { return slices.Contains(c.Clusters, k.Title()) })
		}
		return o.At.Part != InWhole
	})
}

// Because returns the sentences of the reasons for which a thing is to be done, in the order of
// the answer. What a check found is with the checks.
func (r *Report) Because(t *ToDo) []string {
	word := cmp.Or(t.Reason, t.Code)
	if word == code.BackupError {
		return nil
	}
	objects := make(map[string]bool, len(t.Objects))
	for _, name := range t.Objects {
		objects[name] = true
	}
	var out []string
	for _, reason := range r.foretold(word) {
		about := len(objects) == 0 || slices.ContainsFunc(reason.Objects, func(name string) bool { return objects[name] })
		if text := reason.Sentence(); about && english.Clause(text) != t.Message {
			out = append(out, text)
		}
	}
	return out
}

// ToDoIn returns what is to be done in a phase.
func (r *Report) ToDoIn(phase code.Phase) []ToDo {
	return slices.DeleteFunc(slices.Clone(r.ToDo), func(t ToDo) bool { return t.Phase != phase })
}

// Needs counts the things that the answer of the plan is given after: those to decide, and
// those to do before the last Cluster is unpaused.
func (r *Report) Needs() (decisions, fixes int) {
	for i := range r.ToDo {
		switch t := &r.ToDo[i]; {
		case !t.Resolved:
		case t.Decide:
			decisions++
		case t.Phase != code.After && len(t.Steps) > 0:
			fixes++
		}
	}
	return decisions, fixes
}

// Listed returns the reasons for which the answers are not yes as the list of what is to be done has
// them: each code once, in its order, with all objects, of the things that are wanted. What every
// restore has, conditions, is no reason.
func (r *Report) Listed(wanted func(*ToDo) bool) []AnswerReason {
	out := []AnswerReason{}
	for i := range r.ToDo {
		t := &r.ToDo[i]
		if row := code.Of(t.Code); !wanted(t) || row.Code != "" && !row.Is(code.Answer) && t.Reason == "" {
			continue
		}
		at := slices.IndexFunc(out, func(have AnswerReason) bool { return have.Code == t.Code })
		if at < 0 {
			at, out = len(out), append(out, AnswerReason{Code: t.Code, Message: t.Message})
		}
		out[at].Objects = append(out[at].Objects, t.Objects...)
	}
	return out
}

// ListedNow returns the reasons of the answer to a restore as Velero does it by default, and
// ListedByPlan those of the answer by the plan, and what that resolves. A report of a version
// without the list has them as its answers do.
func (r *Report) ListedNow() []AnswerReason {
	if r.ToDo == nil && r.Summary.Answer != nil {
		return r.Summary.Answer.Reasons
	}
	return r.Listed(func(*ToDo) bool { return true })
}

func (r *Report) ListedByPlan() (left, resolved []AnswerReason) {
	if by := r.Summary.AnswerByPlan; r.ToDo == nil && by != nil {
		return by.Reasons, by.Resolved
	}
	return r.Listed(func(t *ToDo) bool { return !t.Resolved }), r.Listed(func(t *ToDo) bool { return t.Resolved })
}

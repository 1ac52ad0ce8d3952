package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/markdown"
)

// Answer is what became of the answers, and of what is to be done for them.
type Answer struct {
	Old      Answers  `json:"old"`
	New      Answers  `json:"new"`
	Resolved []Reason `json:"resolved"` // only the old report has it, and the new one saw that it is gone
	NotSeen  []Reason `json:"notSeen"`  // only the old report has it, and the new one did not look at all
	// NotInBackup is what only the old report has, of clusters that the new one has not: the
	// backup lacks them, and nobody looked at what is theirs.
	NotInBackup []Reason `json:"notInBackup"`
	Added       []Reason `json:"added"` // only the new one has it
	Left        []Reason `json:"left"`  // both have it
	// Conditions are what the new answers hold only while each of them does.
	Conditions []report.Note `json:"conditions"`

	blind, first bool // the new report, or the old one, did not look at all
}

// Answers are those of a report; empty where it has none.
type Answers struct {
	Safe   code.Safe `json:"safe,omitempty"`   // as Velero restores by default
	ByPlan code.Safe `json:"byPlan,omitempty"` // by the plan
}

// Reason is a code of the list of what is to be done, with the objects that it is about; none:
// the restore as a whole.
type Reason struct {
	Code    code.Reason `json:"code"`
	Objects []string    `json:"objects"`
}

func answers(old, new *report.Report) Answer {
	a := Answer{Old: answersOf(old), New: answersOf(new), NotSeen: []Reason{}, Conditions: append([]report.Note{}, new.Answer().Conditions...)}
	before, now := reasons(old), reasons(new)
	a.Resolved, _ = apart(before, now)
	a.Added, a.Left = apart(now, before)
	a.Resolved, a.NotInBackup = withCluster(old, new, a.Resolved)
	a.first = !old.Summary.Complete
	if a.blind = isBlind(old, new); a.blind {
		a.Resolved, a.NotSeen = []Reason{}, a.Resolved
	}
	return a
}

// withCluster divides reasons that only the old report has into others and those of clusters that
// the new one does not have at all.
func withCluster(old, new *report.Report, all []Reason) (others, left []Reason) {
	others, left = []Reason{}, []Reason{}
	there := make(map[string]bool, len(new.Clusters))
	for i := range new.Clusters {
		there[new.Clusters[i].Title()] = true
	}
	type named struct {
		code   code.Reason
		object string
	}
	gone, places := map[named]bool{}, old.Places()
	for i := range new.Scopes {
		there[new.Scopes[i].Title()] = true
	}
	for i := range old.ToDo {
		t := &old.ToDo[i]
		for _, o := range places.At(t) {
			of := titlesAt(old, o.At)
			gone[named{t.Code, o.Name}] = len(of) > 0 && !slices.ContainsFunc(of, func(title string) bool { return there[title] })
		}
	}
	for _, r := range all {
		stays, leaves := split(r.Objects, func(name string) bool { return !gone[named{r.Code, name}] })
		if len(stays) > 0 || len(r.Objects) == 0 {
			others = append(others, Reason{r.Code, stays})
		}
		if len(leaves) > 0 {
			left = append(left, Reason{r.Code, leaves})
		}
	}
	return others, left
}

// titlesAt returns the clusters, or the place, that a thing of a report is of, or may be; none where it
// is of none.
func titlesAt(r *report.Report, at report.Place) []string {
	switch at.Part {
	case report.InClusters:
		return []string{r.Clusters[at.Index].Title()}
	case report.InVMs:
		return r.InfraMachines[at.Index].MayBelongTo()
	case report.InScopes: // a place that no cluster of the backup has any more
		return []string{r.Scopes[at.Index].Title()}
	case report.InChecks:
		return r.Checks[at.Index].Clusters
	}
	return nil
}

// isBlind reports whether the new report did not look at all that the old one may have seen: what
// it does not have is not resolved.
func isBlind(old, new *report.Report) bool {
	return !new.Summary.Complete || new.Options.SkipNodes && !old.Options.SkipNodes
}

func answersOf(r *report.Report) (out Answers) {
	if a := r.Summary.Answer; a != nil {
		out.Safe = a.Safe
	}
	if a := r.Summary.AnswerByPlan; a != nil {
		out.ByPlan = a.Safe
	}
	return out
}

// reasons returns those of the list of what is to be done.
func reasons(r *report.Report) []Reason {
	var out []Reason
	for _, t := range r.Listed(func(*report.ToDo) bool { return true }) {
		out = append(out, Reason{t.Code, append([]string{}, t.Objects...)})
	}
	return out
}

// apart divides reasons into those that others do not have, object by object, and those that
// they have, too.
func apart(all, others []Reason) (alone, both []Reason) {
	alone, both = []Reason{}, []Reason{}
	for _, r := range all {
		i := slices.IndexFunc(others, func(o Reason) bool { return o.Code == r.Code })
		if i < 0 {
			alone = append(alone, r)
			continue
		}
		has := map[string]bool{}
		for _, name := range others[i].Objects {
			has[name] = true
		}
		mine := slices.DeleteFunc(slices.Clone(r.Objects), func(name string) bool { return has[name] })
		shared := slices.DeleteFunc(slices.Clone(r.Objects), func(name string) bool { return !has[name] })
		if len(mine) > 0 {
			alone = append(alone, Reason{r.Code, mine})
		}
		if len(shared) > 0 || len(r.Objects) == 0 && len(others[i].Objects) == 0 {
			both = append(both, Reason{r.Code, append([]string{}, shared...)})
		}
	}
	return alone, both
}

// worse reports whether one of the answers is worse than it was. Where a report has none, that
// is not known.
func (a *Answer) worse() bool {
	return a.New.Safe.Worse(a.Old.Safe) || a.New.ByPlan.Worse(a.Old.ByPlan)
}

func (a *Answer) differs() bool {
	return a.Old != a.New || len(a.Resolved)+len(a.NotSeen)+len(a.NotInBackup)+len(a.Added) > 0
}

// told reports whether there is anything to say of the answers.
func (a *Answer) told() bool { return a.differs() || a.Old != Answers{} || len(a.Left) > 0 }

// words say what the answers were and are: "NO -> NO; by the plan: NOT CLEAR YET -> YES".
func (a *Answer) words(arrow string) string {
	change := func(old, new code.Safe) string {
		if old == "" && new == "" {
			return ""
		}
		return wordOf(old) + arrow + wordOf(new)
	}
	out := change(a.Old.Safe, a.New.Safe)
	if by := change(a.Old.ByPlan, a.New.ByPlan); by != "" {
		out = english.Join("; ", out, "by the plan: "+by)
	}
	switch {
	case a.worse():
		out += ", worse"
	case a.blind && a.Old != a.New:
		out += ", which says nothing: " + notLooked
	}
	return out
}

const notLooked = "the new report did not look at all"

func wordOf(safe code.Safe) string {
	if safe == "" {
		return "not said"
	}
	return report.SafeWords(safe)
}

// lists returns what was resolved, what is new and what is left. Names go through quoted.
func (a *Answer) lists(quoted func(string) string) []struct{ label, text string } {
	const most = 3 // objects of a reason
	added := "new"
	if a.first {
		added = "new, or not seen in the older report"
	}
	var out []struct{ label, text string }
	for _, l := range []struct {
		label string
		all   []Reason
		whole bool
	}{{"resolved", a.Resolved, true}, {"not seen in the newer report", a.NotSeen, true}, {"no longer in the backup", a.NotInBackup, true}, {added, a.Added, true}, {"left", a.Left, false}} {
		var parts []string
		for _, r := range l.all {
			part := quoted(string(r.Code))
			switch n := len(r.Objects); {
			case n > 0 && l.whole:
				var names []string
				for _, name := range r.Objects {
					names = append(names, quoted(name))
				}
				part += " (" + english.First(most, names) + ")"
			case n > 1:
				part += fmt.Sprintf(" (%d)", n)
			}
			parts = append(parts, part)
		}
		if parts != nil {
			out = append(out, struct{ label, text string }{l.label, strings.Join(parts, ", ")})
		}
	}
	if a.New.Safe == code.Yes || a.New.ByPlan == code.Yes { // which is none without them
		for i := range a.Conditions {
			out = append(out, struct{ label, text string }{"only while", quoted(string(a.Conditions[i].Code)) + ": " + quoted(a.Conditions[i].Sentence())})
		}
	}
	return out
}

func (a *Answer) text(p *terminal.Printer) {
	if !a.told() {
		return
	}
	p.Print(0, 2, terminal.Lead(terminal.Bold, "Answer:", 0).Prose(terminal.Bold, a.words(" -> ")))
	for _, l := range a.lists(report.Valid) {
		p.Print(2, 4, terminal.Lead(terminal.Plain, l.label+":", 0).Prose(terminal.Plain, l.text))
	}
}

func (a *Answer) markdown(w io.Writer) {
	if !a.told() {
		return
	}
	fmt.Fprintf(w, "**Answer:** %s\n\n", a.words(" → "))
	for _, l := range a.lists(markdown.Code) {
		fmt.Fprintf(w, "- %s: %s\n", l.label, l.text)
	}
	fmt.Fprintln(w)
}

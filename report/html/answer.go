package html

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// links are what a line leads to: the first of them in the line, the rest folded.
type links struct{ First, Rest []link }

// link leads to a part of the page.
type link struct{ Href, Name string }

// few is how many things a line names before it counts the others.
const few = 3

func fold(all []link) links {
	n := min(few, len(all))
	return links{all[:n], all[n:]}
}

// point is a line of the answer. Each has a link at least.
type point struct {
	links
	Code        string
	Status      code.Status
	Text        string
	When, Steps string // of what is to be done: the phase, and the steps of the plan
	Why         []string
}

// Points are the lines of the answer: what is to be done, phase by phase, then what it rests
// on.
func (v *view) points() []point {
	var out []point
	places := v.Report.Places()
	for i := range v.ToDo {
		out = append(out, v.toDo(places, &v.ToDo[i]))
	}
	say := func(yes bool, status code.Status, text, href, name string) {
		if yes {
			out = append(out, point{Status: status, Text: text, links: links{First: []link{{href, name}}}})
		}
	}
	s, m := &v.Summary, &v.Summary.Machines
	say(s.Answer == nil, code.Unknown, "This report was made by a version that did not look at all that controllers do: run detect again.", "about", "About this report")
	if s.Answer != nil && len(s.Answer.Conditions) > 0 {
		say(true, code.Unknown, "The answer is true only under "+english.Count(len(s.Answer.Conditions), "condition")+".", "before", "Before the restore")
	}
	say(!s.Complete, code.Unknown, "Not everything could be listed. What was not seen is Unknown, never Stale.", v.placesID(), "Places that were listed")
	if n := s.Ignored; n > 0 {
		say(true, code.Unknown, fmt.Sprintf("Ignore rules set %s aside; without the rules the status is %s.", english.Count(n, "finding"), s.StatusWithoutRules), v.rulesID(), "Ignore rules")
	}
	if f := v.Options.Filter; f != nil {
		say(true, code.Unknown, f.Covers(), "about", "About this report")
	}
	say(m.Total > 0 && m.Healthy == m.Total, code.Healthy, "Every machine of the backup has its VM.", "map", "All machines")
	return out
}

// toDo makes a line of what is to be done, with links to all that it is about.
func (v *view) toDo(places *report.Places, t *report.ToDo) point {
	q := point{Code: string(t.Code), Status: t.Status(), Text: english.Sentence(t.Message), When: t.Phase.Title(), Steps: t.StepsText(), Why: v.Because(t)}
	var to []link
	for _, o := range places.At(t) {
		to = append(to, link{v.href(o.At), cmp.Or(places.Short(o), name(""))})
	}
	if to == nil {
		to = []link{{"about", "About this report"}}
	}
	q.links = fold(to)
	return q
}

// href is the id of the element that shows a place.
func (v *view) href(at report.Place) string {
	switch at.Part {
	case report.InClusters:
		switch {
		case at.Machine >= 0:
			return fmt.Sprintf("m%d-%d-%d", at.Index, at.Set, at.Machine)
		case at.Set >= 0:
			return fmt.Sprintf("s%d-%d", at.Index, at.Set)
		}
		return fmt.Sprint("c", at.Index)
	case report.InVMs:
		return fmt.Sprint("v", at.Index)
	case report.InScopes:
		return fmt.Sprint("p", at.Index)
	case report.InErrors:
		return fmt.Sprint("e", at.Index)
	case report.InChecks:
		n := 0
		for i := range v.Groups { // of neighbours
			if n += len(v.Groups[i].All); at.Index < n {
				return fmt.Sprint("k", i)
			}
		}
	}
	return "about"
}

func (v *view) placesID() string {
	if len(v.Scopes) == 0 {
		return "about"
	}
	return "scopes"
}

func (v *view) rulesID() string {
	if len(v.Aside)+len(v.IgnoreRules) == 0 {
		return "about"
	}
	return "rules"
}

// before is what to know and to do before the restore.
type before struct {
	Conditions []report.Note
	Notes      []note
	Steps      []due
	Due        int // findings with such steps
}

// note is a note with the clusters that it is about.
type note struct {
	links
	Code, Text string
}

// due are findings of one kind that have steps before the restore.
type due struct {
	links
	face
	Status code.Status
	Code   string
	N      int
}

func (v *view) before() before {
	var out before
	said := map[[2]string]bool{}
	if a := v.Summary.Answer; a != nil {
		out.Conditions = a.Conditions
		for i := range a.Conditions {
			said[[2]string{string(a.Conditions[i].Code), a.Conditions[i].Sentence()}] = true
		}
	}
	at := map[string]int{}
	for i := range v.Report.Clusters {
		if _, known := at[v.Report.Clusters[i].Title()]; !known {
			at[v.Report.Clusters[i].Title()] = i
		}
	}
	for _, it := range outline.Notes(v.Report).Items {
		if said[[2]string{it.Code, it.Text}] {
			continue
		}
		var to []link
		for _, title := range it.Clusters {
			to = append(to, link{fmt.Sprint("c", at[title]), title})
		}
		out.Notes = append(out.Notes, note{fold(to), it.Code, it.Text})
	}
	out.Steps, out.Due = v.due()
	return out
}

// due are the findings with steps of the operator before the restore, those of the
// worst clusters first.
func (v *view) due() (out []due, n int) {
	at := map[string]int{}
	all := [][]link{}
	add := func(look face, status code.Status, code string, steps []report.Step, to link) {
		if !isDue(steps) {
			return
		}
		key := string(status) + " " + code
		i, known := at[key]
		if !known {
			i = len(out)
			at[key], out, all = i, append(out, due{face: look, Status: status, Code: code}), append(all, nil)
		}
		out[i].N++
		n++
		all[i] = append(all[i], to)
	}
	for i := range v.Clusters {
		for j := range v.Clusters[i].Sets {
			for _, m := range v.Clusters[i].Sets[j].Machines {
				code, _, _ := strings.Cut(reasons(m), " ")
				add(look(m), m.Status, code, m.Remediation, link{m.ID, title(m.Namespace, m.Name)})
			}
		}
	}
	for i := range v.VMs {
		add(face{tone(code.Unknown), code.Mark(code.Unknown)}, "VM to confirm", string(v.VMs[i].Reason), v.VMs[i].Remediation, link{fmt.Sprint("v", v.VMs[i].Index), name(v.VMs[i].Instance.Name)})
	}
	for i := range out {
		out[i].links = fold(all[i])
	}
	return out, n
}

func isDue(steps []report.Step) bool {
	for i := range steps {
		if steps[i].When == report.BeforeRestore && steps[i].Who == report.Operator {
			return true
		}
	}
	return false
}

// After are the notes that are not for before the restore.
func (v view) After() []report.Note {
	var out []report.Note
	if f := v.Summary.Forecast; f != nil {
		for _, n := range f.Notes {
			if n.Code == code.NotHealing {
				out = append(out, n)
			}
		}
	}
	return out
}

// Codes are the reasons that machines and VMs may be filtered by.
func (v view) Codes() []string {
	seen := map[string]bool{}
	for i := range v.Clusters {
		for j := range v.Clusters[i].Sets {
			for _, m := range v.Clusters[i].Sets[j].Machines {
				for _, code := range strings.Fields(reasons(m)) {
					seen[code] = true
				}
			}
		}
	}
	for i := range v.VMs {
		for _, code := range strings.Fields(string(v.VMs[i].Reason)) {
			seen[code] = true
		}
	}
	return sorted(seen)
}

package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
const few = 1

func fold(all []link) links {
	n := min(few, len(all))
	return links{all[:n], all[n:]}
}

// point is a line of the answer. Each has a link at least.
type point struct {
	links
	Status code.Status
	Text   string
}

// points returns what the answer rests on.
func (v *view) points() []point {
	var out []point
	say := func(yes bool, status code.Status, text, href, name string) {
		if yes {
			out = append(out, point{Status: status, Text: text, links: links{First: []link{{href, name}}}})
		}
	}
	s, m := &v.Summary, &v.Summary.Machines
	say(s.Answer == nil, code.Unknown, "This report was made by a version that did not look at all that controllers do: run detect again.", "about", "About this report")
	if s.Answer != nil && len(s.Answer.Conditions) > 0 {
		say(true, code.Unknown, "The answer assumes "+english.Count(len(s.Answer.Conditions), "thing")+".", "before", "What it assumes")
	}
	say(!s.Complete, code.Unknown, "Not everything could be listed. What was not seen is Unknown, never Stale.", v.placesID(), "Places that were listed")
	if n := s.Ignored; n > 0 {
		say(true, code.Unknown, fmt.Sprintf("Ignore rules set %s aside; without the rules the status is %s.", english.Count(n, "finding"), s.StatusWithoutRules), v.rulesID(), "Ignore rules")
	}
	if f := v.Options.Filter; f != nil {
		say(true, code.Unknown, f.Covers(), "about", "About this report")
	}
	say(m.Total > 0 && m.Healthy == m.Total, code.Healthy, "Every machine of the "+v.Subject()+" has its VM.", "map", "All machines")
	return out
}

// age returns how old the oldest backup was when its infrastructure was listed.
func (v *view) age() string {
	var oldest time.Time
	for i := range v.Backups {
		if at := v.Backups[i].WrittenFrom; !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	if oldest.IsZero() || !v.GeneratedAt.After(oldest) {
		return ""
	}
	return ago(v.GeneratedAt.Sub(oldest)) + " old"
}

// phase is what is to be done in a phase of the restore.
type phase struct {
	Title string
	Due   []due
}

// due is a thing to do or to decide.
type due struct {
	links
	*report.ToDo
	Text    string
	Numbers []number // of its steps
	Why     []string
}

// number is a number of steps, "6" or "9-11", that leads to the first of them.
type number struct{ Href, Text string }

// phases returns what is to be done, phase by phase.
func (v *view) phases() []phase {
	var out []phase
	places := v.Report.Places()
	known := code.Phases()
	for _, p := range known {
		in := phase{Title: english.Capital(p.Title())}
		for i := range v.ToDo {
			t := &v.ToDo[i]
			isOf := t.Phase == p || p == code.After && !slices.Contains(known, t.Phase) // of another release
			if isOf && places.IsShown(t) {
				in.Due = append(in.Due, v.due(places, t))
			}
		}
		if in.Due != nil {
			out = append(out, in)
		}
	}
	return out
}

// due makes a line of what is to be done, with links to all that it is about.
func (v *view) due(places *report.Places, t *report.ToDo) due {
	d := due{ToDo: t, Text: t.Message, Why: v.Because(t)}
	ranges, more := t.StepRanges()
	for _, text := range ranges {
		from, _, _ := strings.Cut(text, "-")
		n := number{Text: text}
		if first, err := strconv.Atoi(from); err == nil && v.steps[first] {
			n.Href = "step-" + from
		}
		d.Numbers = append(d.Numbers, n)
	}
	if more > 0 {
		d.Numbers = append(d.Numbers, number{Text: fmt.Sprintf("and %d more", more)})
	}
	var to []link
	for _, o := range places.At(t) {
		to = append(to, link{v.href(o.At), cmp.Or(places.Short(o), name(""))})
	}
	d.links = fold(to)
	return d
}

// href returns the id of the element that shows a place.
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
}

// note is a note with the clusters that it is about.
type note struct {
	links
	Code, Text string
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
	return out
}

// After returns the notes that are not for before the restore.
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

// Codes returns the reasons that machines and VMs may be filtered by.
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

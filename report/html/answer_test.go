package html

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// Every line of the answer leads to what it is about.
func TestEveryLineOfTheAnswerHasALink(t *testing.T) {
	reports := []*report.Report{reporttest.HostileReport(), reporttest.Sized(1, 5), {}}
	for seed := range uint64(200) {
		reports = append(reports, reporttest.Random(seed), reporttest.Filled(rand.New(rand.NewPCG(seed, 1))))
	}
	lines := 0
	for i, r := range reports {
		_, root := written(t, r)
		ids := map[string]bool{}
		for _, n := range find(root, func(n *html.Node) bool { return has(n, "id") }) {
			ids[attr(n, "id")] = true
		}
		due := find(root, class("due"))
		whole := len(slices.DeleteFunc(slices.Clone(r.ToDo), func(t report.ToDo) bool { return len(t.Objects) > 0 })) // about no object
		for j, line := range append(due, find(root, func(n *html.Node) bool { return n.Data == "li" && class("why")(n.Parent) })...) {
			lines++
			links := find(line, func(n *html.Node) bool { return n.Data == "a" })
			if len(links) == 0 {
				whole--
			}
			if len(links) == 0 && (j >= len(due) || whole < 0) {
				t.Errorf("report %d: no link in %q", i, content(line))
			}
			for _, a := range links {
				if to, ok := strings.CutPrefix(attr(a, "href"), "#"); !ok || !ids[to] {
					t.Errorf("report %d: %q leads to %q", i, content(line), attr(a, "href"))
				}
			}
		}
	}
	if lines < 1000 {
		t.Errorf("only %d lines", lines)
	}
}

// The order of the sections is that of the text.
func TestOrderOfSections(t *testing.T) {
	page, _ := written(t, reporttest.HostileReport())
	at := -1
	for _, id := range []string{"answer", "map", "todo", "found", "before", "clusters", "vms", "restore", "rules", "scopes", "about"} {
		i := strings.Index(page, `<section id="`+id+`"`)
		if i <= at {
			t.Errorf("section %s is missing, or too early", id)
		}
		at = i
	}
}

// Notes are in lists: each is a sentence, or what its code means.
func TestNotesAreSentences(t *testing.T) {
	r := reporttest.Sized(1, 1)
	r.Summary.Forecast = &report.GeneralForecast{Notes: []report.Note{{Code: "OldManagementCluster", Message: "Make sure that it is gone"}, {Code: "ClusterPaused"}}}
	page, _ := written(t, r)
	for _, want := range []string{"<div>Make sure that it is gone. </div>", "cluster is paused in the backup, and so after the restore. </div>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// A thing that is to be done says when, in which step, and why.
func TestWhatIsToBeDoneSaysWhy(t *testing.T) {
	r := reporttest.Sized(1, 1)
	r.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: code.RolloutDue, Message: "A rollout is due", Objects: []string{"x"}}}}
	r.ToDo = []report.ToDo{{Phase: code.Paused, Safe: code.No, Code: code.RolloutDue, Message: "replaces machines", Objects: []string{"x"}, Steps: []int{7, 8}}}
	_, root := written(t, r)
	todo := strings.Join(strings.Fields(content(find(root, func(n *html.Node) bool { return attr(n, "id") == "todo" })[0])), " ")
	if want := "While paused (1) 7-8 ! x replaces machines RolloutDue"; !strings.Contains(todo, want) || !strings.Contains(todo, "A rollout is due.") {
		t.Errorf("no %q in %s", want, todo)
	}
}

// Its steps lead to those of the plan, where that is in the page, and only to those that it has.
func TestNumbersOfStepsLeadToTheSteps(t *testing.T) {
	r := reporttest.Sized(1, 1)
	r.ToDo = []report.ToDo{{Phase: code.Before, Code: code.RolloutDue, Message: "m", Steps: []int{2, 3, 7}}}
	b := &Runbook{Phases: []RunbookPhase{{Chapters: []RunbookChapter{{Steps: []RunbookStep{{Number: 2}, {Number: 3}}}}}}}
	for _, b := range []*Runbook{nil, b} {
		var out bytes.Buffer
		if err := WriteWith(&out, r, b); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Contains(out.String(), `<a href="#step-2">2-3</a> 7 </span>`), b != nil; got != want {
			t.Errorf("with a link %t, want %t", got, want)
		}
		if got, want := strings.Contains(out.String(), `id="step-3"`), b != nil; got != want {
			t.Errorf("with the step %t, want %t", got, want)
		}
	}
}

package html

import (
	"fmt"
	"math/rand/v2"
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
		answer := find(root, func(n *html.Node) bool { return attr(n, "id") == "answer" })[0]
		for _, line := range find(answer, func(n *html.Node) bool { return n.Data == "li" && class("why")(n.Parent) }) {
			lines++
			links := find(line, func(n *html.Node) bool { return n.Data == "a" })
			if len(links) == 0 {
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
	for _, id := range []string{"answer", "map", "before", "clusters", "vms", "restore", "rules", "scopes", "about"} {
		i := strings.Index(page, `<section id="`+id+`"`)
		if i <= at {
			t.Errorf("section %s is missing, or too early", id)
		}
		at = i
	}
}

// The answer names the clusters that something must be done about, the worst
// first, and says how many more there are.
func TestAnswerSaysWhere(t *testing.T) {
	r := &report.Report{}
	for i, status := range []code.Status{
		code.Healthy, code.ManualRemediationNotRequired, code.ManualRemediationRequired, code.NeedFurtherConfirmation,
		code.ManualRemediationNotRequired, code.ManualRemediationNotRequired, code.ManualRemediationNotRequired,
	} {
		c := report.Cluster{Namespace: "ns", Name: fmt.Sprint("c", i), Status: status}
		c.Counts = report.MachineCounts{Total: 3, Ghost: 1, Stale: 2}
		r.Clusters = append(r.Clusters, c)
	}
	r.Clusters = append(r.Clusters, report.Cluster{Name: "self", Self: true, Status: code.ManualRemediationRequired})
	v := newView(r)
	var got []string
	for _, c := range v.Where() {
		got = append(got, c.Name+" "+c.Brief())
	}
	if want := "c2 1 Ghost, 2 Stale|c3 1 Ghost, 2 Stale|c1 1 Ghost, 2 Stale|c4 1 Ghost, 2 Stale|c5 1 Ghost, 2 Stale"; strings.Join(got, "|") != want || v.Elsewhere() != 1 {
		t.Errorf("%q and %d more", got, v.Elsewhere())
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
	answer := content(find(root, func(n *html.Node) bool { return attr(n, "id") == "answer" })[0])
	if want := "while paused RolloutDue replaces machines. step 7-8"; !strings.Contains(strings.Join(strings.Fields(answer), " "), want) || !strings.Contains(answer, "A rollout is due.") {
		t.Errorf("no %q in %s", want, answer)
	}
}

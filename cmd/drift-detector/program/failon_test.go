package program

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
	"drift-detector/report/code"
)

// What rules set aside does not fail a run, of each kind that they can set aside.
func TestFailOnCountsWhatIsOpen(t *testing.T) {
	t.Parallel()
	r := &report.Report{}
	r.Summary.Answer = &report.SafeAnswer{Safe: code.No}
	r.Summary.Machines = report.MachineCounts{Total: 6, Ghost: 2, Stale: 2, Unknown: 2}
	r.Summary.InfraMachines, r.Summary.IgnoredInfraMachines = 3, 3
	r.Summary.IgnoredMachines = &r.Summary.Machines
	aside := report.InfraMachine{Ignored: &report.Ignored{}}
	r.InfraMachines = []report.InfraMachine{aside, aside, aside}
	all := failOn{"ghost", "stale", "unknown", "unattributed"}
	if err := all.verdict(r); err != nil {
		t.Errorf("all is set aside, and it fails: %v", err)
	}
	r.Summary.IgnoredInfraMachines = 1
	r.InfraMachines = []report.InfraMachine{aside, {}, {}}
	r.Summary.IgnoredMachines = &report.MachineCounts{Total: 3, Ghost: 1, Stale: 1, Unknown: 1}
	var found *cli.FailOnError
	want := "--fail-on ghost,stale,unknown,unattributed: 1 Ghost, 1 Stale, 1 Unknown, 2 to confirm"
	if err := all.verdict(r); !errors.As(err, &found) || found.Message != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// The answers fail a run by themselves, whatever is found; that of a report without one is not
// known.
func TestFailOnTheAnswer(t *testing.T) {
	t.Parallel()
	answers := func(safe, byPlan code.Safe) *report.Report {
		r := &report.Report{}
		r.Summary.Answer, r.Summary.AnswerByPlan = &report.SafeAnswer{Safe: safe}, &report.PlanAnswer{Safe: byPlan}
		return r
	}
	for _, c := range []struct {
		report *report.Report
		fails  string // of each kind, in this order
	}{
		{answers(code.Yes, code.Yes), ""},
		{answers(code.WithWork, code.Yes), "not-yes "},
		{answers(code.WithWork, code.WithWork), "not-yes by-plan "},
		{answers(code.No, code.Yes), "no not-yes "},
		{answers(code.No, code.Unclear), "no not-yes by-plan "},
		{answers(code.Unclear, code.Unclear), "not-yes by-plan unknown "},
		{&report.Report{}, "not-yes by-plan unknown "},
	} {
		var got string
		for _, kind := range failNames() {
			if (failOn{kind}).verdict(c.report) != nil {
				got += kind + " "
			}
		}
		if got != c.fails {
			t.Errorf("%+v: fails %q, want %q", c.report.Summary, got, c.fails)
		}
	}
	if err := (failOn{"no", "not-yes"}).verdict(answers(code.No, code.No)); err == nil || err.(*cli.FailOnError).Message != "--fail-on no,not-yes: the answer is NO" {
		t.Errorf("said twice: %v", err)
	}
}

// The action, the manifests and the documents name the same kinds, and the action lists all that
// there are.
func TestWhatFailsIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	const kinds = "no,ghost,check,error"
	for file, want := range map[string]string{
		"action.yml": "default: " + kinds + "\n", "deploy/cronjob.yaml": "--fail-on=stale-backup," + kinds, "deploy/job-indexed.yaml": "--fail-on=stale-backup," + kinds,
		"docs/ci.md": "`" + kinds + "` is what the action and the manifests use", "README.md": "`--fail-on " + kinds + "`",
	} {
		data, err := os.ReadFile(filepath.Join("../../..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), want) {
			t.Errorf("%s has no %q", file, want)
		}
		for _, other := range regexp.MustCompile(`--fail-on[ =]((?:\w+,)+\w+)`).FindAllStringSubmatch(string(data), -1) {
			if other[1] != kinds && strings.Contains(other[1], "ghost,") {
				t.Errorf("%s has --fail-on %s", file, other[1])
			}
		}
		if list := "(" + strings.Join(failNames(), ", ") + ")"; file == "action.yml" && !strings.Contains(string(data), list) {
			t.Errorf("%s does not list %s", file, list)
		}
	}
}

package program

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// failKinds are what --fail-on of detect can name, the answers first, and what a report has of
// it: empty for nothing. What rules set aside does not fail.
var failKinds = []struct {
	name string
	has  func(*report.Report) string
}{
	{"no", func(r *report.Report) string {
		return answerIs(r, func(safe code.Safe) bool { return safe == code.No })
	}},
	{"not-yes", func(r *report.Report) string {
		return answerIs(r, func(safe code.Safe) bool { return safe != code.Yes })
	}},
	{"by-plan", func(r *report.Report) string {
		safe := code.Unclear // of a report without that answer nobody knows
		if a := r.Summary.AnswerByPlan; a != nil {
			safe = a.Safe
		}
		if safe == code.Yes {
			return ""
		}
		return "by the plan, the answer is " + report.SafeWords(safe)
	}},
	{"ghost", func(r *report.Report) string { return counted(r.Open().Ghost, "Ghost") }},
	{"stale", func(r *report.Report) string { return counted(r.Open().Stale, "Stale") }},
	{"unknown", func(r *report.Report) string {
		if r.IsLive() {
			return counted(r.Open().Unknown, "Unknown")
		}
		return english.Join(", ", answerIs(r, func(safe code.Safe) bool { return safe == code.Unclear }), counted(r.Open().Unknown, "Unknown"))
	}},
	{"unattributed", func(r *report.Report) string {
		return counted(r.ToConfirm(), "to confirm")
	}},
	{"error", func(r *report.Report) string { return counted(r.Summary.Errors, "with an error") }},
	{"leaked", drifted("LEAKED")},
	{"lost", drifted("LOST")},
	{"stuck", drifted("STUCK")},
	{staleBackup, func(r *report.Report) string { return staleBackups(r.Checks) }},
	{"check", func(r *report.Report) string { return counted(r.OpenCheckErrors(), "wrong in the backup itself") }},
}

// ofRestore are those that only a report of a backup has.
var ofRestore = []string{"no", "not-yes", "by-plan", "check", staleBackup}

// ofLive are those that only a report of a management cluster that runs has.
var ofLive = []string{"leaked", "lost", "stuck"}

// staleBackup is the kind of a backup that is older than --max-age, or whose age is not known: of all
// commands that can choose one by its age.
const staleBackup = "stale-backup"

// staleBackups says which backups are, and why.
func staleBackups(all []report.Check) string { return english.First(few, report.StaleBackups(all)) }

// drifted counts what is of one word in such a report.
func drifted(word string) func(*report.Report) string {
	return func(r *report.Report) string {
		n := 0
		for _, d := range r.Drift() {
			if d.Word == word {
				n++
			}
		}
		return counted(n, word)
	}
}

func counted(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// answerIs says what the answer is, if it is one of those.
func answerIs(r *report.Report, is func(code.Safe) bool) string {
	safe := code.Unclear // of a report without an answer nobody knows
	if a := r.Summary.Answer; a != nil {
		safe = a.Safe
	}
	if !is(safe) {
		return ""
	}
	return "the answer is " + r.Answer().Safe
}

// failNames returns their names.
func failNames() []string {
	out := make([]string, len(failKinds))
	for i, k := range failKinds {
		out[i] = k.name
	}
	return out
}

// failOn is the value of --fail-on: kinds, separated by commas.
type failOn []string

func parseFailOn(value, command string, known []string) (failOn, error) {
	if value == "" {
		return nil, nil
	}
	var out failOn
	for kind := range strings.SplitSeq(value, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(known, kind) {
			return nil, &cli.UsageError{
				Message: fmt.Sprintf("--fail-on %s is not known; it is one or more of %s, separated by commas", kind, strings.Join(known, ", ")),
				Command: command,
			}
		}
		out = append(out, kind)
	}
	return out, nil
}

// matches says what the report holds of what it names.
func (f failOn) matches(r *report.Report) (found []string) {
	for _, kind := range failKinds {
		if !slices.Contains(f, kind.name) {
			continue
		}
		if text := kind.has(r); text != "" && !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	return found
}

// verdict returns an error when the report holds what it names.
func (f failOn) verdict(r *report.Report) error { return f.found(f.matches(r)...) }

// found returns the error for what was found of what it names; nil where all is empty.
func (f failOn) found(says ...string) error {
	if text := english.Join(", ", says...); text != "" {
		return &cli.FailOnError{Message: fmt.Sprintf("--fail-on %s: %s", strings.Join(f, ","), text)}
	}
	return nil
}

// fit refuses what the result of such a source never has.
func (f failOn) fit(live bool, command string) error {
	other, why := ofLive, "is about a management cluster that runs, and --backup reads one that is to be restored: use ghost or stale"
	if live {
		other, why = ofRestore, "is about a restore, and --kubeconfig reads a management cluster that runs"
		if command == "detect" {
			why += ": use leaked, lost, stuck, unknown, unattributed or error"
		}
	}
	for _, kind := range f {
		if slices.Contains(other, kind) {
			return &cli.UsageError{Message: "--fail-on " + kind + " " + why, Command: command}
		}
	}
	return nil
}

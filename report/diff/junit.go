package diff

import (
	"fmt"
	"io"
	"strings"

	"drift-detector/report"
	"drift-detector/report/junit/document"
)

// JUnit writes the diff as JUnit XML: a suite for the whole, whose tests fail when
// the status got worse and err when a report is incomplete, and one for each list.
// What is Ghost, Stale or to be confirmed now and was not, fails; what became Unknown
// is an error; what is ignored or of the management cluster itself is skipped. All
// else passes.
func JUnit(w io.Writer, d *Diff) error {
	suites := func(yield func(*document.Suite) bool) {
		if !yield(d.whole()) {
			return
		}
		for _, s := range d.sections() {
			if !yield(s.junit()) {
				return
			}
		}
	}
	if err := document.Write(w, Kind, suites); err != nil {
		return fmt.Errorf("writing the diff as JUnit XML: %w", err)
	}
	return nil
}

// whole is the tests on the two reports as such.
func (d *Diff) whole() *document.Suite {
	s, taken := &document.Suite{Name: "the whole"}, document.Names{}
	status := document.Case{Class: s.Name, Name: "status"}
	text := document.Clean(d.headline() + " Status: " + d.verdict(quoted, " -> "))
	if d.Worse {
		status.Failure = &document.Outcome{Type: "worse", Message: text, Text: text}
	} else {
		status.Out = &document.Output{Text: text}
	}
	complete := document.Case{Class: s.Name, Name: "complete"}
	text = document.Clean(strings.Join(d.Warnings, " "))
	if d.Complete {
		complete.Out = &document.Output{Text: text}
	} else {
		complete.Error = &document.Outcome{Type: "incomplete", Message: text, Text: text}
	}
	s.Add(status, taken)
	s.Add(complete, taken)
	return s
}

func (s *section) junit() *document.Suite {
	out, taken := &document.Suite{Name: s.title}, document.Names{}
	for i := range s.rows {
		r := &s.rows[i]
		c := document.Case{Class: s.title, Name: r.name}
		if r.place != "" {
			c.Class += "." + r.place
		}
		o := r.outcome()
		switch {
		case r.aside != "":
			c.Skipped = o
		case r.isError():
			c.Error = o
		case r.isFailure():
			c.Failure = o
		default:
			c.Out = &document.Output{Text: o.Text}
		}
		out.Add(c, taken)
	}
	return out
}

func (r *row) outcome() *document.Outcome {
	lines := []string{document.Clean(r.status + ": " + r.name)}
	for i := range r.facts {
		lines = append(lines, document.Clean(r.facts[i].line()))
	}
	return &document.Outcome{
		Type: document.Clean(r.status), Message: document.Clean(strings.TrimSpace(r.status + " " + r.aside)), Text: strings.Join(lines, "\n"),
	}
}

// became says that the row is new, or has another status than before.
func (r *row) became() bool {
	if r.gone {
		return false
	}
	changed := false
	for i := range r.facts {
		if changed = changed || r.facts[i].change; r.facts[i].change && r.facts[i].label == "status" {
			return true
		}
	}
	return !changed
}

func (r *row) isFailure() bool {
	return r.became() && (r.status == string(report.Ghost) || r.status == string(report.Stale) || r.status == string(report.Unattributed))
}

func (r *row) isError() bool {
	return r.became() && (r.status == string(report.Unknown) || r.status == "error")
}

package junit

import (
	"fmt"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report/code"
	"drift-detector/report/junit/document"
	"drift-detector/report/outline"
)

// verdict is what becomes of a test.
type verdict int

const (
	passes verdict = iota
	fails          // something is wrong
	errs           // it is not known
	skips          // nobody asked for it to fail
)

// test returns an item as a test. Kind is the type of its outcome. What is set aside is
// skipped, whatever else is said of it.
func test(class, name, kind string, v verdict, it *outline.Item) document.Case {
	c := document.Case{Class: class, Name: name}
	o := &document.Outcome{Type: document.Clean(kind), Message: document.Clean(message(it)), Text: text(it)}
	switch {
	case it.Aside != "":
		o.Message = document.Clean(it.Aside)
		o.Text = english.Join("\n", o.Message, o.Text)
		c.Skipped = o
	case v == fails:
		c.Failure = o
	case v == errs:
		c.Error = o
	case v == skips:
		c.Skipped = o
	case it.Mark == "*":
		c.Out = &document.Output{Text: o.Text}
	}
	return c
}

// machine returns Ghost or Stale, which fail, Unknown, which errs, or Healthy. One that is
// Healthy and has a warning that is a danger fails, and is of the type of that.
func machine(class string, it *outline.Item) document.Case {
	v := errs
	if code.Status(it.Status) == code.Healthy {
		for i := range it.Facts {
			if f := &it.Facts[i]; code.NeedsPerson(code.Reason(f.Code)) {
				danger := *it
				danger.Code, danger.Text = f.Code, f.Text
				return test(class, it.Name, f.Code, fails, &danger)
			}
		}
	}
	switch code.Status(it.Status) {
	case code.Ghost, code.Stale:
		v = fails
	case code.Healthy:
		v = passes
	}
	return test(class, it.Name, it.Status, v, it)
}

// existence returns whether something exists that a restore depends on.
func existence(class, name, kind string, it *outline.Item) document.Case {
	switch code.Presence(it.Status) {
	case code.Present:
		return test(class, name, kind+"Present", passes, it)
	case code.Absent:
		return test(class, name, kind+"Absent", fails, it)
	}
	return test(class, name, kind+"Undecided", errs, it)
}

func message(it *outline.Item) string { return english.Join(": ", it.Code, it.Text) }

// text returns all that is said about an item, a line for each fact and step.
func text(it *outline.Item) string {
	lines := []string{english.Join(": ", it.Status, it.Code, it.Text)}
	for i := range it.Facts {
		f := &it.Facts[i]
		if said := english.Join("  ", values(f), f.Said()); said != "" {
			lines = append(lines, english.Join(": ", f.Inline(), said))
		}
	}
	for _, s := range it.Steps {
		lines = append(lines, fmt.Sprintf("%s, %s: %s", s.When, s.Who, s.Text))
	}
	return cleanLines(lines)
}

func values(f *outline.Fact) string {
	all := make([]string, len(f.Values))
	for i, v := range f.Values {
		all[i] = english.Join(" ", v.Label, v.Text)
	}
	return strings.Join(all, "  ")
}

// cleanLines joins lines, in none of which is a line break.
func cleanLines(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = document.Clean(l)
	}
	return english.Join("\n", out...)
}

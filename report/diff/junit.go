package diff

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"drift-detector/report"
)

type testsuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Suites   []testsuite `xml:"testsuite"`
}

type testsuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
	Out     string   `xml:"system-out,omitempty"`
}

type outcome struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the diff as JUnit XML: a suite for the whole, whose tests fail when
// the status got worse and err when a report is incomplete, and one for each list.
// What is Ghost, Stale or to be confirmed now and was not, fails; what became Unknown
// is an error; what is ignored or of the management cluster itself is skipped. All
// else passes.
func JUnit(w io.Writer, d *Diff) error {
	all := testsuites{Name: Kind}
	all.add(d.whole())
	for _, s := range d.sections() {
		all.add(s.junit())
	}
	doc, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, doc)
	}
	if err != nil {
		return fmt.Errorf("writing the diff as JUnit XML: %w", err)
	}
	return nil
}

func (t *testsuites) add(s testsuite) {
	taken := map[string]bool{}
	for i := range s.Cases {
		c := &s.Cases[i]
		c.Name = unique(taken, xmlText(c.Class), xmlText(c.Name))
		c.Class = xmlText(c.Class)
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	t.Tests += s.Tests
	t.Failures += s.Failures
	t.Errors += s.Errors
	t.Suites = append(t.Suites, s)
}

// unique is a name that no other test of the class has: of two with one name
// readers show one.
func unique(taken map[string]bool, class, name string) string {
	if name == "" {
		name = "(no name)"
	}
	try := name
	for i := 2; taken[key(class, try)]; i++ {
		try = fmt.Sprintf("%s (%d)", name, i)
	}
	taken[key(class, try)] = true
	return try
}

// whole is the tests on the two reports as such.
func (d *Diff) whole() testsuite {
	s := testsuite{Name: "the whole"}
	status := testcase{Class: s.Name, Name: "status"}
	text := xmlText(d.headline() + " Status: " + d.verdict(quoted, " -> "))
	if d.Worse {
		status.Failure = &outcome{"worse", text, text}
	} else {
		status.Out = text
	}
	complete := testcase{Class: s.Name, Name: "complete"}
	text = xmlText(strings.Join(d.Warnings, " "))
	if d.Complete {
		complete.Out = text
	} else {
		complete.Error = &outcome{"incomplete", text, text}
	}
	s.Cases = []testcase{status, complete}
	return s
}

func (s *section) junit() testsuite {
	out := testsuite{Name: s.title}
	for i := range s.rows {
		r := &s.rows[i]
		var lines []string
		for j := range r.facts {
			lines = append(lines, r.facts[j].line(quoted))
		}
		c := testcase{Class: s.title, Name: r.name}
		if r.place != "" {
			c.Class += "." + r.place
		}
		o := &outcome{xmlText(r.status), xmlText(strings.TrimSpace(r.status + " " + r.aside)), xmlLines(append([]string{r.status + ": " + r.name}, lines...))}
		switch {
		case r.aside != "":
			c.Skipped = o
		case r.isError():
			c.Error = o
		case r.isFailure():
			c.Failure = o
		default:
			c.Out = o.Text
		}
		out.Cases = append(out.Cases, c)
	}
	return out
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
	return r.became() && (r.status == report.Ghost || r.status == report.Stale || r.status == Unattributed)
}

func (r *row) isError() bool {
	return r.became() && (r.status == report.Unknown || r.status == "error")
}

// attachment is what GitLab makes a link to a file of the job.
var attachment = strings.NewReplacer("[[ATTACHMENT|", `[[ATTACHMENT\x7c`)

// xmlText makes foreign text fit for people; the encoder makes it fit for XML.
func xmlText(s string) string { return attachment.Replace(clean(s)) }

func xmlLines(lines []string) string {
	for i := range lines {
		lines[i] = xmlText(lines[i])
	}
	return strings.Join(lines, "\n")
}

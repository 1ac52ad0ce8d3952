// Package document is JUnit XML as its readers read it: valid by junit-10.xsd of
// Jenkins' xUnit plugin (3.1), and with what the page "Unit test reports" of
// GitLab's documentation (18) says that GitLab reads: the text of a failure, not
// its message, and only the first test of two that have one class and name.
package document

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"strings"

	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// Suite is tests with their sums, which Add keeps.
type Suite struct {
	XMLName    xml.Name    `xml:"testsuite"`
	Name       string      `xml:"name,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Errors     int         `xml:"errors,attr"`
	Skipped    int         `xml:"skipped,attr"`
	Properties *Properties `xml:"properties"`
	Cases      []Case      `xml:"testcase"`
}

// Properties are what is known of a suite in addition to its tests.
type Properties struct {
	All []Property `xml:"property"`
}

// Property is one of them.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is one test. It passes when it has neither Failure, Error nor Skipped.
type Case struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *Outcome `xml:"failure"`
	Error   *Outcome `xml:"error"`
	Skipped *Outcome `xml:"skipped"`
	Out     *Output  `xml:"system-out"`
}

// Outcome is why a test does not pass. Text repeats Message, for readers that
// show only one of them.
type Outcome struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

// Output is what there is to say of a test that passes.
type Output struct {
	Text string `xml:",cdata"`
}

// Set adds a property.
func (s *Suite) Set(name string, value any) {
	if s.Properties == nil {
		s.Properties = &Properties{}
	}
	s.Properties.All = append(s.Properties.All, Property{name, Clean(fmt.Sprint(value))})
}

// Add adds a test. What it is called is foreign, and escaped here; its outcomes
// are not.
func (s *Suite) Add(c Case, taken Names) {
	c.Class = Clean(c.Class)
	c.Name = taken.Unique(c.Class, Clean(c.Name))
	s.Cases = append(s.Cases, c)
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

// Names are those that are taken, with the class that they are of, and how many are called
// so.
type Names map[[2]string]int

// Unique makes a name one that no other of its class has.
func (n Names) Unique(class, name string) string {
	if name == "" {
		name = "(no name)"
	}
	try := name
	for n[[2]string{class, try}] > 0 {
		n[[2]string{class, name}]++
		try = fmt.Sprintf("%s (%d)", name, n[[2]string{class, name}])
	}
	n[[2]string{class, try}] = 1
	return try
}

// Write writes a document. It goes through the suites twice, for their sums come
// before them and all of them at once are too much for a large fleet. It returns
// the first error of the writer.
func Write(w io.Writer, name string, suites iter.Seq[*Suite]) error {
	var sums Suite
	for s := range suites {
		sums.Tests += s.Tests
		sums.Failures += s.Failures
		sums.Errors += s.Errors
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s<testsuites name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\">\n",
		xml.Header, name, sums.Tests, sums.Failures, sums.Errors)
	e := xml.NewEncoder(b)
	e.Indent("  ", "  ")
	for s := range suites {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	if _, err := b.WriteString("\n</testsuites>\n"); err != nil {
		return err
	}
	return b.Flush()
}

// forbidden are the characters that XML 1.0 has no way to hold and that
// terminal.Escape leaves alone (XML 1.0, 2.2), and the beginning of what GitLab
// makes a link to a file of the job ("Add screenshots to test reports").
var forbidden = strings.NewReplacer("\ufffe", `\xef\xbf\xbe`, "\uffff", `\xef\xbf\xbf`, "[[ATTACHMENT|", `[[ATTACHMENT\x7c`)

// Clean makes foreign text fit for XML and for people who see it in a terminal.
func Clean(s string) string { return forbidden.Replace(terminal.Escape(report.Valid(s))) }

// Package junit writes a report as JUnit XML, for the test views of Jenkins,
// GitLab and others. A machine is a test of the suite of its cluster:
//
//   - Ghost and Stale are failures of that type, Unknown is an error.
//   - Healthy passes. What it has of warnings is its output.
//   - A finding that an ignore rule sets aside is skipped, with the rule's reason.
//   - Machines of the management cluster itself are skipped: it is lost anyway,
//     and they are no findings.
//
// So are its pools and the things that a restore depends on: one that is gone
// is a failure, one that could not be decided an error. A suite before the
// clusters holds the answer as one test, so that nothing that makes a restore
// unsafe leaves all green, and the counts of the report as properties; suites
// after them hold the VMs to confirm, and the places that were listed with the
// errors of the run. The counts of a suite are of its tests: a report that was
// shortened has none for its healthy machines, and a property says of how many.
// What the backup itself lacks fails no test here; the check command is for that.
package junit

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"

	"drift-detector/report"
)

// Write writes the report as one XML document. It is valid by junit-10.xsd of
// Jenkins' xUnit plugin (3.1), and holds what the page "Unit test reports" of
// GitLab's documentation (18) says that GitLab reads: the text of a failure, not its
// message, and only the first test of two that have one class and name. So every
// message stands in the text too, and no two tests are called the same. It
// returns the first error of the writer.
func Write(w io.Writer, r *report.Report) error {
	b := bufio.NewWriter(w)
	if err := write(b, r); err != nil {
		return fmt.Errorf("writing the report as JUnit XML: %w", err)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the report as JUnit XML: %w", err)
	}
	return nil
}

// write goes through the suites twice, for their sums stand before them and all
// of them at once are too much for a large estate.
func write(b *bufio.Writer, r *report.Report) error {
	var sums suite
	for s := range suites(r) {
		sums.Tests += s.Tests
		sums.Failures += s.Failures
		sums.Errors += s.Errors
	}
	fmt.Fprintf(b, "%s<testsuites name=\"drift-detector\" tests=\"%d\" failures=\"%d\" errors=\"%d\">\n",
		xml.Header, sums.Tests, sums.Failures, sums.Errors)
	e := xml.NewEncoder(b)
	e.Indent("  ", "  ")
	for s := range suites(r) {
		if err := e.Encode(s); err != nil {
			return err
		}
	}
	_, err := b.WriteString("\n</testsuites>\n")
	return err
}

type suite struct {
	XMLName    xml.Name   `xml:"testsuite"`
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testcase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
	Out     *output  `xml:"system-out"`
}

type outcome struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

type output struct {
	Text string `xml:",cdata"`
}

func (s *suite) set(name string, value any) {
	s.Properties = append(s.Properties, property{name, clean(fmt.Sprint(value))})
}

// add adds a test. What it is called is foreign, and escaped here.
func (s *suite) add(c testcase, taken names) {
	c.Class = clean(c.Class)
	c.Name = taken.unique(c.Class, clean(c.Name))
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

// names are those that are taken, with the class that they are of.
type names map[[2]string]bool

// unique makes a name one that no other of its class has.
func (n names) unique(class, name string) string {
	if name == "" {
		name = "(no name)"
	}
	try := name
	for i := 2; n[[2]string{class, try}]; i++ {
		try = fmt.Sprintf("%s (%d)", name, i)
	}
	n[[2]string{class, try}] = true
	return try
}

package junit

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/junit/document"
	"drift-detector/report/outline"
)

const backupSuite = "the backup"

// Readiness writes what the check command found as one XML document: a test of the
// answer, which fails when the backup cannot be restored, and one of each finding.
// It returns the first error of the writer.
func Readiness(w io.Writer, r *report.Readiness) error {
	all := func() []*document.Suite {
		tests := document.Names{}
		return []*document.Suite{fitness(r, tests), checks(r.Checks, r.Backups, tests)}
	}
	var suites iter.Seq[*document.Suite] = func(yield func(*document.Suite) bool) { slices.Values(all())(yield) }
	if err := document.Write(w, "drift-detector check", suites); err != nil {
		return fmt.Errorf("writing the findings as JUnit XML: %w", err)
	}
	return nil
}

// fitness returns the answer as a test, and what was counted.
func fitness(r *report.Readiness, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "check"}
	answer, mark := r.Answer()
	lines := []string{r.Question() + " " + answer, "Found: " + r.Summary.String()}
	for i := range r.Backups {
		lines = append(lines, english.Capital(r.Subject())+": "+r.Backups[i].Path)
	}
	if r.Filter != nil {
		lines = append(lines, "Only: "+r.Filter.String())
	}
	c := document.Case{Class: s.Name, Name: "can be restored", Out: &document.Output{Text: cleanLines(lines)}}
	if mark == "!" {
		c.Out, c.Failure = nil, &document.Outcome{Type: "NotFit", Message: document.Clean(answer), Text: cleanLines(lines)}
	}
	s.Add(c, tests)
	s.Set("version", r.Tool.Version)
	s.Set("errors", r.Summary.Errors)
	s.Set("warnings", r.Summary.Warnings)
	s.Set("infos", r.Summary.Infos)
	s.Set("ignored", r.Summary.Ignored)
	return s
}

// checks returns a test of each check: an error fails, a warning passes and is its output,
// and what a rule sets aside is skipped.
func checks(all []report.Check, from []report.Backup, tests document.Names) *document.Suite {
	s := &document.Suite{Name: backupSuite}
	if slices.ContainsFunc(from, func(b report.Backup) bool { return b.Live }) {
		s.Name = "the management cluster"
	}
	section := outline.Checks(all, from)
	for i := range section.Items {
		it := &section.Items[i]
		for j := range it.Likes {
			one := it.Likes[j]
			one.Status, one.Code, one.Aside = it.Status, it.Code, it.Aside
			one.Facts = append(slices.Clone(one.Facts), it.Facts...)
			v := passes
			if code.Severity(it.Status) == code.CheckError {
				v = fails
			} else {
				one.Mark = "*" // what is said of a test that passes is its output
			}
			s.Add(test(s.Name, it.Code+" "+one.Name, it.Code, v, &one), tests)
		}
	}
	return s
}

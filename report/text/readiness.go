package text

import (
	"fmt"
	"io"
	"slices"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// Readiness writes the document for a person, the answer first, then the
// findings by severity and kind; why and what to do stand once for each kind.
// All that comes from outside is escaped.
func Readiness(w io.Writer, r *report.Readiness, o Options) error {
	p := terminal.NewPrinter(w, o.Width, o.Color)
	answer, st := "YES", terminal.Green
	switch {
	case r.Summary.Errors > 0:
		answer, st = "NOT WITHOUT MANUAL WORK", terminal.Red
	case r.Summary.Warnings > 0:
		answer, st = "YES, WITH CARE", terminal.Yellow
	}
	p.Print(0, 4, terminal.Lead(terminal.Bold, "Fit to be restored?", 0).Prose(st, answer))
	p.Print(0, 4, terminal.Lead(terminal.Plain, "Found:", 0).Prose(terminal.Plain, r.Summary.String()))
	for i := range r.Backups {
		p.Print(0, 4, terminal.Lead(terminal.Plain, "Backup:", 0).Prose(terminal.Plain, r.Backups[i].Path))
	}
	if r.Filter != nil {
		p.Print(0, 4, terminal.Lead(terminal.Plain, "Only:", 0).Prose(terminal.Plain, r.Filter.String()))
	}
	for group := range groups(r.Checks) {
		p.Newline()
		l := checkLook(group[0].Severity)
		p.Print(0, 4, terminal.Lead(l.style, l.mark, 0).Field(terminal.Bold, group[0].Code).Prose(terminal.Dim, fmt.Sprintf("(%s, %d)", group[0].Severity, len(group))))
		for i := range group {
			p.Print(2, 4, checkLine(&group[i], r.Backups))
		}
		p.Print(2, 4, terminal.Lead(terminal.Bold, "Why:", 0).Prose(terminal.Dim, group[0].Why))
		p.Print(2, 4, terminal.Lead(terminal.Bold, "Do:", 0).Prose(terminal.Dim, group[0].Do))
	}
	return p.Flush()
}

// checkLine is a check as one line of a group.
func checkLine(c *report.Check, from []report.Backup) terminal.Line {
	row := terminal.Lead(terminal.Plain, c.Object+":", 0).Prose(terminal.Plain, c.Message)
	if len(from) > 1 && c.Backup < len(from) {
		row = row.Named(terminal.Dim, "in", from[c.Backup].Path)
	}
	return row
}

// groups are neighbours of one kind and one meaning.
func groups(all []report.Check) func(func([]report.Check) bool) {
	return func(yield func([]report.Check) bool) {
		for len(all) > 0 {
			first := all[0]
			n := slices.IndexFunc(all, func(c report.Check) bool {
				return c.Severity != first.Severity || c.Code != first.Code || c.Why != first.Why || c.Do != first.Do
			})
			if n < 0 {
				n = len(all)
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// maxChecks is how many findings of a kind the text of a Report lists.
const maxChecks = 3

// checks prints what is wrong with the backup itself.
func (p printer) checks(r *report.Report, list bool) {
	s := report.CountChecks(r.Checks)
	if s.Errors+s.Warnings == 0 {
		return
	}
	p.Title("THE BACKUP (" + s.String() + ")")
	for group := range groups(r.Checks) {
		if group[0].Severity == report.CheckInfo && !list {
			continue
		}
		l := checkLook(group[0].Severity)
		p.Print(2, 4, terminal.Lead(l.style, l.mark, 0).Field(terminal.Plain, group[0].Code).Prose(terminal.Dim, fmt.Sprintf("(%s, %d)", group[0].Severity, len(group))))
		for i := range group {
			if i == maxChecks && !list {
				p.Print(6, 8, terminal.Lead(terminal.Dim, fmt.Sprintf("and %d more", len(group)-i), 0))
				break
			}
			p.Print(6, 8, checkLine(&group[i], r.Backups))
		}
	}
	p.hint("drift-detector check says why each matters and what to do")
}

package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/readiness"
)

// Check is one thing that is to be known before the backup is restored.
type Check struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Backup   int    `json:"backup"`
	Object   string `json:"object"`
	Message  string `json:"message"`
	Why      string `json:"why"`
	Do       string `json:"do"`
}

// Checks turns findings into what documents hold, in their order.
func Checks(found []readiness.Finding) []Check {
	out := make([]Check, len(found))
	for i, f := range found {
		out[i] = Check{
			Severity: string(f.Severity), Code: f.Code, Backup: f.Backup,
			Object: f.Object, Message: f.Message, Why: f.Why, Do: f.Do,
		}
	}
	return out
}

// Readiness is the document of the check command: what a Report says about the
// backup, without the infrastructure.
type Readiness struct {
	SchemaVersion string           `json:"schemaVersion"`
	Tool          Tool             `json:"tool"`
	GeneratedAt   time.Time        `json:"generatedAt"`
	Backups       []Backup         `json:"backups"`
	Summary       ReadinessSummary `json:"summary"`
	Checks        []Check          `json:"checks"`
}

// ReadinessSummary counts the checks by severity.
type ReadinessSummary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// NewReadiness makes the document of a Snapshot, of what providers miss in it,
// and of the findings.
func NewReadiness(s *backup.Snapshot, absent []backup.Absence, found []readiness.Finding, tool Tool, at time.Time) *Readiness {
	r := &Readiness{
		SchemaVersion: SchemaVersion, Tool: tool, GeneratedAt: utc(at),
		Backups: backups(s, absent), Checks: Checks(found),
	}
	r.Summary = countChecks(r.Checks)
	fill(&r.Backups)
	fill(&r.Checks)
	for i := range r.Backups {
		fill(&r.Backups[i].Missing)
	}
	return r
}

func countChecks(all []Check) ReadinessSummary {
	var s ReadinessSummary
	for i := range all {
		switch readiness.Severity(all[i].Severity) {
		case readiness.Error:
			s.Errors++
		case readiness.Warning:
			s.Warnings++
		case readiness.Info:
			s.Infos++
		}
	}
	return s
}

func (s ReadinessSummary) String() string {
	plural := func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", n, noun)
	}
	return plural(s.Errors, "error") + ", " + plural(s.Warnings, "warning") + ", " + plural(s.Infos, "note")
}

// ReadinessJSON writes the document itself, in the form of [JSON].
func ReadinessJSON(w io.Writer, r *Readiness) error {
	return Document(w, r)
}

// ReadinessText writes the document for a person, the answer first, then the
// findings by severity and kind; why and what to do stand once for each kind.
// All that comes from outside is escaped.
func ReadinessText(w io.Writer, r *Readiness, o TextOptions) error {
	p := newPrinter(w, o)
	answer, st := "YES", green
	switch {
	case r.Summary.Errors > 0:
		answer, st = "NOT WITHOUT MANUAL WORK", red
	case r.Summary.Warnings > 0:
		answer, st = "YES, WITH CARE", yellow
	}
	p.print(0, 4, lead(bold, "Fit to be restored?", 0).prose(st, answer))
	p.print(0, 4, lead(plain, "Found:", 0).prose(plain, r.Summary.String()))
	for i := range r.Backups {
		p.print(0, 4, lead(plain, "Backup:", 0).prose(plain, r.Backups[i].Path))
	}
	for group := range groups(r.Checks) {
		p.newline()
		l := checkLooks[group[0].Severity]
		p.print(0, 4, lead(l.style, l.mark, 0).field(bold, group[0].Code).prose(dim, fmt.Sprintf("(%s, %d)", group[0].Severity, len(group))))
		for i := range group {
			p.print(2, 4, group[i].line(len(r.Backups) > 1, r.Backups))
		}
		p.print(2, 4, lead(bold, "Why:", 0).prose(dim, group[0].Why))
		p.print(2, 4, lead(bold, "Do:", 0).prose(dim, group[0].Do))
	}
	return p.Flush()
}

// checkLooks are the mark and the colour of each severity.
var checkLooks = map[string]look{
	string(readiness.Error):   {"!", red, 0},
	string(readiness.Warning): {"?", yellow, 1},
	string(readiness.Info):    {"=", plain, 2},
}

// line is a check as one line of a group.
func (c *Check) line(several bool, from []Backup) line {
	row := lead(plain, c.Object+":", 0).prose(plain, c.Message)
	if several && c.Backup < len(from) {
		row = row.named(dim, "in", from[c.Backup].Path)
	}
	return row
}

// groups are neighbours of one kind and one meaning.
func groups(all []Check) func(func([]Check) bool) {
	return func(yield func([]Check) bool) {
		for len(all) > 0 {
			first := all[0]
			n := slices.IndexFunc(all, func(c Check) bool {
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

// checks is the part of a Report's text that tells of the backup itself.
func (p *printer) checks(r *Report, list bool) {
	s := countChecks(r.Checks)
	if s.Errors+s.Warnings == 0 {
		return
	}
	p.title("THE BACKUP (" + s.String() + ")")
	for group := range groups(r.Checks) {
		if group[0].Severity == string(readiness.Info) && !list {
			continue
		}
		l := checkLooks[group[0].Severity]
		p.print(2, 4, lead(l.style, l.mark, 0).field(plain, group[0].Code).prose(dim, fmt.Sprintf("(%s, %d)", group[0].Severity, len(group))))
		for i := range group {
			if i == maxChecks && !list {
				p.print(6, 8, lead(dim, fmt.Sprintf("and %d more", len(group)-i), 0))
				break
			}
			p.print(6, 8, group[i].line(len(r.Backups) > 1, r.Backups))
		}
	}
	p.hint("drift-detector check says why each matters and what to do")
}

package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/readiness"
	"drift-detector/report/terminal"
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
	// Clusters are those that it concerns, as namespace/name; none: the backup as a whole.
	Clusters []string `json:"clusters,omitempty"`
}

// Error says that part of the estate does not work after the restore until
// somebody acts.
func (c *Check) Error() bool { return c.Severity == string(readiness.Error) }

// CheckErrors counts the checks that are errors.
func (r *Report) CheckErrors() int { return countChecks(r.Checks).Errors }

// Checks turns findings into what documents hold, in their order.
func Checks(found []readiness.Finding) []Check {
	out := make([]Check, len(found))
	for i, f := range found {
		out[i] = Check{
			Severity: string(f.Severity), Code: f.Code, Backup: f.Backup,
			Object: f.Object, Message: f.Message, Why: f.Why, Do: f.Do,
		}
		for _, id := range f.Clusters {
			out[i].Clusters = append(out[i].Clusters, id.Namespace+"/"+id.Name)
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
	Filter        *Filter          `json:"filter,omitempty"` // which clusters the checks are of; absent when of all
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
		l := checkLooks[group[0].Severity]
		p.Print(0, 4, terminal.Lead(l.style, l.mark, 0).Field(terminal.Bold, group[0].Code).Prose(terminal.Dim, fmt.Sprintf("(%s, %d)", group[0].Severity, len(group))))
		for i := range group {
			p.Print(2, 4, group[i].line(len(r.Backups) > 1, r.Backups))
		}
		p.Print(2, 4, terminal.Lead(terminal.Bold, "Why:", 0).Prose(terminal.Dim, group[0].Why))
		p.Print(2, 4, terminal.Lead(terminal.Bold, "Do:", 0).Prose(terminal.Dim, group[0].Do))
	}
	return p.Flush()
}

// CheckMark is the mark before a check of a severity, and its colour.
func CheckMark(severity string) (mark string, style terminal.Style) {
	l := checkLooks[severity]
	return l.mark, l.style
}

// checkLooks are the mark and the colour of each severity.
var checkLooks = map[string]look{
	string(readiness.Error):   {"!", terminal.Red, 0},
	string(readiness.Warning): {"?", terminal.Yellow, 1},
	string(readiness.Info):    {"=", terminal.Plain, 2},
}

// line is a check as one line of a group.
func (c *Check) line(several bool, from []Backup) terminal.Line {
	row := terminal.Lead(terminal.Plain, c.Object+":", 0).Prose(terminal.Plain, c.Message)
	if several && c.Backup < len(from) {
		row = row.Named(terminal.Dim, "in", from[c.Backup].Path)
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
func (p printer) checks(r *Report, list bool) {
	s := countChecks(r.Checks)
	if s.Errors+s.Warnings == 0 {
		return
	}
	p.Title("THE BACKUP (" + s.String() + ")")
	for group := range groups(r.Checks) {
		if group[0].Severity == string(readiness.Info) && !list {
			continue
		}
		l := checkLooks[group[0].Severity]
		p.Print(2, 4, terminal.Lead(l.style, l.mark, 0).Field(terminal.Plain, group[0].Code).Prose(terminal.Dim, fmt.Sprintf("(%s, %d)", group[0].Severity, len(group))))
		for i := range group {
			if i == maxChecks && !list {
				p.Print(6, 8, terminal.Lead(terminal.Dim, fmt.Sprintf("and %d more", len(group)-i), 0))
				break
			}
			p.Print(6, 8, group[i].line(len(r.Backups) > 1, r.Backups))
		}
	}
	p.hint("drift-detector check says why each matters and what to do")
}

package report

import (
	"io"
	"time"
)

// Check is one thing that is to be known before the backup is restored.
type Check struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Backup   int      `json:"backup"`
	Object   string   `json:"object"`
	Message  string   `json:"message"`
	Why      string   `json:"why"`
	Do       string   `json:"do"`
	// Clusters are those that it concerns, as namespace/name; none: the backup as a whole.
	Clusters []string `json:"clusters,omitempty"`
}

// Error reports whether part of a cluster does not work after the restore until
// somebody acts.
func (c *Check) Error() bool { return c.Severity == CheckError }

// CheckErrors counts the checks that are errors.
func (r *Report) CheckErrors() int { return CountChecks(r.Checks).Errors }

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

// CountChecks counts checks by severity.
func CountChecks(all []Check) ReadinessSummary {
	var s ReadinessSummary
	for i := range all {
		switch all[i].Severity {
		case CheckError:
			s.Errors++
		case CheckWarning:
			s.Warnings++
		case CheckInfo:
			s.Infos++
		}
	}
	return s
}

func (s ReadinessSummary) String() string {
	return plural(s.Errors, "error") + ", " + plural(s.Warnings, "warning") + ", " + plural(s.Infos, "note")
}

// ReadinessJSON writes the document itself, in the form of [JSON].
func ReadinessJSON(w io.Writer, r *Readiness) error {
	return Document(w, r)
}

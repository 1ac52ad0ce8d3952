package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// Check is one thing that is to be known before the backup is restored.
type Check struct {
	Severity code.Severity `json:"severity"`
	Code     code.Reason   `json:"code"`
	Backup   int           `json:"backup"`
	Object   string        `json:"object"`
	Message  string        `json:"message"`
	Why      string        `json:"why"`
	Do       string        `json:"do"`
	// Brief is the message without what else was found; absent where that is all.
	Brief string `json:"brief,omitempty"`
	// Clusters are those that it concerns, as namespace/name; none: the backup as a whole.
	Clusters []string `json:"clusters,omitempty"`
	Ignored  *Ignored `json:"ignored,omitempty"` // set when an ignore rule sets it aside
}

// Error reports whether part of a cluster does not work after the restore until
// somebody acts.
func (c *Check) Error() bool { return c.Severity == code.CheckError }

// CheckErrors counts the checks that are errors.
func (r *Report) CheckErrors() int { return CountChecks(r.Checks).Errors }

// OpenCheckErrors counts those that no ignore rule sets aside.
func (r *Report) OpenCheckErrors() int { return OpenChecks(r.Checks).Errors }

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
	// Releases counts the Helm releases of the backup; absent when none needs action.
	Releases *HelmReleases `json:"releases,omitempty"`
	// IgnoreRules are those about checks, in the order in which they were read.
	IgnoreRules []IgnoreRule `json:"ignoreRules,omitempty"`
}

// HelmReleases counts Helm's releases: what the command releases says about each.
type HelmReleases struct {
	Total   int `json:"total"`
	Stalled int `json:"stalled"` // that need action before or after the restore
}

// String says how many need action.
func (h *HelmReleases) String() string {
	verb := "need"
	if h.Stalled == 1 {
		verb = "needs"
	}
	return fmt.Sprintf("%d of %s %s action: drift-detector releases --backup FILE", h.Stalled, english.Count(h.Total, "Helm release"), verb)
}

// ReadinessSummary counts the checks by severity.
type ReadinessSummary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
	Ignored  int `json:"ignored,omitempty"` // of all of them, those that ignore rules set aside
}

// IsLive reports whether the checks are of a management cluster that runs: of what a backup that
// is taken now would lack.
func (r *Readiness) IsLive() bool { return isLive(r.Backups) }

// Question returns what Answer answers.
func (r *Readiness) Question() string {
	if r.IsLive() {
		return "Could a backup taken now be restored?"
	}
	return "Can it be restored?"
}

// Subject returns what was checked, in words.
func (r *Readiness) Subject() string { return code.Subject(r.IsLive()).String() }

// Answer says whether the backup can be restored, and how urgent that is, as
// [Mark]. What ignore rules set aside does not count.
func (r *Readiness) Answer() (answer, mark string) {
	switch open := OpenChecks(r.Checks); {
	case open.Errors > 0:
		return "NOT WITHOUT MANUAL WORK", "!"
	case open.Warnings > 0:
		return "YES, WITH CARE", "?"
	}
	return "YES", "="
}

// OpenChecks counts the checks that no ignore rule sets aside.
func OpenChecks(all []Check) ReadinessSummary {
	return CountChecks(slices.DeleteFunc(slices.Clone(all), func(c Check) bool { return c.Ignored != nil }))
}

// StaleBackups says of each backup that is old, or whose age is not known, why; none of what ignore rules
// set aside.
func StaleBackups(all []Check) (says []string) {
	for i := range all {
		if c := &all[i]; c.Ignored == nil && c.Code.IsOldBackup() {
			says = append(says, amid(c.Object)+" is stale: "+c.Message)
		}
	}
	return says
}

// amid returns a name of which so much is left, of its beginning and its end, that what is said of it is not cut away.
func amid(name string) string {
	const head, tail = 30, 50
	r := []rune(name)
	if len(r) <= head+tail {
		return name
	}
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// CountChecks counts checks by severity.
func CountChecks(all []Check) ReadinessSummary {
	var s ReadinessSummary
	for i := range all {
		if all[i].Ignored != nil {
			s.Ignored++
		}
		switch all[i].Severity {
		case code.CheckError:
			s.Errors++
		case code.CheckWarning:
			s.Warnings++
		case code.CheckInfo:
			s.Infos++
		}
	}
	return s
}

func (s ReadinessSummary) String() string {
	return english.Count(s.Errors, "error") + ", " + english.Count(s.Warnings, "warning") + ", " + english.Count(s.Infos, "note") + s.aside()
}

func (s ReadinessSummary) aside() string {
	if s.Ignored == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them set aside)", s.Ignored)
}

// ReadinessJSON writes the document itself, in the form of [JSON].
func ReadinessJSON(w io.Writer, r *Readiness) error {
	return Document(w, r)
}

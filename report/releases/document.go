// Package releases is the document of the releases command: what becomes of every
// Helm release after the restore, and what has drifted; and its text.
package releases

import (
	_ "embed" // the JSON Schema
	"io"
	"slices"
	"strings"
	"time"

	"drift-detector/detector/releases"
	"drift-detector/report"
)

// Document is what the command writes as JSON. Within schema 1 fields are only added.
type Document struct {
	SchemaVersion string                   `json:"schemaVersion"`
	Kind          string                   `json:"kind"`
	Tool          report.Tool              `json:"tool"`
	GeneratedAt   time.Time                `json:"generatedAt"`
	Backup        Backup                   `json:"backup"`
	Only          string                   `json:"only,omitempty"` // which releases are shown
	Summary       Summary                  `json:"summary"`
	Releases      []*releases.Release      `json:"releases"`
	WithoutRecord []releases.WithoutRecord `json:"withoutRecord"`
	IgnoreRules   []*releases.Rule         `json:"ignoreRules"`
	Said          []releases.Said          `json:"said"`
	Problems      []releases.Problem       `json:"problems"`
}

// Backup is the file that was read.
type Backup struct {
	Path        string    `json:"path"`
	SHA256      string    `json:"sha256"`
	WrittenFrom time.Time `json:"writtenFrom"`
	WrittenTo   time.Time `json:"writtenTo"`
	Items       int       `json:"items"`
	Stale       string    `json:"stale,omitempty"` // why it is old, or its age not known; empty where neither is
}

// Summary counts the releases that are shown.
type Summary struct {
	Releases int `json:"releases"`
	InSync   int `json:"inSync"`
	Drifted  int `json:"drifted"` // that have changed or removed objects, in every state
	Stalled  int `json:"stalled"`
	Added    int `json:"added"` // that have fields of others
	Unknown  int `json:"unknown"`
}

// New makes the document of a result.
func New(r *releases.Result, b Backup, tool report.Tool, now time.Time) *Document {
	d := &Document{
		SchemaVersion: "1", Kind: "drift-detector releases", Tool: tool, GeneratedAt: now.UTC(), Backup: b,
		Releases: r.Releases, WithoutRecord: r.WithoutRecord, IgnoreRules: r.Rules, Said: r.Said, Problems: r.Problems,
	}
	d.fill()
	return d
}

// Statuses are what [Document.Narrow] knows.
var Statuses = []string{"stalled=true", "stalled=false", "ready=true", "ready=false"}

// Narrow keeps the releases of a status.
func (d *Document) Narrow(status string) {
	name, want, _ := strings.Cut(status, "=")
	d.Only = strings.TrimPrefix(d.Only+", "+status, ", ")
	d.Releases = slices.DeleteFunc(d.Releases, func(r *releases.Release) bool {
		is := r.Stalled
		if name == "ready" {
			is = r.Ready == "True"
		}
		return is != (want == "true")
	})
	d.fill()
}

// fill counts, and makes empty lists of missing ones.
func (d *Document) fill() {
	d.Summary = Summary{Releases: len(d.Releases)}
	for _, r := range d.Releases {
		n := &d.Summary
		for _, c := range []struct {
			to *int
			is bool
		}{
			{&n.InSync, r.Reason == releases.InSync},
			{&n.Drifted, r.Counts.Changed+r.Counts.Removed > 0},
			{&n.Stalled, r.Stalled},
			{&n.Added, r.Counts.Added > 0},
			{&n.Unknown, r.Ready == "Unknown"},
		} {
			if c.is {
				*c.to++
			}
		}
	}
	d.Releases = orEmpty(d.Releases)
	d.WithoutRecord, d.IgnoreRules = orEmpty(d.WithoutRecord), orEmpty(d.IgnoreRules)
	d.Said, d.Problems = orEmpty(d.Said), orEmpty(d.Problems)
}

func orEmpty[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// Kinds are what --fail-on knows.
var Kinds = []string{"drifted", "stalled", "added"}

// Count returns how many releases there are of a kind of [Kinds].
func (d *Document) Count(kind string) int {
	return map[string]int{"drifted": d.Summary.Drifted, "stalled": d.Summary.Stalled, "added": d.Summary.Added}[kind]
}

// JSON writes the document.
func JSON(w io.Writer, d *Document) error { return report.Document(w, d) }

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the document, with a description of every field.
func Schema() []byte { return report.WithDefinitions(schema) }

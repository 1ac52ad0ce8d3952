// Package backups is the document of the backups command: which backups a store holds,
// which of them can be restored, and, compared with the infrastructure, which one to
// restore; and its text.
package backups

import (
	_ "embed" // the JSON Schema
	"io"
	"time"

	"drift-detector/report"
)

// Document is what the command writes as JSON. Within schema 1 fields are only added.
type Document struct {
	SchemaVersion string      `json:"schemaVersion"`
	Kind          string      `json:"kind"`
	Tool          report.Tool `json:"tool"`
	GeneratedAt   time.Time   `json:"generatedAt"`
	Place         string      `json:"place"`
	Only          string      `json:"only,omitempty"` // which backups are shown, in the words of the flags
	Summary       Summary     `json:"summary"`
	Backups       []*Backup   `json:"backups"`
	// Comparison is there after --compare only.
	Comparison *Comparison `json:"comparison,omitempty"`

	again string
}

// Again has the commands that the text suggests end with these flags, as a shell reads them:
// those of the run that also mean something to them.
func (d *Document) Again(flags string) {
	if flags != "" {
		d.again = " " + flags
	}
}

// Summary counts the backups that are shown.
type Summary struct {
	Backups    int    `json:"backups"`
	Restorable int    `json:"restorable"`
	Newest     string `json:"newestRestorable,omitempty"` // its name
}

// Backup is one backup of the store, as Velero describes it.
type Backup struct {
	Name       string     `json:"name"`
	Place      string     `json:"place"` // what --backup takes
	Schedule   string     `json:"schedule,omitempty"`
	Phase      string     `json:"phase,omitempty"`
	Started    *time.Time `json:"started,omitempty"`
	Completed  *time.Time `json:"completed,omitempty"`
	Errors     int        `json:"errors"`
	Warnings   int        `json:"warnings"`
	Expires    *time.Time `json:"expires,omitempty"`
	Expired    bool       `json:"expired"`
	Size       int64      `json:"size"` // of the tarball, in bytes
	Format     string     `json:"formatVersion,omitempty"`
	Kubernetes string     `json:"kubernetesVersion,omitempty"` // of the cluster that was backed up
	Restorable bool       `json:"restorable"`
	Why        []string   `json:"why"` // it can't be restored, or what to mind
}

// New makes the document of backups, the newest first.
func New(place, only string, all []*Backup, tool report.Tool, now time.Time) *Document {
	d := &Document{
		SchemaVersion: "1", Kind: "drift-detector backups", Tool: tool, GeneratedAt: now.UTC(),
		Place: place, Only: only, Backups: append([]*Backup{}, all...),
	}
	for _, b := range all {
		if b.Why == nil {
			b.Why = []string{}
		}
	}
	d.count()
	return d
}

// Compare adds the comparison of some of the backups. One that could not be read for it
// is not said to be restorable any more, whatever Velero wrote beside it.
func (d *Document) Compare(c *Comparison) {
	d.Comparison, c.again = c, d.again
	for _, k := range c.Compared {
		for _, b := range d.Backups {
			if b.Place == k.Place && k.Error != "" {
				b.Restorable, b.Why = false, append(b.Why, "can't be read: "+k.Error)
			}
		}
	}
	d.count()
}

func (d *Document) count() {
	d.Summary = Summary{Backups: len(d.Backups)}
	for _, b := range d.Backups {
		if b.Restorable {
			if d.Summary.Restorable++; d.Summary.Newest == "" {
				d.Summary.Newest = b.Name
			}
		}
	}
}

// JSON writes the document.
func JSON(w io.Writer, d *Document) error { return report.Document(w, d) }

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of the document, with a description of every field.
func Schema() []byte { return report.WithDefinitions(schema) }

// Package backups is the document of the backups command: which backups a store holds,
// which of them can be restored, and, compared with the infrastructure, which one to
// restore; and its text.
package backups

import (
	_ "embed" // the JSON Schema
	"io"
	"slices"
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

	flags  Flags
	others []Other
}

// Summary counts the backups that are shown.
type Summary struct {
	Backups    int    `json:"backups"`
	Restorable int    `json:"restorable"`
	Newest     string `json:"newestRestorable,omitempty"` // its name
	// Roots are the prefixes of the place that hold backups, each with its newest.
	Roots []Root `json:"roots"`
	// Left is how many more of those the place holds: older ones that --since or --last left out.
	Left int `json:"older,omitempty"`
	// Bounds are those that were reached, each with its number and what leaves more room.
	Bounds []string `json:"bounds,omitempty"`
}

// Root is what is before backups/ in the addresses of backups: the place of one management
// cluster, if everybody keeps to that.
type Root struct {
	Place  string `json:"place"`
	Newest string `json:"newestRestorable,omitempty"` // that may hold clusters
	// Streams are the schedules of each management cluster, as far as Velero's files tell those
	// apart, of which Velero offers a backup that may hold clusters; that of the newest first.
	Streams []RootStream `json:"streams"`
	// Skipped are those that Velero does not offer, and that are newer than all of their stream
	// that it does.
	Skipped []*Skipped `json:"skipped"`
	// Others are those of other schedules, where one is asked for.
	Others *Others `json:"otherSchedules,omitempty"`

	streams      []*RootStream
	newest, read *Backup // read is what can be read where Velero offers none
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
	Why        []string   `json:"why"`  // it can't be restored, or what to mind
	Root       string     `json:"root"` // the address before backups/, for all backups there
	Velero     string     `json:"veleroNamespace,omitempty"`
	Location   string     `json:"storageLocation,omitempty"` // the name of the BackupStorageLocation
	Clusters   []string   `json:"clusters,omitempty"`        // as Velero's list of objects names them, where it was read
	Stream     Stream     `json:"-"`
	// Empty says that no cluster is in it, as far as Velero's files say that.
	Empty bool `json:"holdsNoCluster,omitempty"`
	// Unlooked says that its list of objects was not read, because newer ones of its schedule hold no
	// cluster: whether it does is not known.
	Unlooked bool `json:"notLookedAt,omitempty"`
	// Misdated says that the time at which it is said to have begun is wrong: its age is not
	// used to choose.
	Misdated bool `json:"misdated,omitempty"`
	// TakeAll is how it is restored although Velero does not offer it; empty where Velero does,
	// or where there is nothing to restore.
	TakeAll string `json:"takeAllTheSame,omitempty"`
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

// Reach notes the flags of the run, for the commands that the text offers.
func (d *Document) Reach(f Flags) { d.flags = f }

// Widen notes the flags with which more backups are compared, in place of those that pick them.
func (d *Document) Widen(flags string) { d.flags.More = flags }

// Bound notes a bound that was reached.
func (d *Document) Bound(text string) { d.Summary.Bounds = append(d.Summary.Bounds, text) }

// Left notes how many backups of the place are older than those that are shown.
func (d *Document) Left(n int) { d.Summary.Left = n }

// Compare adds the comparison of some of the backups. One that could not be read for it
// is not said to be restorable any more, whatever Velero wrote beside it.
func (d *Document) Compare(c *Comparison) {
	d.Comparison = c
	for _, k := range c.Compared {
		for _, b := range d.Backups {
			if b.Place == k.Place && k.Error != "" {
				b.Restorable, b.Why = false, append(b.Why, "can't be read: "+k.Error)
			}
			if b.Place == k.Place && k.Empty {
				b.Empty = true
			}
		}
	}
	d.count()
}

// Show adds one of those that were left.
func (d *Document) Show(at int, b *Backup) {
	if b.Why == nil {
		b.Why = []string{}
	}
	d.Backups = slices.Insert(d.Backups, at, b)
	d.Summary.Left--
	d.count()
}

// Keep leaves out the other backups of the place.
func (d *Document) Keep(stays func(*Backup) bool) {
	before := len(d.Backups)
	d.Backups = slices.DeleteFunc(d.Backups, func(b *Backup) bool { return !stays(b) })
	d.Summary.Left += before - len(d.Backups)
	d.count()
}

func (d *Document) count() {
	d.Summary = Summary{Backups: len(d.Backups), Roots: []Root{}, Left: d.Summary.Left, Bounds: d.Summary.Bounds}
	for _, b := range d.Backups {
		if !slices.ContainsFunc(d.Summary.Roots, func(r Root) bool { return r.Place == b.Root }) {
			d.Summary.Roots = append(d.Summary.Roots, Root{Place: b.Root, Streams: []RootStream{}, Skipped: []*Skipped{}})
		}
		if b.Restorable {
			d.Summary.Restorable++
		}
	}
	for i := range d.Summary.Roots {
		r := &d.Summary.Roots[i]
		r.fill(d.Backups)
		if r.countOthers(d.others); d.Summary.Newest == "" {
			d.Summary.Newest = r.Newest
		}
	}
}

func (b *Backup) skipped(newer bool) *Skipped {
	why := "it can't be restored"
	if len(b.Why) > 0 {
		why = b.Why[0]
	}
	return &Skipped{Name: b.Name, Place: b.Place, Started: *b.Started, Why: why, TakeAll: b.TakeAll, newer: newer && !b.Misdated, misdated: b.Misdated, stored: b.Size > 0}
}

// JSON writes the document.
func JSON(w io.Writer, d *Document) error { return report.Document(w, d) }

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the document, with a description of every field.
func Schema() []byte { return report.WithDefinitions(schema) }

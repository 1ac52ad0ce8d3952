// Package diff says what differs between two reports: two backups of one
// management cluster, or one backup at two points in time.
package diff

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// SchemaVersion is the version of the document. Within one version fields are
// only ever added.
const SchemaVersion = "1"

// Kind tells the document from a report.
const Kind = "drift-detector diff"

// Diff is what differs. Lists have the most urgent first.
type Diff struct {
	SchemaVersion string `json:"schemaVersion"`
	Kind          string `json:"kind"`
	Old           Side   `json:"old"`
	New           Side   `json:"new"`
	// Different says that there is a difference: something in a list below, or
	// another status or count of the whole.
	Different bool `json:"different"`
	// Worse says that the status of the whole, or one of the answers, is; or that the new report
	// did not look where the old one did; or that a cluster is not in its backup any more.
	Worse bool `json:"worse"`
	// Answer is what became of the answers whether a restore is safe.
	Answer Answer `json:"answer"`
	// Complete says that both reports are. In one that is not, absence proves
	// nothing: what is new here may have been there before, what is gone may
	// still exist.
	Complete bool `json:"complete"`
	// Warnings are what to know before believing the lists.
	Warnings []string `json:"warnings"`
	// Machines are those of the backups and Ghosts, healthy ones too. A VM that
	// is one of them in one report and to be confirmed in the other is here.
	Machines      Lists[Item]         `json:"machines"`
	InfraMachines Lists[Item]         `json:"infraMachines"` // VMs to confirm
	Clusters      Lists[Cluster]      `json:"clusters"`
	Scopes        Lists[Scope]        `json:"scopes"`
	Errors        Lists[report.Error] `json:"errors"`
	// Checks are the findings on the backup itself. What they say of times passes
	// with each day and is no difference.
	Checks Lists[report.Check] `json:"checks"`

	live bool // of a management cluster that runs
}

// Lists are what only the new report has, what only the old one has, and what
// both have and say something else of. What the new report lacks because it did not look there
// is not gone.
type Lists[T any] struct {
	New     []T         `json:"new"`
	Gone    []T         `json:"gone"`
	NotSeen []T         `json:"notSeen"`
	Changed []Change[T] `json:"changed"`
}

// Change is one thing in both reports.
type Change[T any] struct {
	Old    T       `json:"old"`
	New    T       `json:"new"`
	Fields []Field `json:"fields"` // what differs, at least one
}

// Field is one difference. Old is empty of what was gained, New of what was lost.
type Field struct {
	Name string `json:"field"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Side is what to know of one of the reports as a whole.
type Side struct {
	GeneratedAt   time.Time            `json:"generatedAt"`
	Backups       []Backup             `json:"backups"`
	Status        code.Status          `json:"status"`
	Complete      bool                 `json:"complete"`
	Clusters      report.ClusterCounts `json:"clusters"`
	Machines      report.MachineCounts `json:"machines"`
	InfraMachines int                  `json:"infraMachines"`
	Ignored       int                  `json:"ignored"`
	Errors        int                  `json:"errors"`
	BackupErrors  int                  `json:"backupErrors"` // checks of the backup itself that are errors
}

// Backup is a tarball that a report was made of.
type Backup struct {
	Path      string    `json:"path"`
	SHA256    string    `json:"sha256"`
	WrittenTo time.Time `json:"writtenTo"`
}

// New compares two reports, and changes neither. It refuses reports that leave
// out what the other may hold: shortened ones, and such of other clusters. What
// is not in them is not gone.
func New(old, new *report.Report) (*Diff, error) {
	if err := comparable(old, new); err != nil {
		return nil, fmt.Errorf("comparing reports: %w", err)
	}
	d := &Diff{
		SchemaVersion: SchemaVersion, Kind: Kind,
		Old: side(old), New: side(new),
		Answer:   answers(old, new),
		Complete: old.Summary.Complete && new.Summary.Complete,
		Warnings: warnings(old, new),
		Clusters: clusters(old, new),
		Scopes:   scopes(old, new),
		Errors:   faults(old, new),
		Checks:   checks(old, new),

		live: new.IsLive(),
	}
	d.Machines, d.InfraMachines = items(old, new)
	d.notSeen(new)
	d.Worse = code.Worse(new.Summary.Status, old.Summary.Status) || d.Answer.worse() || len(d.Answer.NotInBackup) > 0 || len(d.Clusters.Gone) > 0 || d.sawMore(old, new)
	d.Different = d.Machines.any() || d.InfraMachines.any() || d.Clusters.any() || d.Scopes.any() || d.Errors.any() || d.Checks.any() || d.Answer.differs() || !sameNumbers(d.Old, d.New)
	return d, nil
}

func (l *Lists[T]) any() bool { return len(l.New)+len(l.Gone)+len(l.NotSeen)+len(l.Changed) > 0 }

// notSeen takes out of what is gone all that the new report did not look for: VMs of places that
// it did not list whole, and what the backup held where not all of that could be read.
func (d *Diff) notSeen(new *report.Report) {
	if new.Summary.Complete {
		return
	}
	unread := len(new.OtherErrors()) > 0
	vm := func(v *report.Instance) bool {
		return v == nil || !slices.ContainsFunc(new.Scopes, func(s report.Scope) bool { return s.Holds(v) && s.State == code.ScopeComplete })
	}
	item := func(i *Item) bool { return i.UID != "" && unread || i.UID == "" && vm(i.Instance) }
	d.Machines.unsee(item)
	d.InfraMachines.unsee(item)
	d.Clusters.unsee(func(*Cluster) bool { return unread })
	d.Checks.unsee(func(*report.Check) bool { return unread })
	d.Errors.unsee(func(*report.Error) bool { return true })
}

func (l *Lists[T]) unsee(is func(*T) bool) {
	l.NotSeen, l.Gone = split(l.Gone, func(one T) bool { return is(&one) })
}

// sawMore reports whether the old report looked where the new one did not.
func (d *Diff) sawMore(old, new *report.Report) bool {
	return old.Summary.Complete && !new.Summary.Complete || slices.ContainsFunc(d.Scopes.Changed, func(c Change[Scope]) bool {
		return c.Old.State == code.ScopeComplete && c.New.State != code.ScopeComplete
	})
}

func comparable(old, new *report.Report) error {
	for _, r := range []struct {
		which string
		*report.Report
	}{{"old", old}, {"new", new}} {
		if r.Options.IgnoreHealthy {
			return fmt.Errorf("the %s report was made with --ignore-healthy-resources, so a machine that is not in it may well exist; make it again without", r.which)
		}
	}
	if was, is := subject(old), subject(new); was != is {
		return fmt.Errorf("the old report is of %s and the new one of %s, which say different things; give two of the same: each night's of the management cluster, or each backup's", was, is)
	}
	a, b := filter(old), filter(new)
	if !slices.Equal(a, b) {
		return errors.New("the reports are of different clusters (--cluster, --namespace or --selector); make both with the same, or without")
	}
	return nil
}

// subject returns what a report is of, which decides what is said of a machine.
func subject(r *report.Report) string {
	switch {
	case r.IsLive():
		return "a management cluster that runs"
	case r.IsMoved():
		return "a folder of 'clusterctl move'"
	}
	return "a Velero backup"
}

// filter returns which clusters a report is of, in one order.
func filter(r *report.Report) []string {
	f := r.Options.Filter
	if f == nil {
		return nil
	}
	var out []string
	add := func(flag string, values ...string) {
		for _, v := range values {
			out = append(out, flag+" "+v)
		}
	}
	add("cluster", f.Clusters...)
	add("namespace", f.Namespaces...)
	add("selector", f.Selector)
	slices.Sort(out)
	return slices.Compact(out)
}

func side(r *report.Report) Side {
	s := Side{
		GeneratedAt: r.GeneratedAt, Backups: []Backup{}, Status: r.Summary.Status, Complete: r.Summary.Complete,
		Clusters: r.Summary.Clusters, Machines: r.Summary.Machines,
		InfraMachines: r.Summary.InfraMachines, Ignored: r.Summary.Ignored, Errors: r.Summary.Errors, BackupErrors: r.CheckErrors(),
	}
	for i := range r.Backups {
		b := &r.Backups[i]
		s.Backups = append(s.Backups, Backup{b.Path, b.SHA256, b.WrittenTo})
	}
	return s
}

func sameNumbers(a, b Side) bool {
	return a.Status == b.Status && a.Complete == b.Complete && a.Clusters == b.Clusters && a.Machines == b.Machines &&
		a.InfraMachines == b.InfraMachines && a.Ignored == b.Ignored && a.Errors == b.Errors
}

func warnings(old, new *report.Report) []string {
	out := []string{}
	say := func(yes bool, text string) {
		if yes {
			out = append(out, text)
		}
	}
	say(!old.Summary.Complete, "The old report is incomplete: not everything could be looked at then, so what is new here may have been there before.")
	say(!new.Summary.Complete, "The new report is incomplete: not everything could be looked at, so what is gone here may still exist.")
	say(old.GeneratedAt.After(new.GeneratedAt), "The old report was made after the new one: are they the other way round?")
	say(!share(old, new), "The reports have no cluster in common: are they of one management cluster?")
	say(old.Options.SkipNodes != new.Options.SkipNodes, "One of the reports was made without Node lists (--skip-access-apiserver): verdicts may differ for that alone.")
	say(!sameRules(old.IgnoreRules, new.IgnoreRules), "The ignore rules differ: statuses may differ for that alone.")
	return out
}

// share says that the reports have a cluster in common, or nothing to share.
func share(old, new *report.Report) bool {
	if len(old.Clusters) == 0 || len(new.Clusters) == 0 {
		return true
	}
	titles := make(map[string]bool, len(old.Clusters))
	for i := range old.Clusters {
		titles[old.Clusters[i].Title()] = true
	}
	return slices.ContainsFunc(new.Clusters, func(c report.Cluster) bool { return titles[c.Title()] })
}

// sameRules compares what rules are, not what they fit.
func sameRules(a, b []report.IgnoreRule) bool {
	return slices.EqualFunc(a, b, func(a, b report.IgnoreRule) bool {
		a.Matched, b.Matched = 0, 0
		return a == b
	})
}

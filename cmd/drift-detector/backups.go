package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/shell"
	"drift-detector/infra/store"
	"drift-detector/internal/english"
	"drift-detector/report"
	backupreport "drift-detector/report/backups"
	reportformats "drift-detector/report/formats"
)

type backupsOptions struct {
	detectOptions
	place, schedule, since, report string
	from                           time.Time
	compares                       bool
	again                          string // flags of the run that the next command needs
	last                           int
}

var backupsFormats = []string{"text", "json"}

func backupsCommand(s *streams) *cli.Command {
	var o backupsOptions
	return &cli.Command{
		Name:      "backups",
		Usage:     "list the backups of an object store, and say which can be restored",
		UsageText: "drift-detector backups PLACE [options]",
		Description: `PLACE is s3://BUCKET[/PREFIX], or a folder that is a copy of one. What Velero
says of each backup is read, and no tarball. The newest is the first. --compare
reads the newest, too, and says which one to restore.

EXAMPLES:
   drift-detector backups s3://velero --s3-profile dr
   drift-detector backups s3://velero/mgmt --s3-ambient --schedule nightly --since 72h
   drift-detector backups s3://velero --s3-endpoint https://minio.corp:9000 --s3-profile minio
   drift-detector detect --backup s3://velero/mgmt/backups/nightly-1 --s3-profile dr -o report.json`,
		Flags: append(o.listingFlags(),
			&cli.BoolFlag{Name: "compare", Usage: "list the infrastructure once, decide the newest backups beside it, and say which to restore", Destination: &o.compares},
			&cli.StringFlag{Name: "last", Usage: "compare the newest `N` that can be restored", Value: "5"},
			&cli.StringFlag{Name: "report", Usage: "write the report on the backup `NAME` of those that are compared; as detect does, to --output", Destination: &o.report},
			&cli.StringFlag{Name: "inventory", Usage: "compare with a saved inventory `FILE`, offline; the inventory command writes it", Destination: &o.inventory},
			&cli.StringFlag{Name: "schedule", Usage: "only backups of the schedule `NAME`", Destination: &o.schedule},
			&cli.StringFlag{Name: "since", Usage: "only backups begun since `TIME`; 72h for the last three days, or a date such as 2026-11-01", Destination: &o.since},
			&cli.StringFlag{Name: "format", Usage: "`FORMAT` of the list: text or json", Value: "text", Destination: &o.format},
			outputFlag("it", true),
		),
		Action: func(c *cli.Context) error {
			if err := arguments(c, argument{&o.place, "the place of the backups: s3://BUCKET[/PREFIX], or a folder"}); err != nil {
				return err
			}
			if err := cmp.Or(o.readListing(c), o.readSince(s.now()), o.readCompare(c)); err != nil {
				return err
			}
			formats := backupsFormats
			if o.report != "" {
				formats = reportformats.Report.Names()
			}
			var err error
			if o.outputs, err = readTargets(c, o.format, formats); err != nil {
				return err
			}
			o.again = flagsAgain(c, "compare", "last", "report", "inventory", "dry-run", "schedule", "since", "format", "output", "quiet")
			return runBackups(c.Context, o, s)
		},
	}
}

func (o *backupsOptions) readCompare(c *cli.Context) error {
	var err error
	compares := comparing(c)
	o.last, err = strconv.Atoi(c.String("last"))
	switch {
	case err != nil || o.last < 1 || o.last > maxCompared:
		return &usageError{message: fmt.Sprintf("--last %q is no number from 1 to %d", c.String("last"), maxCompared), command: "backups"}
	case !o.compares && len(compares) > 0:
		return &usageError{message: strings.Join(compares, " and ") + " without --compare: a list reads no backup, and contacts nothing but the store", command: "backups"}
	case o.dryRun && o.inventory != "":
		return &usageError{message: "--dry-run and --inventory exclude each other: an inventory contacts nothing", command: "backups"}
	case o.report != "" && !c.IsSet("output"):
		return &usageError{message: "--report needs --output: name the file to write", command: "backups"}
	}
	if scheme, _, ok := strings.Cut(o.place, "://"); ok && !strings.EqualFold(scheme, "s3") {
		return &usageError{message: "backups lists what is in s3://BUCKET, or in a folder that is a copy of a bucket; the URL of one backup is for detect --backup", command: "backups"}
	}
	o.backups = []string{o.place}
	return nil
}

// flagsAgain are the flags of a run but some, as a shell reads them. What is set in the
// environment is still there for the next command.
func flagsAgain(c *cli.Context, but ...string) string {
	var out []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || os.Getenv(variable(name)) != "" || slices.Contains(but, name) {
			continue
		}
		values := []string{c.String(name)}
		switch f.(type) {
		case *cli.BoolFlag:
			out = append(out, "--"+name)
			continue
		case *cli.StringSliceFlag:
			values = c.StringSlice(name)
		}
		for _, v := range values {
			if word, ok := shell.Quote(v); ok {
				out = append(out, "--"+name, word)
			}
		}
	}
	return strings.Join(out, " ")
}

// ofList are the flags that mean something without --compare.
var ofList = slices.Concat(storeFlagNames, []string{"credentials", infra.DeadlineFlag[2:], "quiet", "schedule", "since", "format", "output"})

// comparing are the flags that were given for a comparison. A variable of the environment
// may be set for another command, which has the flag, too.
func comparing(c *cli.Context) []string {
	var given []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		meant := os.Getenv(variable(name)) == "" || name == "last" || name == "report"
		if c.IsSet(name) && meant && !slices.Contains(ofList, name) && name != "compare" {
			given = append(given, "--"+name)
		}
	}
	return given
}

// maxCompared is how many backups are compared at most: each takes the time of a detect.
const maxCompared = 50

// readSince takes a time before now, or a date.
func (o *backupsOptions) readSince(now time.Time) error {
	if o.since == "" {
		return nil
	}
	if d, err := time.ParseDuration(o.since); err == nil && d > 0 {
		o.from = now.Add(-d)
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, o.since); err == nil {
			o.from = t
			return nil
		}
	}
	return &usageError{message: fmt.Sprintf("--since %q is no time; it is such as 72h, 2026-11-01 or 2026-11-01T02:00:00Z", o.since), command: "backups"}
}

// only says in the words of the flags which backups are shown.
func (o *backupsOptions) only() string {
	var parts []string
	if o.schedule != "" {
		parts = append(parts, "--schedule "+o.schedule)
	}
	if o.since != "" {
		parts = append(parts, "--since "+o.since)
	}
	return strings.Join(parts, " ")
}

func runBackups(ctx context.Context, o backupsOptions, s *streams) error {
	out, err := createOutputs(o.outputs, s, o.credentials, o.inventory)
	if err != nil {
		return err
	}
	defer out.discard()
	if _, err := o.access(s); err != nil { // a key for the store may be among them
		return err
	}
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	place, err := o.open(bounded, s)
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	all, err := place.Backups(bounded)
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	doc, restorable, unread, err := o.describe(place, all, s.now())
	if err != nil {
		return err
	}
	doc.Again(s.typed.Text(o.again))
	newest, err := o.newestOf(place, restorable)
	switch {
	case err != nil:
		return err
	case newest != nil && o.dryRun:
		return o.previewComparison(ctx, s, place, newest)
	}
	rep, err := o.fillComparison(ctx, s, place, newest, doc)
	if err != nil {
		return err
	}
	write := listWriter(doc)
	if rep != nil {
		write = reportWriter(rep, s)
	}
	if err := cmp.Or(out.write(write), ctx.Err()); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	if rep != nil && !onStdout(o.outputs) {
		if err := backupreport.Text(s.stdout, doc); err != nil {
			return fmt.Errorf("writing to stdout: %w", err)
		}
	}
	switch {
	case unread > 0:
		return &errIncomplete{message: fmt.Sprintf("what Velero says could not be read of %d of %s", unread, english.Count(len(all), "backup")), hints: []string{"the list says why for each"}}
	case doc.Comparison != nil && !doc.Comparison.Complete:
		return &errIncomplete{message: "incomplete: not everything could be listed or read for each backup", hints: []string{"--report NAME -o FILE writes what is known of one, and why"}}
	}
	return nil
}

// describe makes the document of the backups that are shown. unread is how many there are
// of which Velero's description could not be read: without one, a schedule that no
// backup is of is an error.
func (o *backupsOptions) describe(place *store.Place, all []*store.Stored, now time.Time) (doc *backupreport.Document, restorable []*store.Stored, unread int, err error) {
	var shown []*backupreport.Backup
	schedules := map[string]bool{}
	o.newest = map[string]*store.Stored{}
	for _, b := range all {
		if b.Problem != nil {
			unread++
		}
		d := describeBackup(b, now)
		schedules[d.Schedule] = true
		if d.Restorable && o.newest[b.Root] == nil {
			o.newest[b.Root] = b
		}
		if o.schedule != "" && d.Schedule != o.schedule || b.Started().Before(o.from) {
			continue
		}
		shown = append(shown, d)
		if d.Restorable {
			restorable = append(restorable, b)
		}
	}
	if o.schedule != "" && !schedules[o.schedule] && unread == 0 {
		delete(schedules, "")
		known := cmp.Or(english.First(20, slices.Sorted(maps.Keys(schedules))), "none")
		return nil, nil, 0, fmt.Errorf("--schedule %s: %s holds no backup of such a schedule; it holds those of %s", o.schedule, place.Name(), known)
	}
	return backupreport.New(place.Name(), o.only(), shown, report.Tool{Name: "drift-detector", Version: version, Commit: commit}, now), restorable, unread, nil
}

// listWriter writes the list, in the format of each output.
func listWriter(doc *backupreport.Document) func(io.Writer, *output) error {
	return func(w io.Writer, to *output) error {
		if to.format == "json" {
			return backupreport.JSON(w, doc)
		}
		return backupreport.Text(w, doc)
	}
}

// newestOf are the backups that are to be compared; none without --compare.
func (o *backupsOptions) newestOf(place *store.Place, restorable []*store.Stored) ([]*store.Stored, error) {
	if !o.compares {
		return nil, nil
	}
	for _, b := range restorable {
		if b.Root != restorable[0].Root {
			return nil, &backup.InputError{Name: place.Name(), Problem: fmt.Sprintf("holds the backups of several clusters or locations, such as %s and %s", restorable[0].Place, b.Place), Next: "compare those of one: give the place as far as the prefix before backups/"}
		}
	}
	newest := restorable[:min(o.last, len(restorable))]
	if len(newest) == 0 {
		return nil, &backup.InputError{Name: place.Name(), Problem: "no backup that is shown can be restored", Next: "see why without --compare"}
	}
	if o.report != "" && !slices.ContainsFunc(newest, func(b *store.Stored) bool { return b.Name == o.report }) {
		return nil, &usageError{message: fmt.Sprintf("--report %q is none of those that are compared (%s)", o.report, english.Count(len(newest), "backup")), command: "backups"}
	}
	return newest, nil
}

// fillComparison compares backups, if there are any to compare, and returns the report
// that --report names.
func (o *backupsOptions) fillComparison(ctx context.Context, s *streams, place *store.Place, newest []*store.Stored, doc *backupreport.Document) (*report.Report, error) {
	if newest == nil {
		return nil, nil
	}
	c, rep, err := o.compare(ctx, s, place, newest, o.report)
	if err == nil && c.Best == "" && c.ManagementClusters == nil {
		err = &backup.InputError{Name: place.Name(), Problem: fmt.Sprintf("no backup that was to be compared could be read (%d in all); the newest: %s", len(newest), c.Compared[0].Error), Next: "see which others there are without --compare"}
	}
	if err == nil && o.report != "" && rep == nil {
		err = &backup.InputError{Name: o.report, Problem: "could not be read", Next: "see why without --report"}
	}
	if err == nil {
		doc.Compare(c)
	}
	return rep, err
}

func (o *backupsOptions) open(ctx context.Context, s *streams) (*store.Place, error) {
	if store.IsAddress(o.place) {
		return o.stores.place(ctx, s, o.place, o.quiet)
	}
	return store.Folder(o.place)
}

// describeBackup says of a stored backup what Velero does, and whether a Velero that is
// given the store would restore it: it takes those that have ended, and what is not
// finished it does not even list (pkg/controller/backup_sync_controller.go v1.18.3).
func describeBackup(b *store.Stored, now time.Time) *backupreport.Backup {
	d := &backupreport.Backup{Name: b.Name, Place: b.Place, Size: b.Size}
	if b.Tarball == "" {
		d.Why = append(d.Why, "its tarball is not in the store")
	} else if b.Size == 0 {
		d.Why = append(d.Why, "its tarball is empty: it is being written, or was cut off")
	}
	v := b.Description
	switch {
	case b.Problem != nil:
		d.Why = append(d.Why, infra.Brief(b.Problem.Error()))
	case v == nil:
		d.Why = append(d.Why, "velero-backup.json is not beside the tarball: Velero does not see it, or it is being written")
	}
	if v == nil {
		if !b.Written.IsZero() {
			d.Started = &b.Written
		}
		return d
	}
	d.Schedule, d.Phase, d.Errors, d.Warnings = v.Schedule, string(v.Phase), v.Errors, v.Warnings
	d.Format, d.Kubernetes = v.Format, v.Kubernetes
	for _, at := range []struct {
		from time.Time
		to   **time.Time
	}{{v.Started, &d.Started}, {v.Ended, &d.Completed}, {v.Expires, &d.Expires}} {
		if !at.from.IsZero() {
			*at.to = &at.from
		}
	}
	d.Expired = d.Expires != nil && now.After(*d.Expires)
	d.Restorable = len(d.Why) == 0
	switch {
	case slices.Contains([]velerov1.BackupPhase{velerov1.BackupPhaseCompleted, velerov1.BackupPhasePartiallyFailed}, v.Phase):
	case v.Phase == velerov1.BackupPhaseFailed, v.Phase == velerov1.BackupPhaseFailedValidation:
		d.Restorable, d.Why = false, append(d.Why, "it failed")
	case v.Phase == velerov1.BackupPhaseDeleting:
		d.Restorable, d.Why = false, append(d.Why, "it is being deleted")
	default:
		d.Restorable, d.Why = false, append(d.Why, "it was not finished")
	}
	if v.Format != "" && v.Format != "1" && v.Format != "1.1.0" {
		d.Why = append(d.Why, "its format is not known here, and is read as 1.1.0")
	}
	if d.Expired {
		d.Why = append(d.Why, "it has expired: a Velero that gets this store deletes it; keep a copy")
	}
	return d
}

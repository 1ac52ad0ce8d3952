package program

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	backupreport "drift-detector/report/backups"
	reportformats "drift-detector/report/formats"
	"drift-detector/report/message"
)

type backupsOptions struct {
	detectOptions
	place, schedule, since, report string
	from                           time.Time
	compares                       bool
	last                           int
	asked                          bool               // for that many
	flags                          backupreport.Flags // of this run, for the commands that are offered
}

var backupsFormats = []string{"text", "json"}

func backupsCommand(s *cli.Streams) *urfave.Command {
	var o backupsOptions
	return &urfave.Command{
		Name:      "backups",
		Usage:     "list the backups of an object store, and which can be restored",
		UsageText: "drift-detector backups PLACE [options]",
		Description: `PLACE is s3://BUCKET[/PREFIX], or a folder that is a copy of one. What Velero
says of each backup is read, and no tarball. The newest is the first. Which is
the newest that can be restored and may hold clusters is said for each prefix,
and before it what is newer and Velero does not offer. --compare reads the
newest of each schedule, too, and says which one to restore, for each management
cluster: no file beside a tarball says which one a backup is of. How many others
may hold clusters, and were not compared, is in the same sentence.

EXAMPLES:
   drift-detector backups s3://velero --s3-profile dr
   drift-detector backups s3://velero/mgmt --s3-ambient --schedule nightly --since 72h
   drift-detector backups s3://velero --s3-endpoint https://minio.corp:9000 --s3-profile minio
   drift-detector detect --backup s3://velero/mgmt/backups/nightly-1 --s3-profile dr -o report.json`,
		Flags: append(o.listingFlags(),
			&urfave.BoolFlag{Name: "compare", Usage: "list the infrastructure once, decide the newest backups beside it, and say which to restore", Destination: &o.compares},
			&urfave.StringFlag{Name: "last", Usage: "show and compare no more than the newest `N` of each schedule that can be restored and may hold clusters; to compare, 5 if it is not given, and fewer where that is more than 50 in all"},
			&urfave.StringFlag{Name: "report", Usage: "write the report on the backup `NAME` of those that are compared; as detect does, to --output", Destination: &o.report},
			&urfave.StringFlag{Name: "inventory", Usage: "compare with a saved inventory `FILE`, offline; the inventory command writes it", Destination: &o.inventory},
			&urfave.StringFlag{Name: "schedule", Usage: "only backups of the schedule `NAME`", Destination: &o.schedule},
			&urfave.StringFlag{Name: "since", Usage: "only backups begun since `TIME`; 72h for the last three days, or a date such as 2026-11-01", Destination: &o.since},
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the list: text or json", Value: "text", Destination: &o.format},
			cli.OutputFlag("it", true),
		),
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.place, "the place of the backups: s3://BUCKET[/PREFIX], or a folder"}); err != nil {
				return err
			}
			if err := cmp.Or(o.readListing(c), o.readSince(s.Now()), o.readCompare(c)); err != nil {
				return err
			}
			o.flags = flagsOf(c, s.Program)
			formats := backupsFormats
			if o.report != "" {
				formats = reportformats.Report.Names()
			}
			var err error
			if o.outputs, err = cli.ReadTargets(c, o.format, formats); err != nil {
				return err
			}
			return runBackups(c.Context, o, s)
		},
	}
}

func (o *backupsOptions) readCompare(c *urfave.Context) error {
	var err error
	compares := comparing(c)
	if c.IsSet("last") {
		o.last, err = strconv.Atoi(c.String("last"))
		o.asked = true
	} else if o.compares {
		o.last = 5
	}
	switch {
	case err != nil || c.IsSet("last") && (o.last < 1 || o.last > maxCompared):
		return &cli.UsageError{Message: fmt.Sprintf("--last %q is no number from 1 to %d", c.String("last"), maxCompared), Command: "backups"}
	case !o.compares && len(compares) > 0:
		return &cli.UsageError{Message: strings.Join(compares, " and ") + " without --compare: a list reads no backup, and contacts nothing but the store", Command: "backups"}
	case o.dryRun && o.inventory != "":
		return &cli.UsageError{Message: "--dry-run and --inventory exclude each other: an inventory contacts nothing", Command: "backups"}
	case o.report != "" && !c.IsSet("output"):
		return &cli.UsageError{Message: "--report needs --output: name the file to write", Command: "backups"}
	}
	if scheme, _, ok := strings.Cut(o.place, "://"); ok && !strings.EqualFold(scheme, "s3") {
		return &cli.UsageError{Message: "backups lists what is in s3://BUCKET, or in a folder that is a copy of a bucket; the URL of one backup is for detect --backup", Command: "backups"}
	}
	o.backups = []string{o.place}
	return nil
}

// ofList are the flags that mean something without --compare.
var ofList = slices.Concat(storeFlagNames, []string{"credentials", infra.DeadlineFlag[2:], "quiet", "schedule", "since", "last", "format", "output"})

// comparing returns the flags that were given for a comparison. A variable of the environment
// may be set for another command, which has the flag, too.
func comparing(c *urfave.Context) []string {
	var given []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		meant := os.Getenv(cli.Variable(name)) == "" || name == "report"
		if c.IsSet(name) && meant && !slices.Contains(ofList, name) && name != "compare" {
			given = append(given, "--"+name)
		}
	}
	return given
}

// maxCompared is how many backups are compared at most where --last does not say how many of each
// schedule, and of how many of each it can: each takes the time of a detect. It is a variable for
// tests.
var maxCompared = 50

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
	return &cli.UsageError{Message: fmt.Sprintf("--since %q is no time; it is such as 72h, 2026-11-01 or 2026-11-01T02:00:00Z", o.since), Command: "backups"}
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
	if o.last > 0 && !o.compares {
		parts = append(parts, "--last "+strconv.Itoa(o.last))
	}
	return strings.Join(parts, " ")
}

func runBackups(ctx context.Context, o backupsOptions, s *cli.Streams) error {
	out, err := cli.CreateOutputs(o.outputs, s, o.credentials, o.inventory)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := o.access(s); err != nil { // a key for the store may be among them
		return err
	}
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	place, err := o.open(bounded, s)
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	l, err := o.find(bounded, place, s.Now())
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	l.doc.Reach(o.flags)
	p, err := o.pick(bounded, place, l)
	switch {
	case err != nil:
		return o.bounds.explain(bounded, err)
	case p != nil && o.dryRun:
		return o.previewComparison(ctx, s, place, p.stored)
	}
	rep, err := o.fillComparison(ctx, s, place, p, l)
	if err != nil {
		return err
	}
	write := listWriter(l.doc)
	if rep != nil {
		write = sealedWriter(rep, message.About{}, s)
	}
	if err := cmp.Or(out.Fill(write), ctx.Err()); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if rep != nil && !cli.OnStdout(o.outputs) {
		if err := backupreport.Text(s.Stdout, l.doc); err != nil {
			return fmt.Errorf("writing to stdout: %w", err)
		}
	}
	switch c := l.doc.Comparison; {
	case l.unread > 0:
		return &cli.IncompleteError{Message: fmt.Sprintf("what Velero says could not be read of %d of %s", l.unread, english.Count(l.doc.Summary.Backups, "backup")), Hints: []string{"the list says why for each"}}
	case c != nil && !c.Complete:
		return &cli.IncompleteError{Message: "incomplete: not everything could be listed or read for each backup", Hints: []string{"--report NAME -o FILE writes what is known of one, and why"}}
	}
	return nil
}

// listWriter writes the list, in the format of each output.
func listWriter(doc *backupreport.Document) func(io.Writer, *cli.Output) error {
	return func(w io.Writer, to *cli.Output) error {
		if to.Format == "json" {
			return backupreport.JSON(w, doc)
		}
		return backupreport.Text(w, doc)
	}
}

func (o *backupsOptions) open(ctx context.Context, s *cli.Streams) (*store.Place, error) {
	if store.IsAddress(o.place) {
		return o.stores.place(ctx, s, o.place, o.quiet)
	}
	return store.Folder(o.place)
}

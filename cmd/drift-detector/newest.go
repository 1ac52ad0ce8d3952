package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/store"
)

// newestOptions choose a backup of a place by its age, for runs that nobody watches.
type newestOptions struct {
	asked    bool
	schedule string
	maxAge   string
	older    time.Duration // than that a backup is stale; zero: than the usual
}

// newestFlagNames are the names of flags.
var newestFlagNames = []string{"newest", "schedule", "max-age"}

func (o *newestOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "newest", Usage: "--backup is a place, and the newest is read that Velero can restore and that may hold clusters", Destination: &o.asked},
		&cli.StringFlag{Name: "schedule", Usage: "with --newest, only of the schedule `NAME`", Destination: &o.schedule},
		&cli.StringFlag{Name: "max-age", Usage: "a backup is old after `TIME`; 26h if not given; see --fail-on stale-backup", Destination: &o.maxAge},
	}
}

func (o *newestOptions) read(c *cli.Context, backups []string) error {
	if c.IsSet("max-age") {
		d, err := positive("--max-age", o.maxAge, c.Command.Name)
		if err != nil {
			return err
		}
		o.older = d
	}
	switch {
	case o.schedule != "" && !o.asked:
		return &usageError{message: "--schedule needs --newest: without it --backup names one backup", command: c.Command.Name}
	case o.asked && slices.Contains(backups, stdinName):
		return &usageError{message: "--newest chooses from a place, and --backup - is one backup", command: c.Command.Name}
	}
	return nil
}

// warnOfStale says which backups are old, or of unknown age, where a command has no finding for it.
func (o *newestOptions) warnOfStale(s *streams, e *loadedBackup) {
	if !o.asked && o.older == 0 {
		return
	}
	for _, b := range e.snapshot.Backups {
		if stale := check.Stale(b, s.now(), o.older); stale != "" {
			s.warn("backup %s is stale: %s", b.Path, stale)
		}
	}
}

// newest returns the newest backup of a place that Velero can restore and that may hold clusters. It
// fails where there is none, and where several management clusters have one.
func (o *newestOptions) newest(ctx context.Context, s *streams, place *store.Place) (*store.Stored, error) {
	list := backupsOptions{schedule: o.schedule, last: 1}
	l, err := list.find(ctx, place, s.now())
	if err != nil {
		return nil, err
	}
	c := list.choices
	all := c.holding(ctx, slices.DeleteFunc(c.offered(list.candidates, list.shows), func(b *store.Stored) bool { return c.misdated(b) != "" }), 1)
	if len(all) == 0 {
		return nil, &backup.InputError{Name: place.Name(), Problem: "holds no backup that Velero can restore, that may hold clusters and whose date is known", Next: "see why with 'drift-detector backups " + place.Name() + place.Flags + "'"}
	}
	slices.SortStableFunc(all, c.inOrder)
	found := all[0]
	if i := slices.IndexFunc(all, func(b *store.Stored) bool { return !c.isOfOneCluster(b, found) }); i >= 0 {
		return nil, &backup.InputError{
			Name: place.Name(), Problem: fmt.Sprintf("holds backups of several management clusters: the newest are %s and %s", found.Place, all[i].Place),
			Next: "give --schedule NAME, or the place as far as that before backups/; see 'drift-detector backups " + place.Name() + place.Flags + "'",
		}
	}
	s.some(s.warn, c.unoffered(list.candidates, found))
	for _, why := range l.doc.Summary.Bounds {
		s.warn("%s", why)
	}
	return found, nil
}

// isOfOneCluster reports whether nothing says that two backups are of two management clusters. One
// may have several schedules.
func (c *choices) isOfOneCluster(a, b *store.Stored) bool {
	x, y := c.streamOf(a), c.streamOf(b)
	x.Schedule, y.Schedule = "", ""
	return x.MayBeOf(y)
}

// says names the backup that was chosen, with its age.
func (o *newestOptions) says(s *streams, b *store.Stored) {
	s.info("%s is the newest that Velero can restore: begun %s, %s ago", b.Place, b.Started().UTC().Format("2006-01-02 15:04Z"), infra.Brisk(s.now().Sub(b.Started()).Truncate(time.Minute)))
}

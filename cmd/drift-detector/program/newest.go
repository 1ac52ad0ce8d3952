package program

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
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

func (o *newestOptions) flags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.BoolFlag{Name: "newest", Usage: "--backup is a place, and the newest is read that Velero can restore and that may hold clusters", Destination: &o.asked},
		&urfave.StringFlag{Name: "schedule", Usage: "with --newest, only of the schedule `NAME`", Destination: &o.schedule},
		&urfave.StringFlag{Name: "max-age", Usage: "a backup is old after `TIME`; 26h if not given; see --fail-on stale-backup", Destination: &o.maxAge},
	}
}

func (o *newestOptions) read(c *urfave.Context, backups []string) error {
	if c.IsSet("max-age") {
		d, err := positive("--max-age", o.maxAge, c.Command.Name)
		if err != nil {
			return err
		}
		o.older = d
	}
	switch {
	case o.schedule != "" && !o.asked:
		return &cli.UsageError{Message: "--schedule needs --newest: without it --backup names one backup", Command: c.Command.Name}
	case o.asked && slices.Contains(backups, stdinName):
		return &cli.UsageError{Message: "--newest chooses from a place, and --backup - is one backup", Command: c.Command.Name}
	}
	return nil
}

// warnOfStale says which backups are old, or of unknown age, where a command has no finding for it.
func (o *newestOptions) warnOfStale(s *cli.Streams, e *loadedBackup) {
	if !o.asked && o.older == 0 {
		return
	}
	for _, b := range e.snapshot.Backups {
		if stale := check.Stale(b, s.Now(), o.older); stale != "" {
			s.Warn("backup %s is stale: %s", b.Path, stale)
		}
	}
}

// newest returns the newest backup of a place that Velero can restore and that may hold clusters. It
// fails where there is none, and where several management clusters have one.
func (o *newestOptions) newest(ctx context.Context, s *cli.Streams, place *store.Place) (*store.Stored, error) {
	list := backupsOptions{schedule: o.schedule, last: 1}
	l, err := list.find(ctx, place, s.Now())
	if err != nil {
		return nil, err
	}
	c := list.choices
	offered := slices.DeleteFunc(c.offered(list.candidates, list.shows), func(b *store.Stored) bool { return c.misdated(b) != "" })
	all := c.holding(ctx, offered, 1)
	if len(all) == 0 {
		return nil, &backup.InputError{Name: place.Name(), Problem: "holds no backup that Velero can restore, that may hold clusters and whose date is known", Next: "see why with 'drift-detector backups " + place.Name() + place.Flags + "'"}
	}
	slices.SortStableFunc(all, c.inOrder)
	found := all[0]
	if i := slices.IndexFunc(all, func(b *store.Stored) bool { return !c.isOfOneCluster(b, found) }); i >= 0 {
		return nil, o.severalClusters(c, found, all[i])
	}
	others, oldest := c.beside(ctx, offered, list.left, found)
	if err := o.apart(ctx, s, c, found, others, oldest); err != nil {
		return nil, err
	}
	some(s, s.Warn, c.unoffered(list.candidates, found))
	for _, why := range l.doc.Summary.Bounds {
		s.Warn("%s", why)
	}
	return found, nil
}

// apart refuses a place where tarballs tell that a backup is of another management cluster than the newest,
// where no list of objects tells it: the newest of each other stream, the next of its own and the oldest of
// its schedule are looked at. Where tarballs do not tell it either a schedule that was asked for is taken for
// that of one.
func (o *newestOptions) apart(ctx context.Context, s *cli.Streams, c *choices, found *store.Stored, others []*store.Stored, oldest *store.Stored) error {
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	c.looks, c.mostLooks = 0, mostPeeks
	if oldest != nil {
		others = append(others, oldest)
	}
	for _, other := range others {
		relation, why := c.relation(bounded, found, other)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case relation == backup.Another:
			return o.severalClusters(c, found, other)
		case relation != backup.Unclear || other == oldest: // which may have nothing in common with the newest any more
			continue
		}
		problem := fmt.Sprintf("whether %s and %s are of one management cluster is not known: no list of objects (NAME-resource-list.json.gz) is beside both, and their tarballs do not tell%s", found.Place, other.Place, why)
		if o.schedule == "" {
			return &backup.InputError{
				Name: c.place.Name(), Problem: problem,
				Next: o.choose(c, found),
			}
		}
		s.Warn("%s; the newest of schedule %s is read", problem, cli.Quoted(o.schedule))
	}
	return nil
}

// relation returns what the tarballs of two backups say that they are to each other, and in brackets why they
// were not read. One that holds nothing of a management cluster is of none.
func (c *choices) relation(ctx context.Context, a, b *store.Stored) (backup.Relation, string) {
	x, y := c.tarball(ctx, a), c.tarball(ctx, b)
	switch {
	case x.empty || y.empty:
		return backup.Same, ""
	case x.origin != nil && y.origin != nil:
		return x.origin.Relation(y.origin), ""
	}
	return backup.Unclear, " (" + cmp.Or(x.unread, y.unread) + ")"
}

// beside returns the backups of which no list of objects tells whether they are of the management cluster of one,
// which is the newest: the newest of each other stream, the next of its own, and the oldest of its schedule;
// nil for none.
func (c *choices) beside(ctx context.Context, offered, left []*store.Stored, found *store.Stored) (others []*store.Stored, oldest *store.Stored) {
	own, seen := c.streamOf(found), map[stream]bool{}
	for _, b := range c.holding(ctx, offered, 2) {
		is := c.streamOf(b)
		if b == found || seen[is] || own.Cluster != "" && is.Cluster != "" {
			continue
		}
		seen[is] = true
		others = append(others, b)
	}
	if own.Cluster != "" {
		return others, nil
	}
	for _, b := range slices.Concat(offered, left) {
		isOlder := oldest == nil || b.Started().Before(oldest.Started())
		if isOlder && b != found && b.Root == found.Root && store.ScheduleIn(b.Name) == store.ScheduleIn(found.Name) && !slices.Contains(others, b) {
			oldest = b
		}
	}
	if oldest != nil {
		c.place.Describe(ctx, oldest)
		if can, _, _ := restorable(oldest); !can {
			oldest = nil
		}
	}
	return others, oldest
}

// severalClusters returns the error for a place with backups of two management clusters.
func (o *newestOptions) severalClusters(c *choices, a, b *store.Stored) error {
	return &backup.InputError{
		Name: c.place.Name(), Problem: fmt.Sprintf("holds backups of several management clusters: the newest are %s and %s", a.Place, b.Place),
		Next: o.choose(c, a),
	}
}

// choose says what tells the management clusters of a place apart. A schedule that was given does not.
func (o *newestOptions) choose(c *choices, newest *store.Stored) string {
	ways := "--schedule NAME, the place as far as that before backups/, or the backup itself without --newest"
	if o.schedule != "" {
		ways = "the backup itself, without --newest and --schedule"
	}
	return "give " + ways + ", such as --backup " + newest.Place + "; see 'drift-detector backups " + c.place.Name() + c.place.Flags + "'"
}

// isOfOneCluster reports whether nothing says that two backups are of two management clusters. One
// may have several schedules.
func (c *choices) isOfOneCluster(a, b *store.Stored) bool {
	x, y := c.streamOf(a), c.streamOf(b)
	x.Schedule, y.Schedule = "", ""
	return x.MayBeOf(y)
}

// says names the backup that was chosen, with its age.
func (o *newestOptions) says(s *cli.Streams, b *store.Stored) {
	s.Info("%s is the newest that Velero can restore: begun %s, %s ago", b.Place, b.Started().UTC().Format("2006-01-02 15:04Z"), infra.Brisk(s.Now().Sub(b.Started()).Truncate(time.Minute)))
}

package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report"
	backupreport "drift-detector/report/backups"
)

// shownBackups are the backups that are shown.
type shownBackups struct {
	doc     *backupreport.Document
	rows    []*backupreport.Backup
	stored  []*store.Stored // of the rows
	early   []*store.Stored // older ones that --since leaves out
	older   []*store.Stored // and that --last does, without a description
	unread  int             // backups whose description could not be read
	choices *choices
}

// find lists the backups of the place, and describes those that are to be shown.
func (o *backupsOptions) find(ctx context.Context, place *store.Place, now time.Time) (*shownBackups, error) {
	c := newChoices(place, now)
	var enough func([]*store.Stored) bool
	if o.last > 0 || o.schedule != "" {
		enough = func(newest []*store.Stored) bool { return o.isEnough(ctx, c, newest) }
	}
	all, left, err := place.Recent(ctx, o.from, enough)
	if err != nil {
		return nil, err
	}
	l := &shownBackups{choices: c}
	var others []backupreport.Other
	for _, b := range left {
		switch of := store.ScheduleIn(b.Name); {
		case o.schedule != "" && of != "" && of != o.schedule:
			others = append(others, backupreport.Other{Root: rootOf(b), Name: b.Name, Started: b.Started()})
		case b.Started().Before(o.from):
			l.early = append(l.early, b)
		default:
			l.older = append(l.older, b)
		}
	}
	schedules := map[string]bool{}
	for _, b := range all {
		if b.Problem != nil {
			l.unread++
		}
		if b.Description != nil {
			schedules[b.Description.Schedule] = true
		}
		switch {
		case o.shows(b):
			l.stored = append(l.stored, b)
		case !o.isOf(b):
			if c.empty(b) == "" {
				others = append(others, backupreport.Other{Root: rootOf(b), Name: b.Name, Started: b.Started()})
			}
		default:
			l.early = append(l.early, b)
		}
	}
	if o.schedule != "" && len(l.stored) == 0 && l.unread == 0 && !schedules[o.schedule] {
		delete(schedules, "")
		known := "none"
		if len(schedules) > 0 {
			known = english.First(20, slices.Sorted(maps.Keys(schedules)))
		}
		since := ""
		if len(left) > 0 && o.since != "" {
			since = " begun since " + o.since
		}
		return nil, fmt.Errorf("--schedule %s: %s holds no backup of such a schedule%s; it holds those of %s", o.schedule, place.Name(), since, known)
	}
	o.choices, o.candidates, o.left = c, all, left
	newest := c.holding(ctx, c.offered(all, o.shows), max(o.last, 1))
	for _, b := range l.stored {
		l.rows = append(l.rows, c.describe(b))
	}
	l.doc = backupreport.New(place.Name(), o.only(), l.rows, report.Tool{Name: "drift-detector", Version: version, Commit: commit}, now)
	l.doc.Left(len(l.older) + len(l.early))
	l.doc.NotAsked(others)
	if o.last > 0 && !o.compares {
		l.cut(o.last, newest)
	}
	for _, why := range append(place.Bounds(), c.bound()) {
		if why != "" {
			l.doc.Bound(why)
		}
	}
	return l, nil
}

// shows reports whether a backup is one of those that were asked for.
func (o *backupsOptions) shows(b *store.Stored) bool {
	return o.isOf(b) && !b.Started().Before(o.from)
}

// isOf reports whether a backup is of the schedule that was asked for.
func (o *backupsOptions) isOf(b *store.Stored) bool {
	of := ""
	if b.Description != nil {
		of = b.Description.Schedule
	}
	return o.schedule == "" || of == o.schedule
}

// isOfOthers reports whether backups whose names have one schedule are of another one than was asked
// for: Velero names them so (pkg/apis/velero/v1/schedule_types.go:TimestampedName v1.18.3), and a
// person may name one at will, so that their labels have to say the same as far as they were read.
func (o *backupsOptions) isOfOthers(some []*store.Stored) bool {
	named, confirmed := store.ScheduleIn(some[0].Name), false
	if o.schedule == "" || named == "" || named == o.schedule {
		return false
	}
	for _, b := range some {
		if b.Description != nil && b.Description.Schedule != named {
			return false
		}
		confirmed = confirmed || b.Description != nil
	}
	return confirmed
}

// isEnough reports whether the newest backups of a schedule hold as many as are to be shown of
// each stream, or, of one that is long enough, none. Of a schedule that was not asked for, the newest
// that may hold clusters is enough: what is compared may be older than that.
func (o *backupsOptions) isEnough(ctx context.Context, c *choices, newest []*store.Stored) bool {
	wanted, shows := o.last, o.shows
	if o.compares {
		wanted += spare
	}
	if len(newest) > 0 && o.isOfOthers(newest) {
		wanted, shows = 1, nil
	}
	if wanted == 0 {
		return false
	}
	offered := c.offered(newest, shows)
	streams := c.streams(c.holding(ctx, offered, wanted))
	if len(streams) == 0 {
		return len(offered) >= max(wanted, looking)
	}
	return !slices.ContainsFunc(streams, func(s *streamed) bool { return !s.misdated && len(s.backups) < wanted })
}

// add shows one that was left.
func (l *shownBackups) add(b *store.Stored) {
	at, _ := slices.BinarySearchFunc(l.stored, b, func(a, b *store.Stored) int { return b.Started().Compare(a.Started()) })
	l.stored = slices.Insert(l.stored, at, b)
	l.older = slices.DeleteFunc(l.older, func(other *store.Stored) bool { return other == b })
	l.doc.Show(at, l.choices.describe(b))
}

// cut leaves out what is older than the last of its stream of some backups that are shown; of a
// stream that has none there, what is older than its first ones.
func (l *shownBackups) cut(last int, shown []*store.Stored) {
	streams := l.choices.streams(shown)
	stays, others := map[string]bool{}, map[dated]int{}
	for _, b := range l.stored {
		of, has := l.choices.datedStream(b), false
		for _, s := range streams {
			if s.misdated != of.misdated || !s.MayBeOf(of.stream) {
				continue
			}
			has = true
			oldest := s.backups[len(s.backups)-1]
			stays[b.Place] = stays[b.Place] || len(s.backups) < last || !b.Started().Before(oldest.Started())
		}
		if !has {
			of.Cluster = ""
			others[of]++
			stays[b.Place] = others[of] <= last
		}
	}
	l.doc.Keep(func(b *backupreport.Backup) bool { return stays[b.Place] })
}

// byRoot calls of for the backups of each prefix, in the order in which they are.
func byRoot(all []*store.Stored, of func(root string, backups []*store.Stored)) {
	var roots []string
	backups := map[string][]*store.Stored{}
	for _, b := range all {
		if backups[b.Root] == nil {
			roots = append(roots, b.Root)
		}
		backups[b.Root] = append(backups[b.Root], b)
	}
	for _, root := range roots {
		of(root, backups[root])
	}
}

// offered returns those of some backups that Velero offers for a restore, the misdated ones last;
// also may refuse some.
func (c *choices) offered(some []*store.Stored, also func(*store.Stored) bool) []*store.Stored {
	var dated, misdated []*store.Stored
	for _, b := range some {
		switch can, _, _ := restorable(b); {
		case !can || also != nil && !also(b):
		case c.misdated(b) != "":
			misdated = append(misdated, b)
		default:
			dated = append(dated, b)
		}
	}
	return append(dated, misdated...)
}

// describe says of a stored backup what Velero does, and what speaks against it.
func (c *choices) describe(b *store.Stored) *backupreport.Backup {
	d := &backupreport.Backup{Name: b.Name, Place: b.Place, Size: b.Size, Root: rootOf(b), Stream: c.streamOf(b)}
	if contents := c.read[b]; contents != nil {
		d.Clusters = contents.Clusters[:min(len(contents.Clusters), check.MaxClusters)]
	}
	d.Restorable, d.Why, d.TakeAll = restorable(b)
	if at := b.Started(); !at.IsZero() {
		d.Started = &at
	}
	why := c.misdated(b)
	d.Misdated = why != ""
	v := b.Description
	if v == nil { // what is said of it first says that, too
		d.Why[len(d.Why)-1] += "; " + cmp.Or(why, b.Dated())
		return d
	}
	d.Schedule, d.Phase, d.Errors, d.Warnings = v.Schedule, string(v.Phase), v.Errors, v.Warnings
	d.Format, d.Kubernetes, d.Velero, d.Location = v.Format, v.Kubernetes, v.Namespace, v.Location
	for _, at := range []struct {
		from time.Time
		to   **time.Time
	}{{v.Started, &d.Started}, {v.Ended, &d.Completed}, {v.Expires, &d.Expires}} {
		if !at.from.IsZero() {
			*at.to = &at.from
		}
	}
	d.Expired = c.expired(b)
	if empty := c.empty(b); empty != "" {
		none := "by what Velero noted, no cluster is in it: "
		if c.read[b] == nil && v.Excludes == "" {
			none = "no namespace of the others' clusters is in it: "
		}
		d.Empty, d.Why = true, append(d.Why, none+empty)
	} else if unlooked := c.unlooked(b); unlooked != "" {
		d.Unlooked, d.Why = true, append(d.Why, unlooked)
	}
	if dated := b.Dated(); dated != "" {
		d.Why = append(d.Why, dated)
	}
	if d.Misdated {
		d.Why = append(d.Why, why+": a clock was wrong, and its age is not used to choose")
	}
	for _, why := range []string{v.Beyond, c.unread[b]} {
		if why != "" && !d.Empty {
			d.Why = append(d.Why, why)
		}
	}
	if v.Errors > 0 {
		d.Why = append(d.Why, "Velero counted "+english.Count(v.Errors, "error")+": 'drift-detector check' says whether they concern a cluster")
	}
	if v.Format != "" && v.Format != "1" && v.Format != "1.1.0" {
		d.Why = append(d.Why, "its format is not known here, and is read as 1.1.0")
	}
	if d.Expired {
		d.Why = append(d.Why, "it has expired: a Velero that gets this store deletes it; keep a copy")
	}
	return d
}

// expired reports whether the time to live of a described backup is over.
func (c *choices) expired(b *store.Stored) bool {
	return !b.Description.Expires.IsZero() && c.now.After(b.Description.Expires)
}

// rootOf returns the address of what is before backups/.
func rootOf(b *store.Stored) string {
	at := strings.TrimSuffix(b.Place, b.Name)
	at = strings.TrimRight(at, `/\`)
	return strings.TrimRight(strings.TrimSuffix(at, "backups"), `/\`)
}

// How a backup is restored that Velero does not offer.
const (
	takeCopy   = "To take it all the same: copy its folder to another bucket, set status.phase to Completed in the velero-backup.json of the copy, and restore from a BackupStorageLocation with accessMode ReadOnly there."
	takeBare   = "To take it all the same: copy its folder to another bucket, put the velero-backup.json of another backup in the copy, with this backup's metadata.name, and restore from a BackupStorageLocation with accessMode ReadOnly there."
	takeByName = "To take it all the same: 'velero restore create --from-backup NAME' looks at no phase; read first what its tarball holds."
)

// restorable reports whether a Velero that is given the store offers a backup: it takes those
// that have ended, and what is not finished it does not even list
// (pkg/controller/backup_sync_controller.go v1.18.3). One that failed it lists, and restores by
// its name (restore_controller.go:validateAndComplete). why says why not, and takeAll how such
// a one is restored.
func restorable(b *store.Stored) (can bool, why []string, takeAll string) {
	v := b.Description
	switch {
	case b.Tarball == "":
		why = append(why, "its tarball is not in the store")
	case b.Size == 0:
		why = append(why, "its tarball is empty: it is being written, or was cut off")
	case v == nil:
		takeAll = takeBare
	case v.Ending() == check.Failed:
		takeAll = takeByName
	case v.Ending() == check.Unfinished, v.Ending() == check.Deleting:
		takeAll = takeCopy
	}
	switch {
	case b.Problem != nil:
		return false, append(why, infra.Brief(b.Problem.Error())), ""
	case v == nil:
		return false, append(why, "velero-backup.json is not beside the tarball: Velero does not see it, or it is being written"), takeAll
	}
	switch v.Ending() {
	case check.Ended:
	case check.Failed:
		why = append(why, "it failed")
	case check.Deleting:
		why = append(why, "it is being deleted")
	default:
		why = append(why, "it was not finished ("+cmp.Or(string(v.Phase), "no phase is recorded")+")")
	}
	return len(why) == 0, why, takeAll
}

// fillComparison compares backups, if there are any to compare, and returns the report
// that --report names.
func (o *backupsOptions) fillComparison(ctx context.Context, s *cli.Streams, place *store.Place, p *picked, l *shownBackups) (*report.Report, error) {
	if p == nil {
		return nil, nil
	}
	doc := l.doc
	c, rep, err := o.compare(ctx, s, place, p, l, o.report)
	if err != nil {
		return nil, err
	}
	isRead := func(k *backupreport.Compared) bool { return k.Error == "" }
	switch {
	case !slices.ContainsFunc(c.Compared, isRead):
		return nil, &backup.InputError{Name: place.Name(), Problem: fmt.Sprintf("no backup that was to be compared could be read (%d in all); the newest: %s", len(c.Compared), c.Compared[0].Error), Next: "see which others there are without --compare"}
	case o.report != "" && rep == nil:
		return nil, &backup.InputError{Name: o.report, Problem: "could not be read", Next: "see why without --report"}
	}
	for _, r := range doc.Summary.Roots {
		for _, skipped := range r.Skipped {
			c.Skip(skipped)
		}
	}
	doc.Compare(c)
	for _, r := range doc.Summary.Roots {
		c.NotAsked(r.Others)
	}
	l.cut(o.last, slices.DeleteFunc(p.stored, func(b *store.Stored) bool {
		return p.isSkipped(b) || slices.ContainsFunc(c.Compared, func(k *backupreport.Compared) bool { return k.Place == b.Place && k.Empty })
	}))
	return rep, nil
}

// isEmpty reports whether a backup was read to its end and holds nothing of a cluster.
func isEmpty(err error) bool { return errors.Is(err, backup.ErrNoClusterAPI) }

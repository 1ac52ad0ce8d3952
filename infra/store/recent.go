package store

import (
	"context"
	"slices"
	"time"

	"drift-detector/internal/lazyregexp"
)

// Recent lists the backups below the place as Backups does, and describes no more than are
// asked for: none that was stored before since, and, where enough is not nil, of each schedule
// none that is older than those for which it is true. left are those that it does not describe.
func (p *Place) Recent(ctx context.Context, since time.Time, enough func(newestFirst []*Stored) bool) (all, left []*Stored, err error) {
	listed, err := p.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(listed) == 0 {
		return nil, nil, p.holdsNone()
	}
	all = slices.DeleteFunc(slices.Clone(listed), func(s *Stored) bool {
		return !since.IsZero() && !s.Written.IsZero() && p.isStoredBefore(s, since)
	})
	if enough == nil {
		p.describe(ctx, all)
	} else {
		all = p.describeEach(ctx, all, enough)
	}
	sortByAge(all)
	taken := map[*Stored]bool{}
	for _, s := range all {
		taken[s] = true
	}
	return all, slices.DeleteFunc(listed, func(s *Stored) bool { return taken[s] }), ctx.Err()
}

// describeEach describes the newest backups of each schedule, as their names tell it before
// anything is read.
func (p *Place) describeEach(ctx context.Context, all []*Stored, enough func([]*Stored) bool) (described []*Stored) {
	type schedule struct{ root, name string }
	of := map[schedule][]*Stored{}
	var order []schedule
	for _, s := range all {
		k := schedule{s.Root, ScheduleIn(s.Name)}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], s)
	}
	for _, k := range order {
		described = append(described, p.describeUntil(ctx, of[k], enough)...)
	}
	return described
}

// timestamped are the names of scheduled backups (Velero pkg/apis/velero/v1/schedule_types.go:
// TimestampedName v1.18.3).
var timestamped = lazyregexp.New(`^(.+)-([0-9]{14})$`)

// ScheduleIn returns the schedule in the name of a backup; "" where the name has none.
func ScheduleIn(name string) string {
	if m := timestamped.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// describeUntil describes the backups of a schedule in the order of the times in their names, the last
// one first, as long as those are right, and else in the order in which they were stored, until there
// are enough of those that were begun after all others.
func (p *Place) describeUntil(ctx context.Context, all []*Stored, enough func([]*Stored) bool) []*Stored {
	atOnce := describing
	named := ScheduleIn(all[0].Name) != ""
	sortByAge(all)
	n := 0
	for n < len(all) && ctx.Err() == nil {
		if named = named && !slices.ContainsFunc(all[:n], (*Stored).isMisnamed); !named {
			sortByStored(all[n:])
		}
		next := min(n+atOnce, len(all))
		atOnce = min(2*atOnce, 4*describing)
		p.describe(ctx, all[n:next])
		if n = next; n == len(all) {
			break
		}
		sure := slices.DeleteFunc(slices.Clone(all[:n]), func(s *Stored) bool {
			if named && !s.isMisnamed() {
				return !all[n].Started().Before(s.Started())
			}
			return !p.isStoredBefore(all[n], s.Started())
		})
		sortByAge(sure)
		if enough(sure) {
			break
		}
	}
	return all[:n]
}

// sortByStored puts the last one first. Of one without a tarball nothing is known.
func sortByStored(all []*Stored) {
	slices.SortStableFunc(all, func(a, b *Stored) int {
		switch {
		case a.Written.IsZero() != b.Written.IsZero() && a.Written.IsZero():
			return -1
		case a.Written.IsZero() != b.Written.IsZero():
			return 1
		}
		return b.Written.Compare(a.Written)
	})
}

// named returns the time in a name; zero where it has none.
func (s *Stored) named() time.Time {
	if m := timestamped.FindStringSubmatch(s.Name); m != nil {
		if at, err := time.Parse("20060102150405", m[2]); err == nil {
			return at
		}
	}
	return time.Time{}
}

// isMisnamed reports whether the time in the name of a backup is known to be another one than that at
// which it began: a backup waits for those before it, and none waits for a day.
func (s *Stored) isMisnamed() bool {
	at := s.named()
	if at.IsZero() {
		return true
	}
	if s.Description == nil {
		return false
	}
	waited := s.Started().Sub(at)
	return waited < -time.Minute || waited > 24*time.Hour
}

// Started returns when the backup was begun; where nothing says so, or what does is wrong, what Dated
// says.
func (s *Stored) Started() time.Time {
	if d := s.Description; d != nil && !d.Started.IsZero() && s.Misdated() == "" {
		return d.Started
	}
	if at := s.created(); !at.IsZero() {
		return at
	}
	if at := s.named(); !at.IsZero() && (s.Description == nil || s.Description.Started.IsZero()) {
		return at
	}
	return s.Written
}

// created returns when the object was made of a backup whose description does not say when it began; zero where that is
// not known or can't be.
func (s *Stored) created() time.Time {
	d := s.Description
	if d == nil || !d.Started.IsZero() || d.Created.Before(firstVelero) || !s.isFile && !s.Written.IsZero() && d.Created.After(s.Written.Add(maxSkew)) {
		return time.Time{}
	}
	return d.Created
}

// Dated says what Started goes by where no description does; "" where one does.
func (s *Stored) Dated() string {
	switch at := s.Started(); {
	case s.Description != nil && !s.Description.Started.IsZero():
		return ""
	case at.IsZero():
		return "nothing says when it began"
	case !s.created().IsZero():
		return "nothing says when it began but when its object was made"
	case !at.Equal(s.Written):
		return "nothing says when it began but its name"
	case s.isFile:
		return "nothing says when it began: its time is that of a file"
	}
	return "nothing says when it began: its time is when it was stored"
}

// firstVelero is before the first release, which was called Ark.
var firstVelero = time.Date(2017, 8, 1, 0, 0, 0, 0, time.UTC)

// longest is far more than a backup takes: Velero gives up operations after 4 hours
// (pkg/cmd/server/config/config.go v1.18.3).
const longest = 14 * 24 * time.Hour

// Misdated says what is wrong with the time at which a backup is said to have begun: another
// clock than that of the store was wrong. It is empty where nothing is known to be.
func (s *Stored) Misdated() string {
	d := s.Description
	switch {
	case d == nil || d.Started.IsZero():
	case d.Started.Before(firstVelero):
		return "it is said to have begun before there was a Velero"
	case !d.Ended.IsZero() && d.Started.After(d.Ended):
		return "it is said to have begun after it was completed"
	case d.Ended.After(d.Started.Add(longest)):
		return "it is said to have begun more than 14 days before it was completed"
	case !s.isFile && !s.Written.IsZero() && d.Started.After(s.Written.Add(maxSkew)):
		return "it is said to have begun after it was stored"
	}
	return ""
}

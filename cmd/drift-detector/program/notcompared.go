package program

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
)

// mostPeeks is how many tarballs of backups that are not compared are read, for which management
// cluster they are of.
const mostPeeks = 8

// others returns those that Velero offers and that may hold clusters, without those that are compared, and
// those that --last has left out before anything was read of them.
func (p *picked) others(shown *shownBackups) []*store.Stored {
	all := p.choices.offered(shown.stored, func(b *store.Stored) bool {
		return !slices.Contains(p.stored, b) && p.choices.empty(b) == ""
	})
	all = append(all, shown.older...)
	slices.SortStableFunc(all, p.choices.inOrder)
	return all
}

// isOffered reports whether a backup that is left may be compared, and shows it then.
func (p *picked) isOffered(ctx context.Context, shown *shownBackups, b *store.Stored) bool {
	if !slices.Contains(shown.older, b) {
		return true
	}
	p.choices.place.Describe(ctx, b)
	can, _, _ := restorable(b)
	if can {
		shown.add(b)
	}
	return can
}

// addOthers adds to those that are compared the newest of other management clusters that are among
// the rest, as far as a few of its tarballs tell: the oldest of each schedule, where that is of
// another one those that lead to the newest of it, and then the newest. known is how many of the rest
// are of the management clusters that are compared.
func (p *picked) addOthers(ctx context.Context, shown *shownBackups, rest []*store.Stored) (added []*store.Stored, known int) {
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	p.choices.looks, p.choices.mostLooks = 0, mostPeeks
	compared := slices.Clone(p.stored)
	isAnother := func(b *store.Stored) bool { // or of a part of one that has nothing in common
		if b.Size == 0 {
			return false
		}
		o := p.choices.tarball(bounded, b).origin
		return o != nil && (o.KubeSystemUID != "" || len(o.UIDs()) > 0) && p.relation(bounded, b, compared) != backup.Same
	}
	for _, of := range p.choices.schedules(rest) { // what is read is known below
		if isAnother(of[len(of)-1]) {
			sort.Search(len(of)-1, func(i int) bool { return isAnother(of[i]) })
		}
	}
	for _, b := range rest { // the newest first
		switch {
		case p.choices.unlooked(b) != "":
		case p.relation(bounded, b, p.stored) == backup.Same:
			known++
		case isAnother(b) && p.isOffered(bounded, shown, b):
			p.insert(b)
			added = append(added, b)
		}
	}
	return added, known
}

// schedules sorts backups that were looked at by how they were made.
func (c *choices) schedules(some []*store.Stored) (all [][]*store.Stored) {
	at := map[dated]int{}
	for _, b := range some {
		if c.unlooked(b) != "" {
			continue
		}
		k := c.datedStream(b)
		k.Cluster = ""
		if _, has := at[k]; !has {
			at[k], all = len(all), append(all, nil)
		}
		all[at[k]] = append(all[at[k]], b)
	}
	return all
}

// relation returns what a backup is to some that were read: Same where it is of the management
// cluster of one of them, Unclear where nothing tells.
func (p *picked) relation(ctx context.Context, b *store.Stored, some []*store.Stored) backup.Relation {
	t := p.choices.tarball(ctx, b)
	if t.origin == nil {
		return backup.Unclear
	}
	relation := backup.Unclear
	for _, other := range some {
		if o := p.choices.tarballs[other]; o != nil && o.origin != nil {
			switch r := o.origin.Relation(t.origin); r {
			case backup.Same:
				return r
			default:
				relation = max(relation, r)
			}
		}
	}
	return relation
}

// restSays returns what is known of n backups that were not compared.
func restSays(n, known int, bounded bool, wider string) string {
	says := ", and whose management cluster that is is not known"
	switch {
	case bounded:
		says = ", and may be better: too many schedules are here"
	case known == n:
		says = ", of the same management cluster as those"
	case known > 0:
		says = fmt.Sprintf(", %d of them known to be of the same management cluster as those", known)
	case n > 1:
		says = ", and whose management clusters those are is not known"
	}
	if wider == "" {
		return says
	}
	return says + " (" + wider + " compares more)"
}

// wider returns the flags of this run that pick backups, so that more are compared: those before --since,
// which are early, and more of each schedule of which there are more. It is empty where nothing is
// wider.
func (o *backupsOptions) wider(p *picked, early []*store.Stored) string {
	since, n := o.since, p.each
	if len(early) > 0 {
		at := o.from.Add(-p.choices.now.Sub(o.from)) // twice as far back
		newest := slices.MaxFunc(early, func(a, b *store.Stored) int { return a.Started().Compare(b.Started()) })
		if began := newest.Started(); began.Before(at) {
			at = began
		}
		since = at.UTC().Format(time.DateOnly)
	}
	switch {
	case p.bounded: // of as many schedules as there are, the newest
		n = 1
	case p.isFull():
		n = min(max(o.last, 2*p.each), maxCompared)
	}
	if since == o.since && n == p.each && !p.bounded {
		return ""
	}
	var words []string
	if o.schedule != "" {
		words = append(words, "--schedule", cli.Quoted(o.schedule))
	}
	if since != "" {
		words = append(words, "--since", cli.Quoted(since))
	}
	return strings.Join(append(words, "--last", strconv.Itoa(n)), " ")
}

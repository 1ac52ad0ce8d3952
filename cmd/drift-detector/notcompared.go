package main

import (
	"context"
	"slices"
	"sort"

	"drift-detector/backup"
	"drift-detector/infra/store"
)

// mostPeeks is how many tarballs of backups that are not compared are read, for which management
// cluster they are of.
const mostPeeks = 8

// others are those that Velero offers and that may hold clusters, without those that are compared.
func (p *picked) others(shown []*store.Stored) []*store.Stored {
	return p.choices.offered(shown, func(b *store.Stored) bool {
		return !slices.Contains(p.stored, b) && p.choices.empty(b) == ""
	})
}

// addOthers adds to those that are compared the newest of other management clusters that are among
// the rest, as far as a few of its tarballs tell: the oldest of each schedule, and where that is of
// another one, those that lead to the newest of it. known says that the oldest of all are of the
// management clusters that are compared.
func (p *picked) addOthers(ctx context.Context, rest []*store.Stored) (added []*store.Stored, known bool) {
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	p.choices.looks, p.choices.mostLooks = 0, mostPeeks
	known = true
	for _, of := range p.choices.schedules(rest) {
		relation := p.relation(bounded, of[len(of)-1])
		if relation == backup.Same {
			continue
		}
		known = false
		if relation == backup.Unclear {
			continue
		}
		newest := sort.Search(len(of), func(i int) bool { return p.relation(bounded, of[i]) > backup.Same })
		if newest < len(of) && p.choices.tarballs[of[newest]] != nil {
			p.insert(of[newest])
			added = append(added, of[newest])
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

// relation returns what a backup is to those that are compared: Same where it is of the management
// cluster of one of them, Unclear where nothing tells.
func (p *picked) relation(ctx context.Context, b *store.Stored) backup.Relation {
	t := p.choices.tarball(ctx, b)
	if t.origin == nil {
		return backup.Unclear
	}
	relation := backup.Unclear
	for _, other := range p.stored {
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

// restSays is what is known of those that were not compared.
func restSays(known, bounded bool) string {
	says := ", of management clusters that are not known"
	if known {
		says = ", of the same management cluster as far as the oldest tell"
	}
	if bounded {
		says = ", and may be better: too many schedules are here"
	}
	return says + " (--last N compares more)"
}

package program

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
)

// tarballSays is what a tarball says of which management cluster it is of.
type tarballSays struct {
	origin *backup.Origin // nil where that is not known
	empty  bool           // it was read, and nothing of a management cluster is in it
	unread string         // why it was not read; empty where it was
}

// Bounds of looking into newer tarballs of which nothing is asked but whether they are of the
// same management cluster. A larger one, or one more, may be.
const (
	lookTime  = time.Minute // for all of them, and for the lists of objects
	mostLooks = 3
	// mostCompared is for each backup that --compare reads: it is the way out where the others
	// are too many to be read by detect.
	mostCompared = 32
	maxTarball   = 256 << 20 // bytes
)

// findNewer looks for newer backups in the stores of those that were read. A store that can't be
// listed has none that is known.
func (e *loadedBackup) findNewer(ctx context.Context, s *cli.Streams) {
	for i, b := range e.opened {
		if b.place == nil {
			continue
		}
		c := newChoices(b.place, s.Now())
		wrong := c.misdated(b.stored)
		all, err := b.place.Younger(ctx, b.stored, wrong != "")
		say := s.Debugf // a credential may be allowed to read objects, and not to list them
		if store.IsEndless(err) {
			say = s.Warn
		}
		if err != nil {
			say("whether there is a newer backup is not known: %v", err)
		}
		some(s, s.Warn, c.unoffered(all, b.stored))
		younger := c.younger(all, b.stored)
		if len(younger) > 0 {
			e.newer[i] = c.newerThan(ctx, e.snapshot.Origin(i), younger)
		}
		if n := e.newer[i]; n != nil {
			n.Misdated = wrong
		}
		for _, other := range all {
			if can, _, _ := restorable(other); can && c.misdated(other) != "" {
				s.Warn("whether %s is newer than this backup is not known: %s. 'drift-detector backups PLACE --compare' says whether it is better", other.Place, c.misdated(other))
			}
		}
		if why := c.bound(); why != "" {
			s.Warn("%s", why)
		}
	}
}

// younger returns those of some backups that are younger than one, the newest first, and that Velero
// offers, or will offer: the tarball of one that is not finished has all objects. What has a
// wrong date is younger than none, and none that has a date is known to be older than it.
func (c *choices) younger(some []*store.Stored, than *store.Stored) []*store.Stored {
	all := slices.DeleteFunc(slices.Clone(some), func(other *store.Stored) bool {
		can, _, _ := restorable(other)
		d := other.Description
		coming := d != nil && d.Ending() == check.Unfinished && other.Size > 0 && other.Problem == nil
		return !can && !coming || c.misdated(other) != "" || !c.isYounger(other, than)
	})
	slices.SortStableFunc(all, func(x, y *store.Stored) int { return y.Started().Compare(x.Started()) })
	return all
}

// isYounger reports whether a backup was begun after another, or may have been, where that has a
// wrong date.
func (c *choices) isYounger(other, than *store.Stored) bool {
	return other.Place != than.Place && (c.misdated(than) != "" || other.Started().After(than.Started()))
}

// unoffered says of those of some backups that are younger than one why Velero does not offer them.
func (c *choices) unoffered(some []*store.Stored, than *store.Stored) (says []string) {
	for _, other := range some {
		if can, why, _ := restorable(other); !can && c.isYounger(other, than) {
			says = append(says, other.Place+" is newer than this backup, and Velero does not offer it: "+strings.Join(why, "; "))
		}
	}
	return says
}

// newerThan returns the newest of some backups, which are younger than one and begin with the
// newest, that may be of its management cluster and hold its clusters; nil where there is none.
// Velero's files do not say which management cluster a backup is of, and a backup without the
// clusters takes no YES from one that has them: so the tarballs are read that tell it.
func (c *choices) newerThan(ctx context.Context, than *backup.Origin, younger []*store.Stored) *check.NewerBackup {
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var others []string // clusters of other management clusters
	for at := 0; at < len(younger); at += looking {
		part := younger[at:min(at+looking, len(younger))]
		c.look(bounded, part)
		for _, b := range part {
			if c.empty(b) != "" || b.Description.LeavesOutAll(than.Namespaces) != "" || c.hasOnly(b, others) {
				continue
			}
			t := c.tarball(bounded, b)
			n := &check.NewerBackup{Name: b.Name, Place: b.Place, Started: b.Started(), Unread: t.unread}
			switch {
			case t.empty && (c.read[b] == nil || !c.read[b].Manages):
				continue
			case t.origin != nil:
				n.Relation = than.Relation(t.origin)
			}
			if n.Relation != backup.Another {
				return n
			}
			if contents := c.read[b]; contents != nil {
				for _, name := range contents.Clusters {
					if !than.Has(name) { // else both call one so
						others = append(others, name)
					}
				}
			}
		}
	}
	return nil
}

// hasOnly reports whether Velero names the clusters of a backup, and all are among some.
func (c *choices) hasOnly(b *store.Stored, some []string) bool {
	contents := c.read[b]
	if contents == nil || len(contents.Clusters) == 0 || len(contents.Clusters) > check.MaxClusters {
		return false
	}
	return !slices.ContainsFunc(contents.Clusters, func(name string) bool { return !slices.Contains(some, name) })
}

// tarball reads what the tarball of a backup says, once.
func (c *choices) tarball(ctx context.Context, b *store.Stored) *tarballSays {
	if t := c.tarballs[b]; t != nil {
		return t
	}
	switch {
	case b.Size > maxTarball:
		return &tarballSays{unread: fmt.Sprintf("it is larger than %d MiB", maxTarball>>20)}
	case c.looks == c.mostLooks:
		return &tarballSays{unread: "no more than " + english.Count(c.mostLooks, "newer one") + " are"}
	}
	c.looks++
	t := &tarballSays{}
	manages := false
	noting := archive.Visitor{
		Want: func(h *archive.Header) (bool, error) {
			manages = manages || check.Manages(h.Resource == "customresourcedefinitions.apiextensions.k8s.io", string(h.Name))
			return false, nil
		},
		Visit: func(*archive.Item) error { return nil },
	}
	snapshot, _, err := backup.Load(ctx, []backup.Source{c.place.Source(ctx, b)}, backup.Want{Beside: func(int) archive.Visitor { return noting }})
	switch {
	case isEmpty(err):
		t.empty = !manages // else it has lost its clusters, or they were moved
	case err != nil && ctx.Err() != nil:
		t.unread = "no time was left for it, of " + infra.Brisk(lookTime) + " at most"
	case err != nil:
		t.unread = infra.Brief(err.Error())
	default:
		t.origin = snapshot.Origin(0)
	}
	c.tarballs[b] = t
	return t
}

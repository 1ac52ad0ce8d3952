package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"drift-detector/backup/check"
	"drift-detector/infra/store"
)

// choices says which backups of a place may hold clusters, and which of those Velero offers.
// One that can't hold any is no worse, no newer and not unreadable: it is another backup.
type choices struct {
	place *store.Place
	now   time.Time
	read  map[*store.Stored]*check.Contents // nil where Velero's list of objects is not known
	in    map[string][]string               // namespaces of clusters, by the prefix of a store
	of    []string                          // the only namespaces that count; nil for all
}

func newChoices(place *store.Place, now time.Time) *choices {
	return &choices{place: place, now: now, read: map[*store.Stored]*check.Contents{}, in: map[string][]string{}}
}

// looking is how many lists of objects are read at a time, and maxLooked in all: beyond, a
// backup may hold clusters as long as nothing says that it does not.
const (
	looking   = 8
	maxLooked = 2_000
)

// look reads the lists of objects of some backups, those that are not known yet.
func (c *choices) look(ctx context.Context, some []*store.Stored) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for _, b := range some {
		mu.Lock()
		_, known := c.read[b]
		full := len(c.read) >= maxLooked
		mu.Unlock()
		if known || full || ctx.Err() != nil || b.Description == nil || b.Description.Excludes != "" {
			continue
		}
		mu.Lock()
		c.read[b] = nil
		mu.Unlock()
		done.Go(func() {
			contents, err := c.place.Contents(ctx, b)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				c.read[b] = contents
			}
		})
	}
	done.Wait()
	for _, b := range some {
		if contents := c.read[b]; contents != nil {
			for _, namespace := range contents.Namespaces {
				if !slices.Contains(c.in[b.Root], namespace) {
					c.in[b.Root] = append(c.in[b.Root], namespace)
				}
			}
		}
	}
}

// empty says why a backup can hold none of the clusters, by what was read of it so far; ""
// where it may.
func (c *choices) empty(b *store.Stored) string {
	contents := c.read[b]
	switch {
	case b.Description == nil:
		return ""
	case b.Description.Excludes != "":
		return b.Description.Excludes
	case contents != nil && contents.Objects == 0 && !contents.Manages:
		return "its list of objects has nothing of Cluster API"
	case len(c.of) > 0:
		return b.Description.LeavesOutAll(c.of)
	case contents != nil || len(c.in[b.Root]) == 0:
		return ""
	}
	return b.Description.LeavesOutAll(c.in[b.Root])
}

// like says why a backup is taken for one without clusters, of which its own files say nothing:
// all of its schedule that were looked at, with the same filters or none, are. It is for the
// list, and chooses nothing.
func (c *choices) like(b *store.Stored) string {
	if b.Description == nil || b.Description.Schedule == "" || c.read[b] != nil {
		return ""
	}
	why := ""
	for other, contents := range c.read {
		if other.Root != b.Root || other.Description.Schedule != b.Description.Schedule || contents == nil {
			continue
		}
		if contents.Objects > 0 || contents.Manages {
			return ""
		}
		why = "the newest of its schedule have none"
	}
	return why
}

// holding returns the first n backups of some that may hold clusters, the newest of which come
// first. No more lists of objects are read than that takes; once the context has
// ended, none is, and what is not known to be empty may hold clusters.
func (c *choices) holding(ctx context.Context, some []*store.Stored, n int) []*store.Stored {
	var found []*store.Stored
	for at := 0; at < len(some) && len(found) < n; at += looking {
		part := some[at:min(at+looking, len(some))]
		c.look(ctx, part)
		for _, b := range part {
			if c.empty(b) == "" {
				found = append(found, b)
			}
		}
		// A later list may have said in which namespaces the clusters are.
		found = slices.DeleteFunc(found, func(b *store.Stored) bool { return c.empty(b) != "" })
	}
	return found[:min(n, len(found))]
}

// misdated says why the age of a backup is not used to choose; "" where it is.
func (c *choices) misdated(b *store.Stored) string {
	const skew = 5 * time.Minute
	if why := b.Misdated(); why != "" {
		return why
	}
	if d := b.Description; d != nil && d.Started.After(c.now.Add(skew)) {
		return "it is said to have begun after now"
	}
	return ""
}

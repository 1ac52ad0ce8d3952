package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
)

// choices says which backups of a place may hold clusters, and which of those Velero offers.
// One that can't hold any is no worse, no newer and not unreadable: it is another backup.
type choices struct {
	place     *store.Place
	now       time.Time
	read      map[*store.Stored]*check.Contents // nil where Velero's list of objects is not known
	in        map[string][]string               // namespaces of clusters, by the prefix of a store, maxNamespaces at most
	isIn      map[[2]string]bool                // the same, by prefix and namespace
	first     map[clusterName]string            // see link
	unread    map[*store.Stored]string          // why a list is not used that is there
	skipped   int                               // lists that were left out
	tarballs  map[*store.Stored]*tarballSays
	looks     int // into tarballs, mostLooks at most
	mostLooks int
}

func newChoices(place *store.Place, now time.Time) *choices {
	return &choices{
		place: place, now: now, mostLooks: mostLooks, read: map[*store.Stored]*check.Contents{}, in: map[string][]string{}, isIn: map[[2]string]bool{},
		unread: map[*store.Stored]string{}, first: map[clusterName]string{}, tarballs: map[*store.Stored]*tarballSays{},
	}
}

// looking is how many lists of objects are read at a time, and maxLooked in all: beyond, a
// backup may hold clusters as long as nothing says that it does not. It is a variable for tests.
const looking = 8

var maxLooked = 2_000

// maxNamespaces is with how many namespaces of clusters the filters of backups are compared: where
// there are more, filters say nothing.
const maxNamespaces = 1_000

// look reads the lists of objects of some backups, those that are not known yet.
func (c *choices) look(ctx context.Context, some []*store.Stored) {
	var mu sync.Mutex
	var done sync.WaitGroup
	free := make(chan struct{}, looking)
	for _, b := range some {
		mu.Lock()
		_, known := c.read[b]
		full := len(c.read) >= maxLooked
		mu.Unlock()
		if known || ctx.Err() != nil || b.Description == nil || b.Description.Excludes != "" {
			continue
		}
		if full {
			c.skipped++
			continue
		}
		mu.Lock()
		c.read[b] = nil
		mu.Unlock()
		free <- struct{}{}
		done.Go(func() {
			contents, err := c.place.Contents(ctx, b)
			mu.Lock()
			defer mu.Unlock()
			var refused *backup.InputError
			if contents != nil {
				if why := cmp.Or(contents.Lacks(b.Description), contents.Denies(b.Size)); why != "" {
					c.unread[b] = "its list of objects is not used: " + why
					contents = nil
				}
			}
			if c.read[b] = contents; errors.As(err, &refused) {
				c.unread[b] = "its list of objects is not used: " + refused.Problem
			}
			<-free
		})
	}
	done.Wait()
	for _, b := range some {
		if contents := c.read[b]; contents != nil {
			c.link(b.Root, contents.Clusters)
			for _, namespace := range contents.Namespaces {
				if at := [2]string{b.Root, namespace}; !c.isIn[at] && len(c.in[b.Root]) <= maxNamespaces {
					c.isIn[at] = true
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
	case contents != nil || len(c.in[b.Root]) == 0 || len(c.in[b.Root]) > maxNamespaces:
		return ""
	}
	return b.Description.LeavesOutAll(c.in[b.Root])
}

// unlooked says why a backup was not looked at: newer ones that were made as it was, and samples of
// the others, hold no cluster.
func (c *choices) unlooked(b *store.Stored) string {
	if _, looked := c.read[b]; looked || b.Description == nil || b.Description.Schedule == "" || c.empty(b) != "" {
		return ""
	}
	empty := 0
	for other, contents := range c.read {
		if madeAs(other) != madeAs(b) {
			continue
		}
		if contents == nil || contents.Objects > 0 || contents.Manages {
			return ""
		}
		empty++
	}
	if empty == 0 {
		return ""
	}
	return fmt.Sprintf("not known whether a cluster is in it: of its schedule %s looked at, the newest and some of the others, and none has one; --schedule %s looks at all", were(empty), cli.Quoted(b.Description.Schedule))
}

func were(n int) string {
	if n == 1 {
		return "1 backup was"
	}
	return english.Count(n, "backup") + " were"
}

// made is how backups of one schedule are made, until somebody changes it.
type made struct {
	root, schedule string
	spec           uint64
}

func madeAs(b *store.Stored) made {
	if d := b.Description; d != nil {
		return made{b.Root, d.Schedule, d.Spec}
	}
	return made{root: b.Root}
}

// group are the backups that are made alike, of which the newest were looked at.
type group struct {
	made
	all     []*store.Stored
	looked  int
	sampled bool
	to      int // as far as samples hold clusters
}

// samples returns backups of a group at growing distances from those that were looked at, and its last.
func (g *group) samples() (some []*store.Stored) {
	for step := 1; g.looked+step < len(g.all); step *= 2 {
		some = append(some, g.all[g.looked+step-1])
	}
	return append(some, g.all[len(g.all)-1])
}

// holding returns the first n backups of some, which are in order, of each stream: those that
// may hold clusters. No more lists of objects are read than that takes. Of a schedule none more
// are where the newest and samples of the others hold no cluster, unless nothing else of the place
// holds one; once the
// context has ended, none is, and what is not known to be empty may hold clusters.
func (c *choices) holding(ctx context.Context, some []*store.Stored, n int) []*store.Stored {
	type alike struct { // what has a wrong date is not older than others
		made
		misdated bool
	}
	var groups []*group
	of := map[alike]*group{}
	for _, b := range some {
		k := alike{madeAs(b), c.misdated(b) != ""}
		if of[k] == nil {
			of[k] = &group{made: k.made}
			groups = append(groups, of[k])
		}
		of[k].all = append(of[k].all, b)
	}
	for batch := looking; ; batch *= 2 {
		holds := map[string]bool{}
		for _, g := range groups {
			holds[g.root] = holds[g.root] || len(c.sure(g.all[:g.looked], 1)) > 0
		}
		var next []*store.Stored
		for _, g := range groups {
			if c.goesOn(g, n, holds[g.root]) {
				to := min(g.looked+batch, len(g.all))
				next = append(next, g.all[g.looked:to]...)
				g.looked = to
			} else if !g.sampled && g.looked < len(g.all) && len(c.sure(g.all[:g.looked], 1)) == 0 {
				g.sampled = true
				next = append(next, g.samples()...)
			}
		}
		if len(next) == 0 {
			break
		}
		c.look(ctx, next)
		for _, g := range groups {
			for i := len(g.all); g.sampled && i > max(g.looked, g.to); i-- {
				if _, known := c.read[g.all[i-1]]; known && c.empty(g.all[i-1]) == "" {
					g.to = i
				}
			}
		}
	}
	looked := map[*store.Stored]bool{}
	for _, g := range groups {
		for _, b := range g.all[:g.looked] {
			looked[b] = true
		}
	}
	return c.sure(slices.DeleteFunc(slices.Clone(some), func(b *store.Stored) bool { return !looked[b] }), n)
}

// goesOn reports whether older backups of a group are to be looked at, too.
func (c *choices) goesOn(g *group, n int, holds bool) bool {
	if g.looked == 0 || g.looked == len(g.all) {
		return g.looked < len(g.all)
	}
	have := map[dated]int{}
	for _, b := range c.sure(g.all[:g.looked], n) {
		have[c.datedStream(b)]++
	}
	for _, many := range have {
		if many < n {
			return true
		}
	}
	return g.looked < g.to || len(have) == 0 && (g.schedule == "" || !holds)
}

// sure returns the first n backups of each stream that may hold clusters, by what was read.
func (c *choices) sure(some []*store.Stored, n int) []*store.Stored {
	var found []*store.Stored
	have := map[dated]int{}
	for _, b := range some {
		if c.empty(b) != "" {
			continue
		}
		if s := c.datedStream(b); have[s] < n {
			have[s]++
			found = append(found, b)
		}
	}
	return found
}

// bound says that lists of objects were left out, if any were.
func (c *choices) bound() string {
	for _, namespaces := range c.in {
		if len(namespaces) > maxNamespaces && c.skipped == 0 {
			return fmt.Sprintf("clusters are in more than %d namespaces, the most with which filters are compared: a backup with filters may hold clusters. A longer prefix, --schedule or --since leave fewer", maxNamespaces)
		}
	}
	if c.skipped == 0 {
		return ""
	}
	return fmt.Sprintf("the list of objects of %s was not read: %d are the most. A backup may hold clusters as long as nothing says that it does not; --last, --since, --schedule or a longer prefix leave fewer", english.Count(c.skipped, "backup"), maxLooked)
}

// misdated says why the age of a backup is not used to choose; "" where it is.
func (c *choices) misdated(b *store.Stored) string {
	const skew = 5 * time.Minute
	if why := b.Misdated(); why != "" {
		return why
	}
	if b.Started().After(c.now.Add(skew)) {
		return "it is said to have begun after now"
	}
	return ""
}

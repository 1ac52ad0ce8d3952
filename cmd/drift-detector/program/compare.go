package program

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/infra/store"
	"drift-detector/internal/cli"
	"drift-detector/report"
	backupreport "drift-detector/report/backups"
	"drift-detector/report/code"
)

// sharedListing is what the backups that are compared have in common: the answers of the
// infrastructure, which is asked once, and the credentials for it.
type sharedListing struct {
	registry *infra.Registry // it counts the logins that failed
	memo     infra.Memo
	targets  map[string]*infra.Target // by scope, of the newest backup that has a credential for it
	listings map[string]infra.Listing // by scope, those that are not to be tried again
	same     map[string]bool          // the first scopes of targets of this backup that are listed as for a newer one
	borrowed []string
	lacks    bool // the backup that was listed last has no credential for some place
}

func newSharedListing() *sharedListing {
	return &sharedListing{registry: all.Registry(), targets: map[string]*infra.Target{}, listings: map[string]infra.Listing{}}
}

// knows reports whether it was said before with which credential a place is listed.
func (l *sharedListing) knows(t *infra.Target) bool { return l != nil && l.same[t.IDs[0]] }

// adopt gives the targets of a backup the credentials of the newest that has them.
func (l *sharedListing) adopt(targets []infra.Target) {
	if l == nil {
		return
	}
	l.lacks, l.same = false, map[string]bool{}
	var own []*infra.Target
	for i := range targets {
		t := &targets[i]
		refused := t.Refused != nil
		switch borrowed := slices.ContainsFunc(t.IDs, func(id string) bool {
			of, known := l.targets[id]
			return known && t.Borrow(of)
		}); {
		case borrowed && refused:
			l.same[t.IDs[0]] = true
			l.borrowed = append(l.borrowed, fmt.Sprintf("%s (%s)", t.Endpoint, t.Source))
		case borrowed:
			l.same[t.IDs[0]] = true
		case refused:
			l.lacks = true
		default:
			own = append(own, t)
		}
	}
	for _, t := range own {
		for _, id := range t.IDs {
			if l.targets[id] == nil {
				l.targets[id] = t
			}
		}
	}
}

// collect lists the targets. Those of which nothing new is to be learned are not tried
// again: Node lists, and places that did not let us in.
func (l *sharedListing) collect(ctx context.Context, r *infra.Registry, targets []infra.Target, watch *infra.Watch) infra.Inventory {
	if l == nil {
		return r.Collect(ctx, targets, watch)
	}
	var ask []infra.Target
	var at []int
	inv := infra.Inventory{Version: infra.InventoryVersion, Listings: make([]infra.Listing, len(targets))}
	for i, t := range targets {
		if known, ok := l.listings[t.IDs[0]]; ok && t.Refused == nil && l.same[t.IDs[0]] {
			known.IDs, known.Clusters, known.Asked = t.IDs, t.Clusters, t.Probes
			inv.Listings[i] = known
			continue
		}
		ask, at = append(ask, t), append(at, i)
	}
	for i, found := range r.Collect(l.memo.With(ctx), ask, watch).Listings {
		inv.Listings[at[i]] = found
		if t := &ask[i]; t.Refused == nil && (found.NodeState != "" || found.State == code.ScopeFailed) {
			l.remember(t, found)
		}
	}
	return inv
}

// remember keeps a listing that is not to be tried again. A credential that was refused is
// no other backup's: an older one may have one that is taken, and how often one fails is
// counted for all of them.
func (l *sharedListing) remember(t *infra.Target, found infra.Listing) {
	refused := found.Fault != nil && found.Fault.Reason == code.AuthenticationFailed
	for _, id := range t.IDs {
		if refused {
			delete(l.targets, id)
		} else if _, taken := l.listings[id]; !taken {
			l.listings[id] = found
		}
	}
}

// compare decides each of some backups, the newest first, on its own, beside one listing
// of the infrastructure. They were picked of those that are shown, and keep is the name of the one
// whose report is wanted, too.
func (o *backupsOptions) compare(ctx context.Context, s *cli.Streams, place *store.Place, p *picked, shown *shownBackups, keep string) (*backupreport.Comparison, *report.Report, error) {
	access, err := o.access(s)
	if err != nil {
		return nil, nil, err
	}
	o.shared = newSharedListing()
	defer o.shared.memo.Close(ctx)
	began := s.Now()
	compared := map[*store.Stored]*backupreport.Compared{}
	var kept *report.Report
	one := func(i int, b *store.Stored) (lacks bool, err error) {
		if !o.quiet {
			s.Info("backup %d of %d: %s", i+1, len(p.stored), b.Name)
		}
		row, rep, err := o.compareOne(ctx, s, place, b, access)
		if err != nil {
			return false, err
		}
		row.Skipped, row.Misdated = p.isSkipped(b), p.choices.misdated(b) != ""
		row.Expired = b.Description != nil && p.choices.expired(b)
		compared[b] = row
		if b.Name == keep && rep != nil {
			kept = rep
		}
		return rep != nil && o.shared.lacks, nil
	}
	var again []int
	for i := 0; i < len(p.stored); i++ {
		lacks, err := one(i, p.stored[i])
		if err != nil {
			return nil, nil, err
		}
		if lacks {
			again = append(again, i)
		}
		if compared[p.stored[i]].Empty {
			p.replace(i)
		}
	}
	for _, i := range again { // an older one may have had what this one lacks
		if _, err := one(i, p.stored[i]); err != nil {
			return nil, nil, err
		}
	}
	rest := p.others(shown)
	added, known := p.addOthers(ctx, shown, rest)
	for _, b := range added {
		if _, err := one(len(p.stored)-1, b); err != nil {
			return nil, nil, err
		}
	}
	rows := make([]*backupreport.Compared, len(p.stored))
	for i, b := range p.stored {
		rows[i] = compared[b]
	}
	of := ""
	if o.schedule != "" {
		of = "--schedule " + o.schedule
	}
	c := backupreport.Choose(rows, of)
	n := len(rest) - len(added) + len(shown.early)
	wider := ""
	if n > 0 {
		wider = o.wider(p, shown.early)
	}
	shown.doc.Widen(wider)
	if f := o.filter(); f != nil {
		c.Narrowed(f)
	}
	c.Leaves(n, restSays(n, known, p.bounded, wider), p.bounded)
	c.ListedAt = began.UTC()
	slices.Sort(o.shared.borrowed)
	c.Borrowed = append(c.Borrowed, slices.Compact(o.shared.borrowed)...)
	return c, kept, nil
}

// compareOne decides one backup. What keeps it from being read is in its row; the error is that
// of the context, or of the inventory, which is that of all of them.
func (o *detectOptions) compareOne(ctx context.Context, s *cli.Streams, place *store.Place, b *store.Stored, access infra.Access) (*backupreport.Compared, *report.Report, error) {
	e, err := o.loadStored(ctx, s, place, b)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case isEmpty(err):
		return &backupreport.Compared{Name: b.Name, Place: b.Place, Complete: true, Empty: true}, nil, nil
	case err != nil:
		return backupreport.Unreadable(b.Name, b.Place, err), nil, nil
	}
	rep, _, err := o.decide(ctx, s, e, access)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, nil, err
	}
	row := backupreport.Of(b.Name, b.Place, rep)
	row.Tell(o.choices.tarballs[b].origin.UIDs())
	return row, rep, nil
}

// previewComparison runs --dry-run of compare: it says what would be contacted, each place
// once, and contacts none.
func (o *detectOptions) previewComparison(ctx context.Context, s *cli.Streams, place *store.Place, stored []*store.Stored) error {
	access, err := o.access(s)
	if err != nil {
		return err
	}
	o.shared = newSharedListing()
	var unread []error
	for i, b := range stored {
		if !o.quiet {
			s.Info("backup %d of %d: %s", i+1, len(stored), b.Name)
		}
		e, err := o.loadStored(ctx, s, place, b)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			unread = append(unread, err)
			s.Warn("%s is not compared: %v", b.Name, err)
			continue
		}
		if err := o.plan(s, e, access); err != nil {
			return err
		}
	}
	if len(unread) == len(stored) {
		return unread[0]
	}
	return nil
}

// loadStored reads a backup of a store.
func (o *detectOptions) loadStored(ctx context.Context, s *cli.Streams, place *store.Place, b *store.Stored) (*loadedBackup, error) {
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	velero, err := place.Described(bounded, b) // the list has its outline
	if can, _, _ := restorable(b); err != nil && (can || bounded.Err() != nil) {
		return nil, o.bounds.explain(bounded, err)
	}
	opened := openedBackup{source: place.Source(bounded, b), velero: velero, unread: unused(s, err)}
	e, err := o.loadOpened(bounded, s, o.shared.registry, []openedBackup{opened})
	if err != nil {
		return nil, o.bounds.explain(bounded, err)
	}
	e.compared = true
	origin := e.snapshot.Origin(0)
	o.choices.tarballs[b] = &tarballSays{origin: origin}
	o.choices.looks, o.choices.mostLooks = 0, mostCompared // others than those that were read before
	if e.newer[0] = o.choices.newerThan(bounded, origin, o.choices.youngerBeside(o.candidates, b)); e.newer[0] == nil {
		e.newer[0] = o.choices.newerThan(bounded, origin, o.choices.youngerBeside(o.describeLeft(bounded, place, b), b))
	}
	if e.newer[0] != nil {
		e.newer[0].Misdated = o.choices.misdated(b)
	}
	return e, nil
}

// youngerBeside returns the younger ones of the same prefix.
func (c *choices) youngerBeside(some []*store.Stored, than *store.Stored) []*store.Stored {
	return slices.DeleteFunc(c.younger(some, than), func(other *store.Stored) bool { return other.Root != than.Root })
}

// describeLeft describes those that were left and may be younger than a backup, of which none is known
// that is: behind the newest of another management cluster there may be one of its own.
func (o *detectOptions) describeLeft(ctx context.Context, place *store.Place, than *store.Stored) []*store.Stored {
	var late, left []*store.Stored
	for _, b := range o.left {
		if b.Root == than.Root && o.choices.isYounger(b, than) {
			late = append(late, b)
		} else {
			left = append(left, b)
		}
	}
	place.Describe(ctx, late...)
	o.left, o.candidates = left, append(o.candidates, late...)
	return late
}

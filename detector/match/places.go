package match

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

func homeOf(c *Machine) clusterScope {
	return clusterScope{c.Of.Cluster, c.Home.Target, c.Home.Folder}
}

// judgeHomes judges every place where machines, pools or resources are looked for.
func (ix *Index) judgeHomes(c *infra.Expected) {
	proofs := proofsOf(c.Proofs)
	ix.scopes.homes = make(map[clusterScope]*Place, 2*len(ix.snap.Clusters)) // mostly a target and a part of it
	judge := func(at clusterScope, decides bool) *Place {
		h := ix.scopes.homes[at]
		if h == nil {
			h = ix.judge(at, proofs(at))
			ix.scopes.homes[at] = h
		}
		h.decides = h.decides || decides
		return h
	}
	var last *Machine // most machines have the home of the one before
	for _, c := range ix.Machines {
		switch {
		case c.Provider == "":
		case last != nil && homeOf(c) == homeOf(last):
			c.home = last.home
		default:
			c.home, last = judge(homeOf(c), true), c
		}
	}
	for i := range c.Pools {
		p := &c.Pools[i]
		judge(clusterScope{p.Cluster, p.Target, ""}, true)
		ix.scopes.noteUnasked(p)
	}
	for i := range c.Resources {
		judge(clusterScope{c.Resources[i].Cluster, c.Resources[i].Target, ""}, false)
	}
	for _, c := range ix.Machines {
		if c.home == nil {
			c.home = ix.scopes.home(homeOf(c))
		}
	}
}

// proofsOf returns the proofs that count at a place, none for a part that has none of its
// own. For a target as a whole those of its parts count, too.
func proofsOf(all []infra.VisibilityProof) func(clusterScope) []*infra.VisibilityProof {
	whole := make([]*infra.VisibilityProof, len(all))
	for i := range all {
		whole[i] = &all[i]
	}
	slices.SortStableFunc(whole, func(a, b *infra.VisibilityProof) int { return compareTarget(a, b.Cluster, b.Target) })
	parts := slices.Clone(whole)
	slices.SortStableFunc(parts, func(a, b *infra.VisibilityProof) int { return comparePart(a, b.Cluster, b.Target, b.Folder) })
	of := func(at clusterScope, folder string) []*infra.VisibilityProof {
		return equalRange(parts, func(p *infra.VisibilityProof) int { return comparePart(p, at.cluster, at.target, folder) })
	}
	return func(at clusterScope) []*infra.VisibilityProof {
		if at.folder == "" {
			return equalRange(whole, func(p *infra.VisibilityProof) int { return compareTarget(p, at.cluster, at.target) })
		}
		own := of(at, at.folder)
		if len(own) == 0 {
			return nil
		}
		return slices.Concat(of(at, ""), own)
	}
}

func compareTarget(p *infra.VisibilityProof, id backup.ClusterID, target string) int {
	return cmp.Or(CompareClusters(p.Cluster, id), cmp.Compare(p.Target, target))
}

func comparePart(p *infra.VisibilityProof, id backup.ClusterID, target, folder string) int {
	return cmp.Or(compareTarget(p, id, target), cmp.Compare(p.Folder, folder))
}

// judge decides whether absence can be concluded at a place: every listing of
// it is complete, and its proofs hold.
func (ix *Index) judge(at clusterScope, proofs []*infra.VisibilityProof) *Place {
	h := &Place{listings: ix.scopes.byTarget[at.target], Name: at.target}
	if len(h.listings) == 0 {
		h.Fault = ix.scopes.notListed(at.target)
		return h
	}
	for _, i := range h.listings {
		l := &ix.scopes.listings[i]
		h.Name = cmp.Or(l.Endpoint, h.Name)
		h.Count += l.Count()
		fault := ix.tooOld(l, at.cluster)
		if l.State != code.ScopeComplete {
			fault = faultOf(l)
		}
		if fault != nil && (h.Fault == nil || compareFaults(fault, h.Fault) < 0) {
			h.Fault = fault
		}
	}
	contradicted := ix.contradicted(at, h.listings)
	if h.Contradicted = contradicted != nil; h.Fault == nil {
		h.Fault = contradicted
	}
	if h.Fault == nil {
		h.Fault = ix.unproven(at, h, proofs)
	}
	h.Complete = h.Fault == nil
	return h
}

// tooOld returns the fault of a listing that was made before the backup was written:
// what the backup records may have come into being since, and what was listed
// may have gone.
func (ix *Index) tooOld(l *infra.Listing, id backup.ClusterID) *infra.Fault {
	if l.ListedAt.IsZero() || id.Backup < 0 || id.Backup >= len(ix.snap.Backups) {
		return nil
	}
	written := ix.snap.Backups[id.Backup].WrittenTo
	if !l.ListedAt.Before(written) {
		return nil
	}
	return &infra.Fault{
		Reason:  code.ListedBeforeBackup,
		Message: fmt.Sprintf("%s was listed at %s, before %s at %s", l.Endpoint, l.ListedAt.UTC().Format(time.RFC3339), ix.subject.Written(), written.UTC().Format(time.RFC3339)),
		Hint:    "list again; if this machine's clock is slow, set it first",
	}
}

// dated returns the end of the backup that the cluster is from; zero where nobody knows it.
func (ix *Index) dated(id backup.ClusterID) time.Time {
	if i := id.Backup; i >= 0 && i < len(ix.snap.Backups) && !ix.snap.Backups[i].Undated {
		return ix.snap.Backups[i].WrittenTo
	}
	return time.Time{}
}

// unproven returns the fault of a complete listing that is not proven to show
// the place where the cluster's machines are. No proof at all proves nothing.
func (ix *Index) unproven(at clusterScope, h *Place, proofs []*infra.VisibilityProof) *infra.Fault {
	hint := "check that the account may see the cluster's folders and machines, and that the address leads to the right server"
	failed := len(proofs) == 0
	for _, p := range proofs {
		h.Stated = cmp.Or(h.Stated, p.Stated)
		if !ix.holds(p, h.listings) {
			failed = true
			hint = cmp.Or(p.Hint, hint)
		}
	}
	if !failed {
		return nil
	}
	return &infra.Fault{
		Reason:  code.VisibilityUnproven,
		Message: unprovenMessage(h.Name, []string{at.cluster.Namespace + "/" + at.cluster.Name}),
		Hint:    hint,
	}
}

// findUnvisited names, by provider, the first place of any machine of the backup that
// nobody listed: what is not found at home may have been moved there.
func (ix *Index) findUnvisited() map[string]string {
	out := map[string]string{}
	for _, c := range ix.Machines {
		if at := c.Home.Target; c.Provider != "" && at != "" && len(ix.scopes.byTarget[at]) == 0 && (out[c.Provider] == "" || at < out[c.Provider]) {
			out[c.Provider] = at
		}
	}
	return out
}

// Shows reports whether what a key means was found at a target.
func (ix *Index) Shows(target string, k infra.Key) bool {
	return ix.scopes.shows(ix.scopes.byTarget[target], k)
}

// atHome reports whether the instance is where the machine's controller looks.
func (ix *Index) atHome(c *Machine, v *VM) bool {
	return v.seenIn(ix.scopes.byTarget[c.Home.Target]) && (c.Home.Within.IsZero() || v.HasKey(c.Home.Within))
}

// mayBeAtHome reports what atHome does, for an instance whose missing keys prove nothing.
func (ix *Index) mayBeAtHome(c *Machine, v *VM) bool {
	return ix.atHome(c, v) ||
		v.seenIn(ix.scopes.byTarget[c.Home.Target]) && v.Value(c.Home.Within.Kind) == ""
}

// seenAt names the target where an instance was seen, the machine's own when it
// is one of several.
func (ix *Index) seenAt(v *VM, prefer string) string {
	first := ""
	for _, i := range v.seen {
		ids := ix.scopes.listings[i].IDs // in order
		if _, has := slices.BinarySearch(ids, prefer); has {
			return prefer
		}
		if len(ids) > 0 && (first == "" || ids[0] < first) {
			first = ids[0]
		}
	}
	return first
}

package match

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is the first law for places: one is proven to be the right one by ids
// that the backup recorded, never by names, and not by ids that more names
// contradict. A stand-by site has machines of the same names, and one of them may
// have kept its id.

// countIDs counts per server. The result is by listing: those of one server have one count.
func (ix *Index) countIDs(proofs []infra.VisibilityProof) []*idCount {
	copied := map[string]bool{}
	for i := range proofs {
		if p := &proofs[i]; p.Copied {
			copied[p.Target] = true
		}
	}
	byServer, counts := map[server]*idCount{}, make([]*idCount, len(ix.scopes.listings))
	for i := range counts {
		at := serverOf(&ix.scopes.listings[i])
		if byServer[at] == nil {
			byServer[at] = &idCount{}
		}
		counts[i] = byServer[at]
	}
	// The servers that cover a target, each with all of its listings.
	type covering struct {
		count    *idCount
		listings []int32
	}
	servers := map[string][]covering{}
	for target, listings := range ix.scopes.byTarget {
		of := map[*idCount][]int32{}
		for _, i := range listings {
			of[counts[i]] = append(of[counts[i]], i)
		}
		for n, own := range of {
			servers[target] = append(servers[target], covering{n, own})
		}
	}
	for _, c := range ix.Machines {
		if c.Provider == "" || c.Strong.IsZero() {
			continue
		}
		for _, at := range servers[c.Home.Target] {
			here := func(v *VM) bool { return alive(v) && v.seenIn(at.listings) }
			switch n := at.count; {
			case slices.ContainsFunc(c.byID, here):
				n.seen++
			case copied[c.Home.Target] && ix.unclaimed.has(func(v *VM) bool {
				return here(v) && (v.Unreadable || v.HasOther(c.Strong))
			}, c.Names...):
				n.contradicted++
			}
		}
	}
	return counts
}

// contradicted returns the fault of a place on a server that names contradict, or nil.
func (ix *Index) contradicted(at clusterScope, listings []int32) *infra.Fault {
	for _, i := range listings {
		if n := ix.ids[i]; n.isContradicted() {
			return &infra.Fault{
				Reason:  code.VisibilityUnproven,
				Message: unprovenMessage(cmp.Or(ix.scopes.listings[i].Endpoint, at.target), []string{at.cluster.Namespace + "/" + at.cluster.Name}),
				Hint:    n.hint(ix.subject),
			}
		}
	}
	return nil
}

// holds reports whether a proof holds for the listings of a place.
func (ix *Index) holds(p *infra.VisibilityProof, listings []int32) bool {
	probe := func(k infra.Key) bool { return ix.scopes.shows(listings, k) }
	seen := func(k infra.Key) bool {
		return ix.byKey.has(func(v *VM) bool { return v.seenIn(listings) }, k)
	}
	switch {
	case p.Stated != "":
		return true
	case len(p.All) > 0:
		return !slices.ContainsFunc(p.All, func(k infra.Key) bool { return !probe(k) })
	case slices.ContainsFunc(p.Any, func(k infra.Key) bool { return probe(k) || seen(k) }):
		return true
	}
	return p.Nodes && slices.ContainsFunc(ix.nodesAt[p.Target], func(n *Node) bool {
		return n.Agrees() && slices.ContainsFunc(n.Keys, seen)
	})
}

// indexProofs finds what proves a place for whatever is there: the proofs of whole
// targets, and the Nodes of the clusters that such a proof trusts.
func (ix *Index) indexProofs(all []infra.VisibilityProof) {
	ix.proofs, ix.nodesAt = make([]*infra.VisibilityProof, 0, len(all)), map[string][]*Node{}
	for i := range all {
		p := &all[i]
		if p.Folder == "" {
			ix.proofs = append(ix.proofs, p)
		}
		if p.Nodes {
			ix.nodesAt[p.Target] = append(ix.nodesAt[p.Target], ix.nodes.of(p.Cluster)...)
		}
	}
	slices.SortFunc(ix.proofs, func(a, b *infra.VisibilityProof) int { return CompareClusters(a.Cluster, b.Cluster) })
}

// isPartial reports whether any of the listings did not come to its end.
func (ix *Index) isPartial(listings []int32) bool {
	return slices.ContainsFunc(listings, func(i int32) bool { return ix.scopes.listings[i].State != code.ScopeComplete })
}

// provenFor reports whether ids show that an instance is where the machines of a
// cluster are. That no names contradict ids which may be those of copies is concluded
// from complete listings only.
func (ix *Index) provenFor(id backup.ClusterID, v *VM) bool {
	holds, all := false, false
	for _, p := range equalRange(ix.proofs, func(p *infra.VisibilityProof) int { return CompareClusters(p.Cluster, id) }) {
		if listings := ix.scopes.byTarget[p.Target]; v.seenIn(listings) {
			all = true
			holds = holds || ix.holds(p, listings) && !(p.Copied && ix.isPartial(listings))
		}
	}
	if all {
		return holds
	}
	return slices.ContainsFunc(v.seen, func(i int32) bool { return ix.ids[i].seen > 0 })
}

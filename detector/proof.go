package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// This file is the first law for places: one is proven to be the right one by ids
// that the backup recorded, never by names, and not by ids that more names
// contradict. A stand-by site has machines of the same names, and one of them may
// have kept its id.

// server is all that is listed at one address.
type server struct{ provider, endpoint, location string }

func serverOf(l *infra.Listing) server { return server{l.Provider, l.Endpoint, l.Location} }

// idCount is how many recorded ids are seen at a server, and, where they may be those
// of copies, how many machines that are not seen there have their name on another id.
type idCount struct{ seen, contradicted int }

// isContradicted reports whether names say that the server is another one than
// recorded ids do.
func (n idCount) isContradicted() bool { return n.contradicted > n.seen }

func (n idCount) hint() string {
	return fmt.Sprintf("of the recorded machines %d are seen there by id and %d by a name that has another id: check that the address (--endpoint) leads to the server that the backup means and not to a stand-by site; "+
		"if it does, and the machines were restored under new ids, compare them with their Nodes", n.seen, n.contradicted)
}

func (e *estate) countIDs(proofs []infra.Proof) map[server]idCount {
	copied := map[string]bool{}
	for i := range proofs {
		copied[proofs[i].Target] = copied[proofs[i].Target] || proofs[i].Copied
	}
	counts := map[server]idCount{}
	for _, c := range e.claims {
		if c.Provider == "" || c.Strong.IsZero() {
			continue
		}
		for at, listings := range e.serversOf(c.Home.Target) {
			n := counts[at]
			here := func(v *vm) bool { return alive(v) && v.seenIn(listings) }
			switch {
			case slices.ContainsFunc(e.bearing(c.Strong), here):
				n.seen++
			case copied[c.Home.Target] && slices.ContainsFunc(e.bearing(c.Names...), func(v *vm) bool { return here(v) && (v.Unreadable || bearsOther(v, c.Strong)) && !v.byStrong.others(c) }):
				n.contradicted++
			}
			counts[at] = n
		}
	}
	return counts
}

// serversOf are the servers that cover a target, each with all of its listings.
func (e *estate) serversOf(target string) map[server][]int32 {
	out := map[server][]int32{}
	for _, i := range e.scopes.byTarget[target] {
		at := serverOf(&e.scopes.listings[i])
		out[at] = append(out[at], i)
	}
	return out
}

// contradicted is the fault of a place on a server that names contradict, or nil.
func (e *estate) contradicted(at place, listings []int32) *infra.Fault {
	for _, i := range listings {
		l := &e.scopes.listings[i]
		if n := e.ids[serverOf(l)]; n.isContradicted() {
			return &infra.Fault{
				Reason:  visibilityUnproven,
				Message: unprovenMessage(cmp.Or(l.Endpoint, at.target), []string{at.cluster.Namespace + "/" + at.cluster.Name}),
				Hint:    n.hint(),
			}
		}
	}
	return nil
}

// holds reports whether a proof holds for the listings of a place.
func (e *estate) holds(p *infra.Proof, listings []int32) bool {
	landmark := func(k infra.Key) bool { return e.scopes.shows(listings, k) }
	seen := func(k infra.Key) bool {
		return slices.ContainsFunc(e.bearing(k), func(v *vm) bool { return v.seenIn(listings) })
	}
	switch {
	case p.Stated != "":
		return true
	case len(p.All) > 0:
		return !slices.ContainsFunc(p.All, func(k infra.Key) bool { return !landmark(k) })
	case slices.ContainsFunc(p.Any, func(k infra.Key) bool { return landmark(k) || seen(k) }):
		return true
	}
	return p.Nodes && slices.ContainsFunc(e.nodesAt[p.Target], func(n *node) bool {
		return n.agrees() && slices.ContainsFunc(n.Keys, seen)
	})
}

// indexProofs finds what proves a place for whatever is there: the proofs of whole
// targets, and the Nodes of the clusters that such a proof trusts.
func (e *estate) indexProofs(all []infra.Proof) {
	e.proofs, e.nodesAt = map[backup.ClusterID][]*infra.Proof{}, map[string][]*node{}
	for i := range all {
		p := &all[i]
		if p.Part == "" {
			e.proofs[p.Cluster] = append(e.proofs[p.Cluster], p)
		}
		if p.Nodes {
			e.nodesAt[p.Target] = append(e.nodesAt[p.Target], e.nodes.of[p.Cluster]...)
		}
	}
}

// isPartial reports whether any of the listings did not come to its end.
func (e *estate) isPartial(listings []int32) bool {
	return slices.ContainsFunc(listings, func(i int32) bool { return e.scopes.listings[i].State != infra.Complete })
}

// provenFor reports whether ids show that an instance is where the machines of a
// cluster are. That no names contradict ids which may be those of copies is concluded
// from complete listings only.
func (e *estate) provenFor(id backup.ClusterID, v *vm) bool {
	holds, all := false, false
	for _, p := range e.proofs[id] {
		if listings := e.scopes.byTarget[p.Target]; v.seenIn(listings) {
			all = true
			holds = holds || e.holds(p, listings) && !(p.Copied && e.isPartial(listings))
		}
	}
	if all {
		return holds
	}
	return slices.ContainsFunc(v.seen, func(i int32) bool { return e.ids[serverOf(&e.scopes.listings[i])].seen > 0 })
}

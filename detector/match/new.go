package match

import (
	"cmp"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// New joins the inputs.
func New(s *backup.Snapshot, c infra.Expected, inv infra.Inventory, now time.Time) *Index {
	listings := orderListings(inv.Listings)
	ix := &Index{snap: s, subject: s.Subject(), Machines: orderExpected(s, c.Machines), sharedLists: newSharedLists(), sharers: map[sharersOf]*sharers{}, kindsUnread: c.Unread, made: c.Made}
	ix.nodes = indexNodes(listings, now)
	ix.nodes.join(ix.Machines)
	listings = addRelated(listings, &c, &ix.nodes)
	ix.vms = mergeSightings(listings)
	for i := range ix.vms {
		if v := &ix.vms[i]; !v.Host.IsZero() && !v.HasKey(v.Host) { // not among the keys in older inventories
			one := v.change()
			one.Keys = append(slices.Clip(one.Keys), one.Host)
		}
	}
	ix.byKey = indexKeys(ix.vms, func(*VM) bool { return true })
	ix.unreadable = indexKeys(ix.vms, func(v *VM) bool { return v.Unreadable })
	ix.exclude(c.Exclude)
	ix.scopes = newScopes(listings, ix.subject)
	ix.matchExpected()
	ix.unclaimed = indexKeys(ix.vms, func(v *VM) bool { return !v.byStrong.any() })
	ix.ids = ix.countIDs(c.Proofs)
	ix.indexProofs(c.Proofs)
	ix.judgeHomes(&c)
	ix.Owners = newOwners(s, ix.Machines, &c)
	ix.asked, ix.unvisited = newAskedLists(ix.Machines, len(s.Clusters)), ix.findUnvisited()
	ix.hints = newTieIndex(c, ix.Machines, listings)
	ix.findShared(c.OwnershipHints)
	ix.placed = make(map[backup.ClusterID]bool, len(s.Clusters))
	for i := range c.OwnershipHints {
		if h := &c.OwnershipHints[i]; h.Grade == infra.LocationOnly && h.Owner != nil {
			ix.placed[h.Owner.Cluster] = true
		}
	}
	ix.ownTags = make(map[infra.Key]bool, len(c.OwnerTags))
	for _, k := range c.OwnerTags {
		ix.ownTags[k] = true
	}
	ix.Pools = ix.newPools(c.Pools)
	ix.findUnread(c.UnreadPools)
	for i := range ix.vms {
		ix.vms[i].Scope = ix.seenAt(&ix.vms[i], "")
	}
	ix.doubtLists()
	return ix
}

// exclude marks the instances that a provider knows as nobody's machine, with
// the first cause in order. That of a machine stays the machine's.
func (ix *Index) exclude(all []infra.Exclusion) {
	all = slices.Clone(all)
	sorting.By(all, func(a, b infra.Exclusion) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), compareKeys(a.Key, b.Key))
	})
	for _, x := range all {
		for _, v := range ix.withKeys(x.Key) {
			if v.Exclude == "" {
				v.change().Exclude = x.Cause
			}
		}
	}
}

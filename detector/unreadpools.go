package detector

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// findUnread finds the members of pools of kinds that no provider reads. That a pool is not
// read makes its members nobody's Ghosts, and no instances about which nothing is known.
func (ix *index) findUnread(all []infra.UnreadPool) {
	ix.unreadPools = make(map[infra.OwnerID]membership, len(all))
	for i := range all {
		p := &all[i]
		at := infra.OwnerID{Cluster: p.Cluster, Kind: machinePool, Name: p.Name}
		of := ix.membersAmong(p.Members, keep(ix.withKeys(p.Members...), func(v *vm) bool { return alive(v) && !ix.contradicts(p, v) }))
		have := ix.unreadPools[at] // another one of its name
		ix.unreadPools[at] = membership{sortedOnce(slices.Concat(have.then, of.then)), sortedOnce(slices.Concat(have.now, of.now))}
	}
}

// contradicts reports whether an instance, or a Node on it, says that it is of another cluster
// or was made for another owner than the pool that lists it.
func (ix *index) contradicts(p *infra.UnreadPool, v *vm) bool {
	l := ix.clusterLinks(v)
	return ix.foreignTag(v) != "" || slices.ContainsFunc(l.clusters(), func(id backup.ClusterID) bool { return id != p.Cluster }) ||
		slices.ContainsFunc(l.strong, func(b link) bool { kind := b.owner().Kind; return kind != "" && kind != machinePool })
}

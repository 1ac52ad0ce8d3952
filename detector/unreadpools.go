package detector

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// clusterSet is a set of machines of a cluster.
type clusterSet struct {
	cluster backup.ClusterID
	set     setName
}

// findUnread finds the members of pools of kinds that no provider reads. That a pool is not
// read makes its members nobody's Ghosts, and no instances about which nothing is known.
func (ix *index) findUnread(all []infra.UnreadPool) {
	ix.unreadPools = make(map[clusterSet]PoolState, len(all))
	for i := range all {
		p := &all[i]
		at := clusterSet{p.Cluster, setName{machinePool, p.Name}}
		s := ix.unreadPools[at]
		for _, k := range p.Members {
			s.Then = append(s.Then, k.Value)
		}
		for _, v := range ix.withKeys(p.Members...) {
			if alive(v) && !ix.contradicts(p, v) {
				v.member = true
				s.Now = append(s.Now, cmp.Or(v.ID, v.Name, v.Identity))
			}
		}
		s.Then, s.Now = sortedOnce(s.Then), sortedOnce(s.Now)
		ix.unreadPools[at] = s
	}
}

// contradicts reports whether an instance, or a Node on it, says that it is of another cluster
// or was made for another owner than the pool that lists it.
func (ix *index) contradicts(p *infra.UnreadPool, v *vm) bool {
	l := ix.clusterLinks(v)
	return ix.foreignTag(v) != "" || slices.ContainsFunc(l.clusters(), func(id backup.ClusterID) bool { return id != p.Cluster }) ||
		slices.ContainsFunc(l.strong, func(b link) bool { kind := b.owner().Kind; return kind != "" && kind != machinePool })
}

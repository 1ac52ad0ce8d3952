package match

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// newPools compares every pool with its living members, in an order of its own.
func (ix *Index) newPools(all []infra.Pool) []Pool {
	out := make([]Pool, len(all))
	for i := range all {
		s := &out[i]
		s.Pool = &all[i]
		s.Size, s.Living = ix.scopes.sizeOf(s.Pool)
		s.Membership = ix.membersAmong(s.Members, ix.membersOf(s.Pool))
		ix.judgePool(s)
	}
	sorting.StableBy(out, comparePools)
	ix.poolState = make(map[clusterKey]code.Presence, len(out))
	for i := range out {
		p := &out[i]
		if k := (clusterKey{p.Cluster, p.Key}); ix.poolState[k] != code.Undecided {
			ix.poolState[k] = p.State
		}
		if p.State == code.Undecided {
			continue // nobody knows who left it
		}
		for _, v := range ix.withKeys(p.Members...) {
			if v.Former == nil {
				v.Former = p.Pool
			}
		}
	}
	return out
}

// membersAmong returns the ids of the recorded members and of those that live, which it marks as members.
func (ix *Index) membersAmong(recorded []infra.Key, living []*VM) (m Membership) {
	for _, k := range recorded {
		m.Then = append(m.Then, k.Value)
	}
	for _, v := range living {
		v.Member = true
		m.Now = append(m.Now, cmp.Or(v.ID, v.Name, v.Identity))
	}
	return Membership{sortedOnce(m.Then), sortedOnce(m.Now)}
}

// judgePool sets whether the pool exists.
func (ix *Index) judgePool(p *Pool) {
	p.State, p.Why = ix.Presence(p.Cluster, p.Target, p.Probe)
	if p.State == code.Absent && p.Guessed != "" {
		p.State, p.Why = code.Undecided, p.Guessed
	}
	if p.State == code.Absent && len(p.Now) > 0 {
		p.State, p.Denied = code.Undecided, true
	}
}

// poolsOf returns the pools of a cluster.
func (ix *Index) poolsOf(id backup.ClusterID) []Pool {
	return equalRange(ix.Pools, func(p Pool) int { return CompareClusters(p.Cluster, id) })
}

// dropped reports whether an instance is none of the members of its machine's pool,
// which was read. Of a pool whose own object the backup lacks no controller looks.
func (ix *Index) dropped(c *Machine, v *VM) bool {
	if c.Pool.IsZero() || v.Gone || v.HasKey(c.Pool) || ix.poolState[clusterKey{c.Of.Cluster, c.Pool}] != code.Present {
		return false
	}
	return !slices.ContainsFunc(ix.poolsOf(c.Of.Cluster), func(p Pool) bool { return p.Key == c.Pool && p.Guessed != "" })
}

// unaskedPool returns a pool of the cluster that an instance may be a member of
// without having its key, because the pool was not looked for where the instance was
// seen.
func (ix *Index) unaskedPool(v *VM, b Link) *infra.Pool {
	for _, set := range ix.poolsOf(b.Cluster()) {
		if p := set.Pool; ix.scopes.unasked(p.Target, p.Probe) && v.seenIn(ix.scopes.byTarget[p.Target]) {
			return p
		}
	}
	return nil
}

// membersOf returns the living members of a pool: the instances that have its key. Where
// nobody knows whether the pool exists, none may have it: those that the backup records
// are members as far as anybody knows, wherever they were seen.
func (ix *Index) membersOf(p *infra.Pool) []*VM {
	members := ix.withKeys(p.Key)
	state, _ := ix.Presence(p.Cluster, p.Target, p.Probe)
	if state == code.Undecided || state == code.Absent && p.Guessed != "" {
		members = ix.withKeys(append([]infra.Key{p.Key}, p.Members...)...)
	}
	return keep(members, alive)
}

// findUnread finds the members of pools of kinds that no provider reads. That a pool is not
// read makes its members nobody's Ghosts, and no instances about which nothing is known.
func (ix *Index) findUnread(all []infra.UnreadPool) {
	ix.UnreadPools = make(map[infra.OwnerID]Membership, len(all))
	for i := range all {
		p := &all[i]
		at := infra.OwnerID{Cluster: p.Cluster, Kind: machinePool, Name: p.Name}
		of := ix.membersAmong(p.Members, keep(ix.withKeys(p.Members...), func(v *VM) bool { return alive(v) && !ix.contradicts(p, v) }))
		have := ix.UnreadPools[at] // another one of its name
		ix.UnreadPools[at] = Membership{sortedOnce(slices.Concat(have.Then, of.Then)), sortedOnce(slices.Concat(have.Now, of.Now))}
	}
}

// contradicts reports whether an instance, or a Node on it, says that it is of another cluster
// or was made for another owner than the pool that lists it.
func (ix *Index) contradicts(p *infra.UnreadPool, v *VM) bool {
	l := ix.linksOf(v)
	return ix.foreignTag(v) != "" || slices.ContainsFunc(l.clusters(), func(id backup.ClusterID) bool { return id != p.Cluster }) ||
		slices.ContainsFunc(l.Strong, func(b Link) bool { kind := b.Owner().Kind; return kind != "" && kind != machinePool })
}

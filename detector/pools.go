package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// membership is the ids of a pool's members in the backup, and of those that live; sorted.
type membership struct{ then, now []string }

// poolSet is a pool with what was found of it.
type poolSet struct {
	*infra.Pool
	membership
	state  code.Presence
	why    string // why it is not known whether it exists
	denied bool   // for the reason that it was not found, but instances say that they are its membership
	// size is what it is set to where it is, and living how many of its members run or come to.
	size, living backup.Number
}

// newPools compares every pool with its living members, in an order of its own.
func (ix *index) newPools(all []infra.Pool) []poolSet {
	out := make([]poolSet, len(all))
	for i := range all {
		s := &out[i]
		s.Pool = &all[i]
		s.size, s.living = ix.scopes.sizeOf(s.Pool)
		s.membership = ix.membersAmong(s.Members, ix.membersOf(s.Pool))
		ix.judgePool(s)
	}
	sorting.StableBy(out, comparePools)
	ix.poolState = make(map[clusterKey]code.Presence, len(out))
	for i := range out {
		p := &out[i]
		if k := (clusterKey{p.Cluster, p.Key}); ix.poolState[k] != code.Undecided {
			ix.poolState[k] = p.state
		}
		if p.state == code.Undecided {
			continue // nobody knows who left it
		}
		for _, v := range ix.withKeys(p.Members...) {
			if v.former == nil {
				v.former = p.Pool
			}
		}
	}
	return out
}

// membersAmong returns the ids of the recorded members and of those that live, which it marks as members.
func (ix *index) membersAmong(recorded []infra.Key, living []*vm) (m membership) {
	for _, k := range recorded {
		m.then = append(m.then, k.Value)
	}
	for _, v := range living {
		v.member = true
		m.now = append(m.now, cmp.Or(v.ID, v.Name, v.Identity))
	}
	return membership{sortedOnce(m.then), sortedOnce(m.now)}
}

// comparePools puts the worst of several pools of one name first.
func comparePools(a, b poolSet) int {
	return cmp.Or(compareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
		b.state.Severity()-a.state.Severity(), compareKeys(a.Key, b.Key),
		cmp.Compare(a.Target, b.Target), compareKeys(a.Probe, b.Probe), cmp.Compare(a.ManagedBy, b.ManagedBy),
		cmp.Compare(a.Desired.N, b.Desired.N), compareBool(a.Desired.Known, b.Desired.Known), slices.Compare(a.then, b.then))
}

// judgePool sets whether the pool exists.
func (ix *index) judgePool(p *poolSet) {
	p.state, p.why = ix.presence(p.Cluster, p.Target, p.Probe)
	if p.state == code.Absent && p.Guessed != "" {
		p.state, p.why = code.Undecided, p.Guessed
	}
	if p.state == code.Absent && len(p.now) > 0 {
		p.state, p.denied = code.Undecided, true
	}
}

func sortedOnce(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// dropped reports whether an instance is none of the members of its machine's pool,
// which was read. Of a pool whose own object the backup lacks no controller looks.
func (ix *index) dropped(c *expectedMachine, v *vm) bool {
	if c.Pool.IsZero() || v.Gone || v.HasKey(c.Pool) || ix.poolState[clusterKey{c.of.Cluster, c.Pool}] != code.Present {
		return false
	}
	return !slices.ContainsFunc(ix.poolsOf(c.of.Cluster), func(p poolSet) bool { return p.Key == c.Pool && p.Guessed != "" })
}

// poolsOf returns the pools of a cluster.
func (ix *index) poolsOf(id backup.ClusterID) []poolSet {
	first, _ := slices.BinarySearchFunc(ix.pools, id, func(p poolSet, id backup.ClusterID) int { return compareClusters(p.Cluster, id) })
	of := ix.pools[first:]
	if end := slices.IndexFunc(of, func(p poolSet) bool { return p.Cluster != id }); end >= 0 {
		of = of[:end]
	}
	return of
}

// presence returns whether something other than an instance exists, and why that is
// not known. Any of the keys finds it.
func (ix *index) presence(id backup.ClusterID, target string, keys ...infra.Key) (code.Presence, string) {
	h := ix.scopes.home(clusterScope{id, target, ""})
	keys = slices.DeleteFunc(slices.Clone(keys), infra.Key.IsZero)
	if slices.ContainsFunc(keys, func(k infra.Key) bool { return ix.scopes.shows(h.listings, k) }) {
		return code.Present, ""
	}
	if len(keys) == 0 {
		return code.Undecided, ix.subject.The() + " does not say how to find it"
	}
	if !h.complete {
		return code.Undecided, h.fault.Message
	}
	if slices.ContainsFunc(keys, func(k infra.Key) bool { return ix.scopes.unasked(target, k) }) {
		return code.Undecided, h.name + " was not asked for it: it was listed for another " + ix.subject.String() + ", or by an older version"
	}
	for _, i := range h.listings {
		for _, k := range keys {
			if slices.Contains(ix.scopes.listings[i].Unread, k.Kind) {
				return code.Undecided, fmt.Sprintf("what there is of its kind at %s could not be read", h.name)
			}
		}
	}
	return code.Absent, ""
}

// several reports whether more than one thing answers a key that exists.
func (ix *index) several(id backup.ClusterID, target string, keys []infra.Key) bool {
	at := ix.scopes.home(clusterScope{id, target, ""}).listings
	return slices.ContainsFunc(keys, func(k infra.Key) bool {
		return slices.ContainsFunc(at, func(i int32) bool { return slices.Contains(ix.scopes.several[k], i) })
	})
}

// sizeOf returns the size that a pool is set to where it is, and how many members live;
// unknown when two listings of it differ.
func (s *scopes) sizeOf(p *infra.Pool) (size, living backup.Number) {
	for _, one := range s.sizes[p.Probe] {
		switch {
		case !slices.Contains(s.byTarget[p.Target], one.listing):
			continue
		case size.Known && size.N != one.desired:
			return backup.Number{}, backup.Number{}
		}
		size = backup.Number{N: one.desired, Known: true}
		if one.living != nil {
			living = backup.Number{N: *one.living, Known: true}
		}
	}
	return size, living
}

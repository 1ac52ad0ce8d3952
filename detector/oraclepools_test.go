package detector

import (
	"slices"
	"sort"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is the oracle on pools and resources.

// poolsInOrder returns the pools by cluster; no cluster of a random world has two.
func (o *oracle) poolsInOrder() []infra.Pool {
	all := slices.Clone(o.expected.Pools)
	sort.Slice(all, func(i, j int) bool { return o.cid(all[i].Cluster) < o.cid(all[j].Cluster) })
	return all
}

func (o *oracle) pooled(id backup.ClusterID, kind, name string) bool {
	return slices.ContainsFunc(o.expected.Pools, func(p infra.Pool) bool { return p.Cluster == id && p.Kind == kind && p.Name == name })
}

// deciding returns the places where machines or pools are looked for.
func (o *oracle) deciding() map[oraclePlace]bool {
	out := map[oraclePlace]bool{}
	for _, c := range o.all {
		if c.Provider != "" {
			out[oraclePlace{c.cluster, c.Home.Target, c.Home.Folder}] = true
		}
	}
	for _, p := range o.expected.Pools {
		out[oraclePlace{p.Cluster, p.Target, ""}] = true
	}
	return out
}

// exists says whether a probe is at a place.
func (o *oracle) exists(id backup.ClusterID, target string, k infra.Key) code.Presence {
	complete, _ := o.absenceCounts(oraclePlace{id, target, ""})
	complete = complete && !o.unasked(target, k)
	for _, l := range o.inv.Listings {
		if !slices.Contains(l.IDs, target) {
			continue
		}
		if slices.Contains(l.ProbesFound, k) {
			return code.Present
		}
		if slices.Contains(l.Unread, k.Kind) {
			complete = false
		}
	}
	if complete {
		return code.Absent
	}
	return code.Undecided
}

// unasked reports whether nobody looked for a probe where it would be.
func (o *oracle) unasked(target string, k infra.Key) bool {
	listed := false
	for _, l := range o.inv.Listings {
		if l.NodeState != "" || !slices.Contains(l.IDs, target) {
			continue
		}
		if listed = true; slices.Contains(l.Asked, k) || slices.Contains(l.ProbesFound, k) {
			return false
		}
	}
	return listed
}

// isMember reports whether an instance is in a pool, as far as anybody knows.
func (o *oracle) isMember(p infra.Pool, v *oracleVM) bool {
	return v.HasKey(p.Key) || slices.ContainsFunc(p.Members, v.HasKey) && o.exists(p.Cluster, p.Target, p.Probe) == code.Undecided
}

// mayBeMember reports whether nobody asked where an instance was seen for a pool of the cluster.
func (o *oracle) mayBeMember(v *oracleVM, id backup.ClusterID) bool {
	return slices.ContainsFunc(o.expected.Pools, func(p infra.Pool) bool {
		return p.Cluster == id && o.unasked(p.Target, p.Probe) && o.seenBy(v, p.Target)
	})
}

// poolState reports whether a pool exists. Members say that one which was not found does.
func (o *oracle) poolState(p infra.Pool) code.Presence {
	state := o.exists(p.Cluster, p.Target, p.Probe)
	if state == code.Absent && slices.ContainsFunc(o.vms, func(v *oracleVM) bool { return !v.Gone && o.isMember(p, v) }) {
		return code.Undecided
	}
	return state
}

// dropped reports whether an instance is none of the members of its machine's pool, which
// is there.
func (o *oracle) dropped(c *oracleMachine, v *oracleVM) bool {
	there, guessed := false, false
	for _, p := range o.expected.Pools {
		if p.Key == c.Pool && p.Cluster == c.cluster {
			there = there || o.poolState(p) == code.Present
			guessed = guessed || p.Guessed != ""
		}
	}
	return there && !guessed && !o.has(v, c.Pool)
}

// memberGone returns the status of a machine of a pool whose instance is gone.
func (o *oracle) memberGone(c *oracleMachine) code.Status {
	complete, _ := o.absenceCounts(oraclePlace{c.cluster, c.Home.Target, c.Home.Folder})
	known := false
	for _, p := range o.expected.Pools {
		if p.Key == c.Pool && p.Cluster == c.cluster {
			known = true
			complete = complete && o.poolState(p) != code.Undecided
		}
	}
	if complete && known {
		return code.Stale
	}
	return code.Unknown
}

// tellPools says what became of the pools and resources of a cluster.
func (o *oracle) tellPools(id backup.ClusterID, say func(string, ...any), groups map[string]bool, reasons map[string]string) {
	for _, p := range o.expected.Pools {
		if p.Cluster != id {
			continue
		}
		then, now := []string{}, []string{}
		for _, m := range p.Members {
			then = append(then, m.Value)
		}
		for _, v := range o.vms {
			if o.isMember(p, v) && !v.Gone {
				now = append(now, nameOrID(v))
			}
		}
		sort.Strings(then)
		sort.Strings(now)
		state := o.poolState(p)
		set := p.Kind + "/" + p.Name
		groups[set] = true
		reasons[set] = map[code.Presence]string{code.Present: "", code.Absent: "PoolMissing", code.Undecided: "PoolUndecided"}[state]
		say("pool %s %s %s %v %v", o.cid(id), set, state, slices.Compact(then), slices.Compact(now))
	}
	for _, r := range o.expected.Resources {
		if r.Cluster == id {
			say("resource %s %s %s", o.cid(id), r.Name, o.exists(id, r.Target, r.Keys[0]))
		}
	}
}

func nameOrID(v *oracleVM) string {
	if v.ID != "" {
		return v.ID
	}
	return v.Name
}

package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// memberOfPool is the cause under which living members of known pools are
// counted as excluded: they are compared with the backup as a set.
const memberOfPool = "poolMember"

// poolSet is a pool with what became of it.
type poolSet struct {
	*infra.Pool
	state PoolState
}

// newPools compares every pool with its living members, in an order of its own.
func (ix *index) newPools(all []infra.Pool) []poolSet {
	out := make([]poolSet, len(all))
	for i := range all {
		p := &all[i]
		size, living := ix.scopes.sizeOf(p)
		out[i] = poolSet{p, PoolState{Desired: p.Desired, DesiredNow: size, Living: living, ManagedBy: p.ManagedBy, Min: p.Min, Max: p.Max}}
		s := &out[i].state
		for _, k := range p.Members {
			s.Then = append(s.Then, k.Value)
		}
		for _, v := range ix.membersOf(p) {
			v.member = true
			s.Now = append(s.Now, cmp.Or(v.ID, v.Name, v.Identity))
		}
		s.Then, s.Now = sortedOnce(s.Then), sortedOnce(s.Now)
		ix.judgePool(p, s)
	}
	sorting.StableBy(out, comparePools)
	ix.poolState = make(map[clusterKey]code.Presence, len(out))
	for i := range out {
		if k := (clusterKey{out[i].Cluster, out[i].Key}); ix.poolState[k] != code.Undecided {
			ix.poolState[k] = out[i].state.State
		}
		if out[i].state.State == code.Undecided {
			continue // nobody knows who left it
		}
		for _, v := range ix.withKeys(out[i].Members...) {
			if v.former == nil {
				v.former = out[i].Pool
			}
		}
	}
	return out
}

// comparePools puts the worst of several pools of one name first.
func comparePools(a, b poolSet) int {
	return cmp.Or(compareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
		severityOf(b.state.State)-severityOf(a.state.State), compareKeys(a.Key, b.Key),
		cmp.Compare(a.Target, b.Target), compareKeys(a.Probe, b.Probe), cmp.Compare(a.ManagedBy, b.ManagedBy),
		cmp.Compare(a.Desired.N, b.Desired.N), compareBool(a.Desired.Known, b.Desired.Known), slices.Compare(a.state.Then, b.state.Then))
}

func severityOf(p code.Presence) int {
	return slices.Index([]code.Presence{code.Present, code.Undecided, code.Absent}, p)
}

func sortedOnce(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// judgePool sets whether the pool exists and what changed in it.
func (ix *index) judgePool(p *infra.Pool, s *PoolState) {
	var why string
	s.State, why = ix.presence(clusterScope{p.Cluster, p.Target, ""}, p.Probe)
	if s.State == code.Absent && p.Guessed != "" {
		s.State, why = code.Undecided, p.Guessed
	}
	switch {
	case s.State == code.Absent && len(s.Now) == 0:
		s.Message = "it was not found: the restored controllers will re-create it, with new machines"
	case s.State == code.Absent:
		s.State, s.Message = code.Undecided, fmt.Sprintf("it was not found, but %s", quantity(len(s.Now), "instance says that it is its member", "instances say that they are its members"))
	case s.State == code.Undecided:
		s.Message = "whether it exists is not known: " + why
	default:
		s.Message = s.changes(ix.subject)
	}
}

// changes puts into words how the set differs from what was read.
func (s *PoolState) changes(of code.Subject) string {
	gone, added := minus(s.Then, s.Now), minus(s.Now, s.Then)
	var parts []string
	if len(gone)+len(added) > 0 {
		parts = append(parts, fmt.Sprintf("its members changed %s, as those of a pool do: %d gone, %d new", of.Since(), len(gone), len(added)))
	}
	by := ""
	if s.ManagedBy != "" {
		by = ", which " + s.ManagedBy + " sets now"
	}
	switch {
	case !s.Desired.Known:
	case s.DesiredNow.Known && s.DesiredNow.N != s.Desired.N:
		parts = append(parts, fmt.Sprintf("it is set to %d and has %s, %s desires %d%s", s.DesiredNow.N, quantity(len(s.Now), "member", "members"), of.The(), s.Desired.N, by))
	case s.Desired.N != int64(len(s.Now)):
		parts = append(parts, fmt.Sprintf("%s, %s desires %d%s", quantity(len(s.Now), "member now", "members now"), of.The(), s.Desired.N, by))
	}
	return strings.Join(parts, "; ")
}

func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// minus lists what is in a and not in b, both sorted.
func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool {
		_, found := slices.BinarySearch(b, s)
		return found
	})
}

// reason returns why the set of the pool needs confirmation.
func (s *PoolState) reason() code.Reason {
	switch s.State {
	case code.Absent:
		return code.PoolMissing
	case code.Undecided:
		return code.PoolUndecided
	}
	return ""
}

// leftPool returns the verdict on a member of a pool that is gone. Of a pool that was read
// it is part of what changed in the set: Cluster API deletes such a Machine by itself
// within a minute of the restore (testdata/restore; CAPA
// exp/controllers/awsmachinepool_machines.go v2.11.1).
func (f *machineFacts) leftPool(how string) Verdict {
	deletes, todo := "its pool replaces members itself, and Cluster API deletes this Machine when it is restored", "; there is nothing to do"
	if f.expected.LeavesPool != "" {
		deletes, todo = "its pool replaces members itself; "+f.expected.LeavesPool, ""
	}
	if f.scope.complete && (f.pool == code.Present || f.pool == code.Absent) {
		return stale(code.PoolMember, how+": "+deletes+todo)
	}
	return unknown(code.PoolMember, how+"; "+deletes+", if its pool is there, which is not known")
}

// droppedRow is the sixth law for members of pools: an instance that runs and is no
// longer a member is not taken over. Its controller deletes the Machine, and the
// instance with it (deleteOrphanedAWSMachines in CAPA
// exp/controllers/awsmachinepool_machines.go v2.11.1).
var droppedRow = machineRow{
	"member-left-pool",
	"The instance with the recorded id is no longer a member of the machine's pool.",
	[]outcome{{code.Unknown, code.LeftPool}},
	func(f *machineFacts) bool { return f.dropped },
	func(f *machineFacts) Verdict {
		says := cmp.Or(f.expected.LeavesPool, "the controller deletes this Machine when it is restored, and terminates the instance with it; to keep the instance, leave Machine and infrastructure machine out of the restore")
		return f.with(unknown(code.LeftPool, nameOf(f.home[0])+" is its instance, but its pool lists it no more: "+says), f.home[0], code.Strong)
	},
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
func (ix *index) presence(at clusterScope, keys ...infra.Key) (code.Presence, string) {
	h := ix.scopes.home(at)
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
	if slices.ContainsFunc(keys, func(k infra.Key) bool { return ix.scopes.unasked(at.target, k) }) {
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
func (ix *index) several(at clusterScope, keys []infra.Key) bool {
	return slices.ContainsFunc(keys, func(k infra.Key) bool {
		return slices.ContainsFunc(ix.scopes.home(at).listings, func(i int32) bool { return slices.Contains(ix.scopes.several[k], i) })
	})
}

// whenGone explains the absence of a resource in a sentence.
var whenGone = map[code.WhenGone]string{
	code.FailsReplacement: "replacing a machine will fail",
	code.HaltsCluster:     "the restored controllers do nothing for the cluster until it is back",
	code.MadeAgain:        "the restored controllers create a new one",
}

// haltsOf returns the expected machines' Halts by cluster, in order.
func haltsOf(all []infra.Halt) map[backup.ClusterID][]infra.Halt {
	out := map[backup.ClusterID][]infra.Halt{}
	for _, h := range all {
		out[h.Cluster] = append(out[h.Cluster], h)
	}
	for id, list := range out {
		sorting.By(list, func(a, b infra.Halt) int {
			return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
		})
		out[id] = slices.Compact(list)
	}
	return out
}

// resources returns the states of what the clusters' machines depend on, by cluster.
func (ix *index) resources(all []infra.Resource) map[backup.ClusterID][]report.Resource {
	out := map[backup.ClusterID][]report.Resource{}
	for i := range all {
		r := &all[i]
		s := report.Resource{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy, WhenGone: cmp.Or(r.WhenGone, code.FailsReplacement)}
		var why string
		s.State, why = ix.presence(clusterScope{r.Cluster, r.Target, ""}, r.Keys...)
		if s.Several = s.State == code.Present && ix.several(clusterScope{r.Cluster, r.Target, ""}, r.Keys); s.Several {
			s.State = code.Absent
		}
		switch s.State {
		case code.Present:
			if s.WhenGone == code.Unwanted {
				s.Message = r.Consequence
			}
		case code.Absent:
			if s.WhenGone == code.Unwanted {
				continue
			}
			s.Message = fmt.Sprintf("%s: %s %s was not found", cmp.Or(r.Consequence, whenGone[s.WhenGone]), r.Kind, r.Name)
			if s.Several {
				s.Message = fmt.Sprintf("%s: several answer to %s %s", cmp.Or(r.Consequence, whenGone[s.WhenGone]), r.Kind, r.Name)
			}
		case code.Undecided:
			s.Message = "whether it exists is not known: " + why
			switch s.WhenGone {
			case code.Unwanted:
				s.Message += "; if it does: " + r.Consequence
			case code.HaltsCluster:
				s.Message += "; if it is gone: " + cmp.Or(r.Consequence, whenGone[s.WhenGone])
			}
		}
		list := out[r.Cluster]
		if list == nil { // most are one after the other
			n := 1
			for i+n < len(all) && all[i+n].Cluster == r.Cluster {
				n++
			}
			list = make([]report.Resource, 0, n)
		}
		out[r.Cluster] = append(list, s)
	}
	for id, list := range out {
		sorting.By(list, func(a, b report.Resource) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UsedBy, b.UsedBy),
				severityOf(b.State)-severityOf(a.State), cmp.Compare(a.Message, b.Message))
		})
		out[id] = slices.Compact(list)
	}
	return out
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

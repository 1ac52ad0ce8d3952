package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// listAgain returns the hint where what was listed was not listed for what was read.
func (s *scopes) listAgain() string {
	return fmt.Sprintf("list again with this %s; a saved inventory must come from the same %[1]s", s.subject)
}

// unasked reports whether a target was listed but a probe was not looked for there,
// so that not finding it proves nothing. What was found counts as looked for.
func (s *scopes) unasked(target string, k infra.Key) bool {
	at := s.byTarget[target]
	return !k.IsZero() && len(at) > 0 && !slices.ContainsFunc(at, func(i int32) bool { return slices.Contains(s.asking[k], i) })
}

// noteUnasked records the first pool that was not looked for at its home.
func (s *scopes) noteUnasked(p *infra.Pool) {
	if !s.unasked(p.Target, p.Probe) {
		return
	}
	h := s.homes[clusterScope{p.Cluster, p.Target, ""}]
	f := &infra.Fault{
		Reason:  code.NotAsked,
		Message: fmt.Sprintf("%s was listed for another %s, or by an older version: it was not asked for %s %s/%s", h.name, s.subject, p.Kind, p.Cluster.Namespace, p.Name),
		Hint:    s.listAgain(),
	}
	if h.unasked == nil || compareFaults(f, h.unasked) < 0 {
		h.unasked = f
	}
}

// unaskedPool returns a pool of the cluster that an instance may be a member of
// without having its key, because the pool was not looked for where the instance was
// seen.
func (ix *index) unaskedPool(v *vm, b link) *infra.Pool {
	for _, set := range ix.poolsOf(b.cluster()) {
		if p := set.Pool; ix.scopes.unasked(p.Target, p.Probe) && v.seenIn(ix.scopes.byTarget[p.Target]) {
			return p
		}
	}
	return nil
}

// membersOf returns the living members of a pool: the instances that have its key. Where
// nobody knows whether the pool exists, none may have it: those that the backup records
// are members as far as anybody knows, wherever they were seen.
func (ix *index) membersOf(p *infra.Pool) []*vm {
	members := ix.withKeys(p.Key)
	state, _ := ix.presence(p.Cluster, p.Target, p.Probe)
	if state == code.Undecided || state == code.Absent && p.Guessed != "" {
		members = ix.withKeys(append([]infra.Key{p.Key}, p.Members...)...)
	}
	return keep(members, alive)
}

// worst returns the fault that a scope shows for all of its unproven homes.
func (u unprovenHomes) worst() *infra.Fault {
	order := func(f *infra.Fault) int {
		return slices.Index([]code.Reason{code.ListedBeforeBackup, code.VisibilityUnproven, code.NotAsked}, f.Reason)
	}
	return slices.MinFunc(u, func(a, b unprovenScope) int {
		return cmp.Or(cmp.Compare(order(a.fault), order(b.fault)), compareClusters(a.cluster, b.cluster), compareFaults(a.fault, b.fault), cmp.Compare(a.fault.Hint, b.fault.Hint))
	}).fault
}

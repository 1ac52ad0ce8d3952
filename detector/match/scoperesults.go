package match

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Scopes returns the state of every scope of the clusters that are shown, in order, all where only is
// nil, and whether one of them shows an instance.
func (ix *Index) Scopes(only func(backup.ClusterID) bool) (shown []report.Scope, shows func(*VM) bool) {
	if only == nil {
		return ix.scopes.results(func(backup.ClusterID) bool { return true }, func(int32) bool { return true }), func(*VM) bool { return true }
	}
	needed := map[int32]bool{}
	for at, h := range ix.scopes.homes {
		for _, i := range h.listings {
			needed[i] = needed[i] || only(at.cluster)
		}
	}
	is := func(i int32) bool { return needed[i] }
	return ix.scopes.results(only, is), func(v *VM) bool { return slices.ContainsFunc(v.seen, is) }
}

// results returns the state of every shown scope, in order. A listing that is the unproven
// home of a cluster is partial; a home that nobody listed is a failed scope.
func (s *scopes) results(shows func(backup.ClusterID) bool, shown func(int32) bool) []report.Scope {
	unproven := make([]unprovenHomes, len(s.listings))
	missing := map[string][]string{}
	of := make([][]string, len(s.listings)) // clusters that are not decided
	for at, h := range s.homes {
		name := at.cluster.Namespace + "/" + at.cluster.Name
		if !shows(at.cluster) {
			continue
		}
		if !h.Complete || h.unasked != nil {
			for _, i := range h.listings {
				of[i] = append(of[i], name)
			}
		}
		switch {
		case !h.decides:
		case h.Complete && h.unasked != nil:
			for _, i := range h.listings {
				unproven[i] = append(unproven[i], unprovenScope{at.cluster, h.unasked})
			}
		case h.Complete:
		case len(h.listings) == 0:
			missing[at.target] = append(missing[at.target], name)
		case h.Fault.Reason == code.VisibilityUnproven, h.Fault.Reason == code.ListedBeforeBackup:
			for _, i := range h.listings {
				unproven[i] = append(unproven[i], unprovenScope{at.cluster, h.Fault})
			}
		}
	}
	out := make([]report.Scope, 0, len(s.listings)+len(missing))
	for i := range s.listings {
		if l := &s.listings[i]; !isNodeList(l) && shown(int32(i)) {
			out = append(out, scopeOf(l, unproven[i], of[i]))
		}
	}
	for target, of := range missing {
		provider, _, _ := strings.Cut(target, "/")
		out = append(out, report.Scope{Provider: provider, Endpoint: target, State: code.ScopeFailed, Error: s.notListed(target), Clusters: eachOnce(of)})
	}
	sorting.By(out, compareScopes)
	return out
}

// eachOnce sorts names and leaves each in once.
func eachOnce(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func scopeOf(l *infra.Listing, unproven unprovenHomes, of []string) report.Scope {
	out := report.Scope{
		Provider: l.Provider, Endpoint: l.Endpoint, Location: l.Location, Account: l.Account,
		State: l.State, Instances: l.Count(), Error: l.Fault,
	}
	switch {
	case l.State == code.ScopeComplete && len(unproven) > 0:
		out.State, out.Error = code.ScopePartial, unproven.fault(l.Endpoint)
	case l.State == code.ScopePartial:
		out.Error = faultOf(l)
	case l.State != code.ScopeComplete:
		out.State, out.Error = code.ScopeFailed, faultOf(l)
	}
	if out.State != code.ScopeComplete {
		out.Clusters = eachOnce(of)
	}
	return out
}

// unprovenHomes are the clusters for which a listing is not proven to be of the
// right place.
type unprovenHomes []unprovenScope

type unprovenScope struct {
	cluster backup.ClusterID
	fault   *infra.Fault
}

func (u unprovenHomes) fault(endpoint string) *infra.Fault {
	worst := u.worst()
	if worst.Reason != code.VisibilityUnproven {
		return worst
	}
	var names []string
	for _, h := range u {
		if h.fault.Reason == code.VisibilityUnproven {
			names = append(names, h.cluster.Namespace+"/"+h.cluster.Name)
		}
	}
	return &infra.Fault{Reason: code.VisibilityUnproven, Message: unprovenMessage(endpoint, eachOnce(names)), Hint: worst.Hint}
}

func compareScopes(a, b report.Scope) int {
	c := cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Location, b.Location),
		cmp.Compare(a.Account, b.Account), cmp.Compare(a.State, b.State), cmp.Compare(a.Instances, b.Instances))
	if c != 0 || a.Error == nil || b.Error == nil {
		return c
	}
	return compareFaults(a.Error, b.Error)
}

// worst returns the fault that a scope shows for all of its unproven homes.
func (u unprovenHomes) worst() *infra.Fault {
	order := func(f *infra.Fault) int {
		return slices.Index([]code.Reason{code.ListedBeforeBackup, code.VisibilityUnproven, code.NotAsked}, f.Reason)
	}
	return slices.MinFunc(u, func(a, b unprovenScope) int {
		return cmp.Or(cmp.Compare(order(a.fault), order(b.fault)), CompareClusters(a.cluster, b.cluster), compareFaults(a.fault, b.fault), cmp.Compare(a.fault.Hint, b.fault.Hint))
	}).fault
}

package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// needed reports for every listing whether it is shown: when the result is narrowed,
// only if it covers the home of a cluster that is.
func (s *scopes) needed(o *Options) []bool {
	out := make([]bool, len(s.listings))
	for i := range out {
		out[i] = o.Only == nil
	}
	for at, h := range s.homes {
		for _, i := range h.listings {
			out[i] = out[i] || o.shows(at.cluster)
		}
	}
	return out
}

// results is the state of every shown scope, in order. A listing that is the unproven
// home of a cluster is partial; a home that nobody listed is a failed scope.
func (s *scopes) results(shows func(backup.ClusterID) bool, shown []bool) []Scope {
	unproven := make([]unprovenHomes, len(s.listings))
	missing := map[string]bool{}
	for at, h := range s.homes {
		switch {
		case !h.decides || !shows(at.cluster):
		case h.complete && h.unasked != nil:
			for _, i := range h.listings {
				unproven[i] = append(unproven[i], unprovenScope{at.cluster, h.unasked})
			}
		case h.complete:
		case len(h.listings) == 0:
			missing[at.target] = true
		case h.fault.Reason == code.VisibilityUnproven, h.fault.Reason == code.ListedBeforeBackup:
			for _, i := range h.listings {
				unproven[i] = append(unproven[i], unprovenScope{at.cluster, h.fault})
			}
		}
	}
	out := make([]Scope, 0, len(s.listings)+len(missing))
	for i := range s.listings {
		if l := &s.listings[i]; !isNodeList(l) && shown[i] {
			out = append(out, scopeOf(l, unproven[i]))
		}
	}
	for target := range missing {
		provider, _, _ := strings.Cut(target, "/")
		out = append(out, Scope{Provider: provider, Endpoint: target, State: infra.Failed, Fault: faultNotListed(target)})
	}
	slices.SortFunc(out, compareScopes)
	return out
}

func scopeOf(l *infra.Listing, unproven unprovenHomes) Scope {
	out := Scope{
		Provider: l.Provider, Endpoint: l.Endpoint, Location: l.Location, Account: l.Account,
		State: l.State, Instances: l.Count(), Fault: l.Fault,
	}
	switch {
	case l.State == infra.Complete && len(unproven) > 0:
		out.State, out.Fault = infra.Partial, unproven.fault(l.Endpoint)
	case l.State == infra.Partial:
		out.Fault = faultOf(l)
	case l.State != infra.Complete:
		out.State, out.Fault = infra.Failed, faultOf(l)
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
	slices.Sort(names)
	return &infra.Fault{Reason: code.VisibilityUnproven, Message: unprovenMessage(endpoint, slices.Compact(names)), Hint: worst.Hint}
}

func unprovenMessage(endpoint string, clusters []string) string {
	return fmt.Sprintf("%s was listed, but nothing shows that it is where the machines of %s are", endpoint, strings.Join(clusters, ", "))
}

func compareScopes(a, b Scope) int {
	c := cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Location, b.Location),
		cmp.Compare(a.Account, b.Account), cmp.Compare(a.State, b.State), cmp.Compare(a.Instances, b.Instances))
	if c != 0 || a.Fault == nil || b.Fault == nil {
		return c
	}
	return compareFaults(a.Fault, b.Fault)
}

package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// clusterScope is one cluster's view of one target, or of a part of it.
type clusterScope struct {
	cluster backup.ClusterID
	target  string
	folder  string // infra.Home.Part
}

// Place is what is known of a place: whether absence can be concluded there, and
// why not.
type Place struct {
	Complete     bool
	Fault        *infra.Fault // why not
	Contradicted bool         // more names than ids show that it is another place
	Stated       string       // the operator's statement that makes a proof of it hold
	Name         string       // for people
	Count        int          // instances seen there

	listings []int32      // those that cover the target
	unasked  *infra.Fault // a pool was not looked for there
	decides  bool         // on machines or pools, so that it must be a complete scope
}

// scopes answers, per cluster and target, whether the target was listed to the
// end and is proven to be the right place.
type scopes struct {
	subject  code.Subject
	listings []infra.Listing
	lookups  []infra.Lookup // of the listings
	byTarget map[string][]int32
	sizes    map[infra.Key][]poolSize
	homes    map[clusterScope]*Place
}

// poolSize is what a listing says that a pool is set to.
type poolSize struct {
	listing int32
	desired int64
	living  *int64
}

// newScopes records which listings cover which target.
func newScopes(listings []infra.Listing, subject code.Subject) scopes {
	s := scopes{subject: subject, listings: listings, lookups: make([]infra.Lookup, len(listings)), byTarget: map[string][]int32{}, sizes: map[infra.Key][]poolSize{}}
	for i := range listings {
		if s.lookups[i].Listing = &listings[i]; isNodeList(&listings[i]) {
			continue
		}
		for _, id := range listings[i].IDs {
			if at := s.byTarget[id]; !slices.Contains(at, int32(i)) {
				s.byTarget[id] = append(at, int32(i))
			}
		}
		for _, one := range listings[i].PoolSizes {
			s.sizes[one.Probe] = append(s.sizes[one.Probe], poolSize{int32(i), one.Desired, one.Living})
		}
	}
	return s
}

// isNodeList reports whether a listing is evidence from a workload cluster, not a
// scope.
func isNodeList(l *infra.Listing) bool { return l.NodeState != "" }

// home returns the judgement on a place. A place that nobody listed is not complete.
func (s *scopes) home(at clusterScope) *Place {
	if h := s.homes[at]; h != nil {
		return h
	}
	return &Place{Fault: s.notListed(at.target), Name: at.target}
}

func (s *scopes) notListed(target string) *infra.Fault {
	if target == "" {
		return &infra.Fault{Reason: code.NotListed, Message: s.subject.The() + " does not say where the machine's controller looks"}
	}
	return &infra.Fault{
		Reason:  code.NotListed,
		Message: fmt.Sprintf("%q was not listed", target),
		Hint:    s.listAgain(),
	}
}

func compareFaults(a, b *infra.Fault) int {
	return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
}

// faultOf returns why a listing is not complete; the listing may not give a fault.
func faultOf(l *infra.Listing) *infra.Fault {
	if l.Fault != nil {
		return l.Fault
	}
	return &infra.Fault{Reason: code.ListingIncomplete, Message: fmt.Sprintf("the listing of %s did not come to its end", l.Endpoint)}
}

// shows reports whether any of the listings found a probe.
func (s *scopes) shows(listings []int32, k infra.Key) bool {
	return slices.ContainsFunc(listings, func(i int32) bool { return s.lookups[i].Finds(k) })
}

// listAgain returns the hint where what was listed was not listed for what was read.
func (s *scopes) listAgain() string {
	return fmt.Sprintf("list again with this %s; a saved inventory must come from the same %[1]s", s.subject)
}

// unasked reports whether a target was listed but a probe was not looked for there,
// so that not finding it proves nothing. What was found counts as looked for.
func (s *scopes) unasked(target string, k infra.Key) bool {
	at := s.byTarget[target]
	return !k.IsZero() && len(at) > 0 && !slices.ContainsFunc(at, func(i int32) bool { return s.lookups[i].Finds(k) || s.lookups[i].Asks(k) })
}

// noteUnasked records the first pool that was not looked for at its home.
func (s *scopes) noteUnasked(p *infra.Pool) {
	if !s.unasked(p.Target, p.Probe) {
		return
	}
	h := s.homes[clusterScope{p.Cluster, p.Target, ""}]
	f := &infra.Fault{
		Reason:  code.NotAsked,
		Message: fmt.Sprintf("%s was listed for another %s, or by an older version: it was not asked for %s %s/%s", h.Name, s.subject, p.Kind, p.Cluster.Namespace, p.Name),
		Hint:    s.listAgain(),
	}
	if h.unasked == nil || compareFaults(f, h.unasked) < 0 {
		h.unasked = f
	}
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

func unprovenMessage(endpoint string, clusters []string) string {
	return fmt.Sprintf("%s was listed, but nothing shows that it is where the machines of %s are", endpoint, strings.Join(clusters, ", "))
}

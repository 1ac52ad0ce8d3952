package match

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// findDuplicate returns another living instance that has the same id, or the id of a Node on
// the instance, and the clusters of either.
func (ix *Index) findDuplicate(v *VM) (duplicate *VM, suspects []backup.ClusterID) {
	consider := func(s *sharers) {
		i := slices.IndexFunc(s.all, func(other *VM) bool { return other != v })
		if i < 0 {
			return
		}
		other := s.all[i]
		suspects = append(suspects, ix.clustersOfAny(s)...)
		if duplicate == nil || CompareInstances(other.Instance, duplicate.Instance) < 0 {
			duplicate = other
		}
	}
	for _, k := range v.Keys {
		if v.ID != "" && k.Value == v.ID {
			consider(ix.sharing(k, v, v.Provider))
		}
	}
	for _, n := range ix.nodes.on(v) {
		for _, k := range n.Keys {
			consider(ix.sharing(k, v, ""))
		}
	}
	if duplicate != nil {
		suspects = append(suspects, ix.linksOf(v).clusters()...)
	}
	return duplicate, suspects
}

var nobody sharers

// sharing returns the living instances with key k; if provider is set, those of the
// provider whose ID is k.Value. The key is of v, or of a Node on it.
func (ix *Index) sharing(k infra.Key, v *VM, provider string) *sharers {
	at := sharersOf{k, provider}
	if s := ix.sharers[at]; s != nil {
		return s
	}
	found := ix.withKeys(k)
	if len(found) == 0 || len(found) == 1 && found[0] == v {
		return &nobody // nearly all: nobody else asks for it
	}
	s := &sharers{all: keep(found, func(v *VM) bool {
		return alive(v) && (provider == "" || v.Provider == provider && v.ID == k.Value)
	})}
	ix.sharers[at] = s
	return s
}

func (ix *Index) clustersOfAny(s *sharers) []backup.ClusterID {
	if s.clusters == nil {
		s.clusters = []backup.ClusterID{}
		for _, v := range s.all {
			if v.Exclude == "" {
				s.clusters = append(s.clusters, ix.linksOf(v).clusters()...)
			}
		}
		sorting.By(s.clusters, CompareClusters)
		s.clusters = slices.Compact(s.clusters)
	}
	return s.clusters
}

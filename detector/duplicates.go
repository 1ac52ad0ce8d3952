package detector

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// sharers are the living instances with one id, and the clusters that any of them is
// tied to by more than its place: nil, as long as nobody asked.
type sharers struct {
	all      []*vm
	clusters []backup.ClusterID
}

// sharersOf is the key of index.sharers; provider is set for ids of instances.
type sharersOf struct {
	key      infra.Key
	provider string
}

// findDuplicate sets f.duplicate to another living instance that has the same id, or
// the id of a Node on f.vm, and f.suspects to the clusters of either.
func (ix *index) findDuplicate(f *factsOfInstance) {
	consider := func(s *sharers) {
		i := slices.IndexFunc(s.all, func(v *vm) bool { return v != f.vm })
		if i < 0 {
			return
		}
		other := s.all[i]
		f.suspects = append(f.suspects, ix.clustersOfAny(s)...)
		if f.duplicate == nil || compareInstances(other.Instance, f.duplicate.Instance) < 0 {
			f.duplicate = other
		}
	}
	for _, k := range f.vm.Keys {
		if f.vm.ID != "" && k.Value == f.vm.ID {
			consider(ix.sharing(k, f.vm, f.vm.provider))
		}
	}
	for _, n := range ix.nodes.on(f.vm) {
		for _, k := range n.Keys {
			consider(ix.sharing(k, f.vm, ""))
		}
	}
	if f.duplicate != nil {
		f.suspects = append(f.suspects, f.clusters()...)
	}
}

// sharing returns the living instances with key k; if provider is set, those of the
// provider whose ID is k.Value. The key is of v, or of a Node on it.
func (ix *index) sharing(k infra.Key, v *vm, provider string) *sharers {
	at := sharersOf{k, provider}
	if s := ix.sharers[at]; s != nil {
		return s
	}
	s, found := &sharers{}, ix.withKeys(k)
	if len(found) == 0 || len(found) == 1 && found[0] == v {
		return s // nearly all: nobody else asks for it
	}
	ix.sharers[at] = s
	all := keep(found, func(v *vm) bool {
		return alive(v) && (provider == "" || v.provider == provider && v.ID == k.Value)
	})
	s.all = all
	return s
}

func (ix *index) clustersOfAny(s *sharers) []backup.ClusterID {
	if s.clusters == nil {
		s.clusters = []backup.ClusterID{}
		for _, v := range s.all {
			if v.Exclude == "" {
				s.clusters = append(s.clusters, ix.clusterLinks(v).clusters()...)
			}
		}
		sorting.By(s.clusters, compareClusters)
		s.clusters = slices.Compact(s.clusters)
	}
	return s.clusters
}

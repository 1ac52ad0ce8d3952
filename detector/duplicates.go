package detector

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// sharers are the living instances of one id: the first two of them, as any
// number may share one, and the clusters that anything but their place ties any
// of them to.
type sharers struct {
	first, second *vm
	clusters      []backup.ClusterID
}

// sharersOf is what sharers are remembered by; provider is set for ids of instances.
type sharersOf struct {
	key      infra.Key
	provider string
}

// findTwin fills in another living instance that may be meant where this one
// seems to be: it has its id, as the provider gives it, or bears that of a Node
// on it.
func (ix *index) findDuplicate(f *instanceFacts) {
	consider := func(s *sharers) {
		other := s.first
		if other == f.vm {
			other = s.second
		}
		if other == nil {
			return
		}
		f.suspects = append(f.suspects, s.clusters...)
		if f.duplicate == nil || compareInstances(&other.Instance, &f.duplicate.Instance) < 0 {
			f.duplicate = other
		}
	}
	for _, k := range f.vm.Keys {
		if f.vm.ID != "" && k.Value == f.vm.ID {
			consider(ix.sharing(k, f.vm))
		}
	}
	for _, n := range ix.nodes.on(f.vm) {
		for _, k := range n.Keys {
			consider(ix.sharing(k, nil))
		}
	}
	if f.duplicate != nil {
		f.suspects = append(f.suspects, f.clusters()...)
	}
}

// sharing finds the living instances that bear a key, or, with one given, those
// of its provider that have the key's value as their id.
func (ix *index) sharing(k infra.Key, like *vm) *sharers {
	at := sharersOf{key: k}
	if like != nil {
		at.provider = like.provider
	}
	s := ix.sharers[at]
	if s != nil {
		return s
	}
	s = &sharers{}
	if ix.byKey.head[k] == 0 {
		return s // of a stranger, of which there are too many to remember them
	}
	ix.sharers[at] = s
	all := keep(ix.withKeys(k), func(v *vm) bool {
		return alive(v) && (like == nil || v.provider == like.provider && v.ID == k.Value)
	})
	if len(all) == 0 || len(all) == 1 && all[0] == like {
		return s
	}
	s.first = all[0]
	if len(all) > 1 {
		s.second = all[1]
	}
	for _, v := range all {
		if v.Exclude == "" {
			found := ix.leads(v)
			s.clusters = append(s.clusters, found.clusters()...)
		}
	}
	slices.SortFunc(s.clusters, compareClusters)
	s.clusters = slices.Compact(s.clusters)
	return s
}

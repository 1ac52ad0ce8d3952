package match

import (
	"slices"

	"drift-detector/infra"
)

// This file is for machines and instances of one name, by the thousand. What all of those
// machines find is looked up once.

// sharedLists are lists of many instances that machines share.
type sharedLists struct {
	found  map[search][]*VM
	first  map[**VM]bool // the first place of each list in found
	unions map[union][]*VM
	joined uint32 // how often lists were joined
	linked map[*Link]LinkedClusters
}

func newSharedLists() sharedLists {
	return sharedLists{found: map[search][]*VM{}, first: map[**VM]bool{}, unions: map[union][]*VM{}, linked: map[*Link]LinkedClusters{}}
}

// union is several such lists, each by its first place.
type union [4]**VM

// search is the question to which machines get one answer: the instances, many, that have
// any of the keys, seen in any of the listings and within.
type search struct {
	what, keys, listings string
	within               infra.Key
}

// join joins lists of instances, each instance once and one left out. The result must
// not be changed.
func (s *sharedLists) join(one *VM, lists ...[]*VM) []*VM {
	lists = slices.DeleteFunc(lists, func(list []*VM) bool { return len(list) == 0 })
	if one == nil && len(lists) == 1 {
		return lists[0]
	}
	var of union
	shared := one == nil && len(lists) <= len(of)
	for i := 0; shared && i < len(lists); i++ {
		of[i] = &lists[i][0]
		shared = s.first[of[i]]
	}
	if shared {
		if have := s.unions[of]; have != nil {
			return have
		}
	}
	s.joined++
	mark := s.joined
	if one != nil {
		one.mark = mark
	}
	var out []*VM
	for _, list := range lists {
		for _, v := range list {
			if v.mark != mark {
				v.mark = mark
				out = append(out, v)
			}
		}
	}
	if shared {
		s.unions[of] = out
	}
	return out
}

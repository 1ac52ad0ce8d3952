package detector

import (
	"slices"
	"strconv"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
)

// This file is for machines and instances of one name, by the thousand. What all of those
// machines find is looked up once.

// sharedLists are lists of many instances that machines share.
type sharedLists struct {
	found  map[search][]*vm
	first  map[**vm]bool // the first place of each list in found
	unions map[union][]*vm
	joined uint32 // how often lists were joined
	linked map[*link]linkedClusters
}

// linkedClusters are the clusters of links, and those of them whose Node lists were not read.
type linkedClusters struct {
	clusters, unlisted []backup.ClusterID
	listed             bool      // the Node list of each was read
	written            time.Time // when the oldest backup of them ended; zero where that is not known
}

// olderThan reports whether an instance was there when the backups of the clusters were written, and
// their Node lists, which were read, do not name it: one that came since says that something was made in
// the cluster's place since.
func (l *linkedClusters) olderThan(v *vm) bool {
	return l.listed && !v.Created.IsZero() && v.Created.Before(l.written.Add(-clockSkew))
}

// linked returns the clusters of links. Many that several instances share, see
// gradeHints, are gone through once. They must not be changed.
func (ix *index) linked(all []link) linkedClusters {
	if len(all) == 0 {
		return linkedClusters{}
	}
	if known, ok := ix.sharedLists.linked[&all[0]]; ok {
		return known
	}
	of := linkedClusters{clusters: clustersOf(all)}
	of.unlisted = slices.DeleteFunc(slices.Clone(of.clusters), func(id backup.ClusterID) bool {
		why, _ := ix.unlisted(id)
		return why == ""
	})
	for i, id := range of.clusters {
		if at := ix.dated(id); i == 0 || at.Before(of.written) {
			of.written = at
		}
	}
	of.listed = !slices.ContainsFunc(of.clusters, func(id backup.ClusterID) bool { return ix.nodes.lists[id].State != report.NodesRead })
	if len(all) > many {
		ix.sharedLists.linked[&all[0]] = of
	}
	return of
}

func newSharedLists() sharedLists {
	return sharedLists{found: map[search][]*vm{}, first: map[**vm]bool{}, unions: map[union][]*vm{}, linked: map[*link]linkedClusters{}}
}

// union is several such lists, each by its first place.
type union [4]**vm

// search is the question to which machines get one answer: the instances, many, that have
// any of the keys, seen in any of the listings and within.
type search struct {
	what, keys, listings string
	within               infra.Key
}

// find returns the instances of p that have any of the keys and pass the test, in order.
// Where many have them, all machines whose keys and whose home are the same get the same
// list, so that the test must ask for nothing else of a machine; what names it. A nil home
// is for a test that does not ask for the home. The list must not be changed.
func (ix *index) find(p *postings, what string, home *infra.HomeScope, keys []infra.Key, test func(*vm) bool) []*vm {
	if few, all := p.first(many, keys); all {
		return keep(few, test)
	}
	q := search{what: what}
	var text []byte
	for _, k := range keys {
		text = strconv.AppendQuote(strconv.AppendQuote(text, k.Kind.String()), k.Value)
	}
	q.keys, text = string(text), text[:0]
	if home != nil {
		for _, i := range ix.scopes.byTarget[home.Target] {
			text = append(strconv.AppendInt(text, int64(i), 10), ' ')
		}
		q.listings, q.within = string(text), home.Within
	}
	found, ok := ix.sharedLists.found[q]
	if !ok {
		found = keep(p.with(keys...), test)
		ix.sharedLists.found[q] = found
		if len(found) > many {
			ix.sharedLists.first[&found[0]] = true
		}
	}
	return found
}

// without joins lists of instances, each instance once and one left out. The result must
// not be changed.
func (f *factsOfMachine) without(one *vm, lists ...[]*vm) []*vm {
	lists = slices.DeleteFunc(lists, func(list []*vm) bool { return len(list) == 0 })
	if one == nil && len(lists) == 1 {
		return lists[0]
	}
	var join union
	shared := one == nil && len(lists) <= len(join)
	for i := 0; shared && i < len(lists); i++ {
		join[i] = &lists[i][0]
		shared = f.sharedLists.first[join[i]]
	}
	if shared {
		if have := f.sharedLists.unions[join]; have != nil {
			return have
		}
	}
	f.sharedLists.joined++
	mark := f.sharedLists.joined
	if one != nil {
		one.mark = mark
	}
	var out []*vm
	for _, list := range lists {
		for _, v := range list {
			if v.mark != mark {
				v.mark = mark
				out = append(out, v)
			}
		}
	}
	if shared {
		f.sharedLists.unions[join] = out
	}
	return out
}

// has reports whether any instance with any of the keys passes the test.
func (p *postings) has(test func(*vm) bool, keys ...infra.Key) bool {
	for _, k := range keys {
		for v := range p.having(k) {
			if test(v) {
				return true
			}
		}
	}
	return false
}

// named returns the living instances with any of the keys that are nobody else's, those of
// which only the machine's own Node or second id shows that first. The keys of its Nodes
// are in own where an instance is a namesake by such a key alone.
func (ix *index) named(c *expectedMachine, f *factsOfMachine, home *infra.HomeScope, keys, own []infra.Key) []*vm {
	here := func(v *vm) bool { return alive(v) && (home == nil || ix.atHome(c, v)) }
	ours := func(v *vm) bool {
		return here(v) && !slices.Contains(f.home, v) && !slices.Contains(f.copies, v) && ix.hasNoOtherOwner(c, v)
	}
	if _, all := ix.unclaimed.first(many, keys); all {
		return keep(ix.notOfOthers(c, append(keys[:len(keys):len(keys)], own...)...), ours)
	}
	hers := append(ix.nodeKeys(c), c.Identity)
	special := keep(ix.unclaimed.with(hers...), func(v *vm) bool {
		return !ix.isFree(v) && ours(v) && (slices.ContainsFunc(keys, v.HasKey) || slices.ContainsFunc(own, v.HasKey))
	})
	free := ix.find(&ix.unclaimed, "free", home, keys, func(v *vm) bool { return here(v) && ix.isFree(v) })
	if len(special) == 0 {
		return free
	}
	return slices.Concat(special, free)
}

// isFree reports whether nothing shows that an instance is that of any machine.
func (ix *index) isFree(v *vm) bool {
	return v.byStrong.first == nil && v.byIdentity.first == nil && (v.Exclude == "" || v.mayBeOurs()) && !slices.ContainsFunc(ix.nodes.on(v), (*node).agrees)
}

// nodeKeys returns the keys of the Nodes that say they are the machine.
func (ix *index) nodeKeys(c *expectedMachine) (keys []infra.Key) {
	for _, n := range c.nodes {
		if n.agrees() {
			keys = append(keys, n.Keys...)
		}
	}
	return keys
}

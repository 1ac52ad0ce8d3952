package match

import (
	"iter"
	"math"
	"slices"

	"drift-detector/infra"
)

// postings finds the instances that have a key. Most kinds of keys are never asked for: one is indexed
// when it is.
type postings struct {
	vms   []*VM
	kinds map[infra.KeyKind]*keyIndex
}

// indexKeys maps the keys of the instances that a test accepts.
func indexKeys(vms []VM, accepts func(*VM) bool) postings {
	n := 0
	for i := range vms {
		if accepts(&vms[i]) {
			n++
		}
	}
	p := postings{make([]*VM, 0, n), map[infra.KeyKind]*keyIndex{}}
	for i := range vms {
		if v := &vms[i]; accepts(v) {
			p.vms = append(p.vms, v)
		}
	}
	return p
}

// ofKind returns where the keys of a kind are, by the numbers of the instances.
func (p *postings) ofKind(kind infra.KeyKind) *keyIndex {
	x := p.kinds[kind]
	if x == nil {
		x = newKeyIndex(func(yield func(int32, infra.Key) bool) {
			for i, v := range p.vms {
				for _, k := range v.Keys {
					if k.Kind == kind && !yield(int32(i), k) {
						return
					}
				}
			}
		})
		p.kinds[kind] = x
	}
	return x
}

// having yields the instances that have a key, none for the zero key.
func (p *postings) having(k infra.Key) iter.Seq[*VM] {
	return func(yield func(*VM) bool) {
		if k.IsZero() || len(p.vms) == 0 {
			return
		}
		for _, at := range p.ofKind(k.Kind).find(k) {
			if v := p.vms[at.number]; v.HasKey(k) && !yield(v) {
				return
			}
		}
	}
}

// with returns the instances that have any of the keys, in order, each once.
func (p *postings) with(keys ...infra.Key) []*VM {
	found, _ := p.first(math.MaxInt, keys)
	return found
}

// first does what with does, but gives up, and returns false, where more than most are found.
func (p *postings) first(most int, keys []infra.Key) (found []*VM, all bool) {
	for _, k := range keys {
		for v := range p.having(k) {
			if found = append(found, v); len(found) > most {
				return nil, false
			}
		}
	}
	return inOrder(found), true
}

// has reports whether any instance with any of the keys passes the test.
func (p *postings) has(test func(*VM) bool, keys ...infra.Key) bool {
	for _, k := range keys {
		for v := range p.having(k) {
			if test(v) {
				return true
			}
		}
	}
	return false
}

// inOrder puts instances in order, each once.
func inOrder(found []*VM) []*VM {
	if len(found) > 1 {
		slices.SortFunc(found, func(a, b *VM) int { return int(a.place - b.place) })
		found = slices.Compact(found)
	}
	return found
}

package match

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"slices"

	"drift-detector/infra"
)

// postings finds the instances that have a key. Keys are many, and most are never asked
// for: they are not kept, but for a few bits of a hash.
type postings struct {
	vms   []VM
	seed  maphash.Seed
	bits  int
	begin []int32   // by the first bits of a key's hash: where it is in of
	of    []posting // once for each key, in the order of the hashes
}

// posting is one key of an instance.
type posting struct {
	vm   int32
	hash uint32 // the last bits of the key's
}

// indexKeys maps the keys of the instances that a test accepts.
func indexKeys(vms []VM, accepts func(*VM) bool) postings {
	all, n := make([]*VM, 0, len(vms)), 0
	for i := range vms {
		if v := &vms[i]; accepts(v) {
			all, n = append(all, v), n+len(v.Keys)
		}
	}
	p := postings{vms: vms, seed: maphash.MakeSeed(), bits: bits.Len(uint(n)), of: make([]posting, n)}
	// Two entries further on, places are counted; one entry further on, each is where the
	// next instance goes.
	p.begin = make([]int32, 1<<p.bits+2)
	hashes := make([]uint64, 0, n)
	for _, v := range all {
		for _, k := range v.Keys {
			hash := p.hash(k)
			hashes = append(hashes, hash)
			p.begin[p.place(hash)+2]++
		}
	}
	for i := range p.begin[1:] {
		p.begin[i+1] += p.begin[i]
	}
	for _, v := range all {
		for range v.Keys {
			next := &p.begin[p.place(hashes[0])+1]
			p.of[*next] = posting{v.place, uint32(hashes[0])}
			*next++
			hashes = hashes[1:]
		}
	}
	// A key that is asked for often may have the place of one that many instances have.
	for i := range p.begin[2:] {
		if same := p.of[p.begin[i]:p.begin[i+1]]; len(same) > 1 {
			slices.SortStableFunc(same, func(a, b posting) int { return cmp.Compare(a.hash, b.hash) })
		}
	}
	return p
}

func (p *postings) hash(k infra.Key) uint64 { return k.Hash(p.seed) }

// place returns where begin has the keys of a hash.
func (p *postings) place(hash uint64) uint64 { return hash >> (64 - p.bits) }

// having yields the instances that have a key, none for the zero key.
func (p *postings) having(k infra.Key) iter.Seq[*VM] {
	return func(yield func(*VM) bool) {
		if k.IsZero() || len(p.of) == 0 {
			return
		}
		hash := p.hash(k)
		place := p.place(hash)
		found := p.of[p.begin[place]:p.begin[place+1]]
		i, _ := slices.BinarySearchFunc(found, uint32(hash), func(at posting, hash uint32) int { return cmp.Compare(at.hash, hash) })
		for ; i < len(found) && found[i].hash == uint32(hash); i++ {
			if v := &p.vms[found[i].vm]; v.HasKey(k) && !yield(v) {
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

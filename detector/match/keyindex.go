package match

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
	"sort"

	"drift-detector/infra"
)

// keyIndex finds the numbers of what has a key. The keys are not kept, but for 32 bits of
// a hash: what is found may have another key.
type keyIndex struct {
	seed  maphash.Seed
	bits  int
	begin []int32   // by the first bits of a hash: where it is in of
	of    []posting // in order
}

// posting is that something has a key.
type posting struct {
	hash   uint32
	number int32
}

func (p posting) compare(other posting) int {
	return cmp.Or(cmp.Compare(p.hash, other.hash), cmp.Compare(p.number, other.number))
}

// newKeyIndex indexes keys, which it goes through twice.
func newKeyIndex(keys iter.Seq2[int32, infra.Key]) *keyIndex {
	n := 0
	for range keys {
		n++
	}
	x := &keyIndex{seed: maphash.MakeSeed(), bits: bits.Len(uint(n / 2)), of: make([]posting, 0, n)}
	x.begin = make([]int32, 1<<x.bits+1)
	for number, k := range keys {
		one := posting{x.hash(k), number}
		x.of = append(x.of, one)
		x.begin[x.place(one.hash)]++
	}
	for i := range x.begin[1:] {
		x.begin[i+1] += x.begin[i]
	}
	// Each entry is the end of its place now. It becomes the begin, as the place is filled from its end:
	// what is at or behind it is where it belongs.
	for i := range x.of {
		for {
			at := &x.begin[x.place(x.of[i].hash)]
			if int(*at) <= i {
				break
			}
			*at--
			x.of[i], x.of[*at] = x.of[*at], x.of[i]
		}
	}
	for i := range x.begin[1:] {
		if same := x.of[x.begin[i]:x.begin[i+1]]; len(same) > 1 {
			slices.SortFunc(same, posting.compare)
		}
	}
	return x
}

func (x *keyIndex) hash(k infra.Key) uint32 { return uint32(k.Hash(x.seed) >> 32) }

// place returns where begin has a hash.
func (x *keyIndex) place(hash uint32) uint32 { return hash >> (32 - x.bits) }

// find returns what has a key of that hash, in the order of the numbers.
func (x *keyIndex) find(k infra.Key) []posting {
	hash := x.hash(k)
	place := x.place(hash)
	found := x.of[x.begin[place]:x.begin[place+1]]
	return equalRange(found, func(one posting) int { return cmp.Compare(one.hash, hash) })
}

// equalRange returns those of a list that compare as equal. It is in that order.
func equalRange[T any](all []T, compare func(T) int) []T {
	from := sort.Search(len(all), func(i int) bool { return compare(all[i]) >= 0 })
	all = all[from:]
	return all[:sort.Search(len(all), func(i int) bool { return compare(all[i]) > 0 })]
}

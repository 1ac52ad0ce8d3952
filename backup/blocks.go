package backup

import "slices"

// blockLen is how many records one allocation holds, and as many more as there is room for: the
// allocator rounds up.
const blockLen = 32

// blocks are values in blocks that are alike, so that none is moved when one is added.
type blocks[T any] struct{ all [][]T }

// add adds an empty value.
func (b *blocks[T]) add() *T {
	if n := len(b.all); n == 0 || len(b.all[n-1]) == cap(b.all[n-1]) {
		b.all = append(b.all, slices.Grow([]T(nil), blockLen))
	}
	last := &b.all[len(b.all)-1]
	*last = (*last)[:len(*last)+1] // which is empty: see drop
	return &(*last)[len(*last)-1]
}

// drop takes the last value away again.
func (b *blocks[T]) drop() {
	last := &b.all[len(b.all)-1]
	n := len(*last) - 1
	clear((*last)[n:])
	if *last = (*last)[:n]; n == 0 {
		b.all = b.all[:len(b.all)-1]
	}
}

func (b *blocks[T]) len() int {
	n := len(b.all)
	if n == 0 {
		return 0
	}
	return (n-1)*cap(b.all[0]) + len(b.all[n-1])
}

func (b *blocks[T]) at(i uint32) *T {
	n := uint32(cap(b.all[0]))
	return &b.all[i/n][i%n]
}

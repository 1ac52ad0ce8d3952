package backup

import (
	"iter"
	"slices"
)

// Demands are things that each demand labels of an object, such as selectors do: which of
// them may fit an object is known without a look at all of them.
type Demands[T any] struct {
	all      []T
	anything []int           // of all, those that demand no label
	byLabel  map[label][]int // nil: they are few, of which each is asked
}

type label struct{ key, value string }

// NewDemands keeps each thing by the one of its labels that the fewest others demand.
func NewDemands[T any](all []T, of func(T) iter.Seq2[string, string]) *Demands[T] {
	const few = 4
	if len(all) <= few {
		return &Demands[T]{all: all}
	}
	times := map[label]int{}
	for _, t := range all {
		for key, value := range of(t) {
			times[label{key, value}]++
		}
	}
	d := &Demands[T]{all: all, byLabel: map[label][]int{}}
	for i, t := range all {
		var rarest label
		for key, value := range of(t) {
			if l := (label{key, value}); rarest == (label{}) || times[l] < times[rarest] {
				rarest = l
			}
		}
		if rarest == (label{}) {
			d.anything = append(d.anything, i)
		} else {
			d.byLabel[rarest] = append(d.byLabel[rarest], i)
		}
	}
	return d
}

// MayFit returns those that may fit an object with these labels, in their order.
func (d *Demands[T]) MayFit(labels Labels) []T {
	if d.byLabel == nil {
		return d.all
	}
	at := slices.Clone(d.anything)
	for key, value := range labels.All {
		at = append(at, d.byLabel[label{key, value}]...)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	out := make([]T, len(at))
	for i, a := range at {
		out[i] = d.all[a]
	}
	return out
}

package diff

import (
	"slices"
	"strings"

	"drift-detector/internal/sorting"
	"drift-detector/report"
)

// identity is one way to find a thing of one report in the other.
type identity[T any] struct {
	// of is equal where the things are; empty: it cannot be matched this way.
	of func(*T) string
	// only demands that no other thing of either report has the same.
	only bool
	// unless says of two that are alike in this way that they are two all the
	// same; nil: never.
	unless func(a, b *T) bool
}

// compare finds the things of one report in the other, by the identities in
// their order, and lists what is left over and what differs.
func compare[T any](old, new []T, ways []identity[T], fields func(a, b *T) []Field, order func(a, b *T) int) Lists[T] {
	out := Lists[T]{[]T{}, []T{}, []T{}, []Change[T]{}}
	for _, way := range ways {
		old, new = way.pair(old, new, func(a, b *T) {
			if f := fields(a, b); len(f) > 0 {
				out.Changed = append(out.Changed, Change[T]{*a, *b, f})
			}
		})
	}
	out.Gone, out.New = append(out.Gone, old...), append(out.New, new...)
	sorting.StableBy(out.New, func(a, b T) int { return order(&a, &b) })
	sorting.StableBy(out.Gone, func(a, b T) int { return order(&a, &b) })
	sorting.StableBy(out.Changed, func(a, b Change[T]) int {
		if c := order(&a.New, &b.New); c != 0 {
			return c
		}
		return order(&a.Old, &b.Old)
	})
	return out
}

// manyAlike are more things than are alike in any report that detect writes: machines that
// claim one VM have none there. Of more than so many only the first are looked at.
const manyAlike = 64

// pair calls found for each thing in both, and returns what is left of each.
func (way *identity[T]) pair(old, new []T, found func(a, b *T)) (oldLeft, newLeft []T) {
	inOld := map[string]int{}
	for i := range old {
		inOld[way.of(&old[i])]++
	}
	inNew := map[string][]int{}
	for i := range new {
		k := way.of(&new[i])
		inNew[k] = append(inNew[k], i)
	}
	taken := make([]bool, len(new))
	for i := range old {
		k := way.of(&old[i])
		others := inNew[k]
		if k == "" || way.only && (inOld[k] > 1 || len(others) > 1) {
			others = nil
		}
		j := slices.IndexFunc(others[:min(len(others), manyAlike)], func(j int) bool { return way.unless == nil || !way.unless(&old[i], &new[j]) })
		if j < 0 {
			oldLeft = append(oldLeft, old[i])
			continue
		}
		at := others[j]
		copy(others[1:], others[:j])
		inNew[k] = others[1:]
		taken[at] = true
		found(&old[i], &new[at])
	}
	for j := range new {
		if !taken[j] {
			newLeft = append(newLeft, new[j])
		}
	}
	return oldLeft, newLeft
}

// key joins what an identity is made of. Nothing foreign holds a NUL.
func key(parts ...string) string { return report.Valid(strings.Join(parts, "\x00")) }

// part is one thing that may differ.
type part struct{ name, value string }

// differences lists the parts that differ, in the order of the new ones and then
// of those that only the old ones have. Parts of one name count as one.
func differences(old, new []part) []Field {
	a, b := values(old), values(new)
	var out []Field
	seen := map[string]bool{}
	for _, p := range slices.Concat(new, old) {
		p.name = report.Valid(p.name)
		if !seen[p.name] && a[p.name] != b[p.name] {
			out = append(out, Field{p.name, a[p.name], b[p.name]})
		}
		seen[p.name] = true
	}
	return out
}

func values(parts []part) map[string]string {
	out := map[string]string{}
	for _, p := range parts {
		p.name, p.value = report.Valid(p.name), report.Valid(p.value)
		if before, ok := out[p.name]; ok {
			p.value = before + "; " + p.value
		}
		out[p.name] = p.value
	}
	return out
}

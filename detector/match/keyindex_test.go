package match

import (
	"slices"
	"strconv"
	"testing"

	"drift-detector/infra"
)

// Every number is found by its key, in order, however many there are.
func TestKeyIndex(t *testing.T) {
	for n := range 200 {
		var keys []infra.Key
		want := map[infra.Key][]int32{key("a", "none"): nil}
		for i := range n {
			k := key("a", strconv.Itoa(i*i%(n/2+1)))
			keys, want[k] = append(keys, k), append(want[k], int32(i))
		}
		x := newKeyIndex(func(yield func(int32, infra.Key) bool) {
			for i, k := range keys {
				if !yield(int32(i), k) {
					return
				}
			}
		})
		for k, all := range want {
			var got []int32
			for _, at := range x.find(k) {
				if n == 0 || keys[at.number] == k { // two keys may have one hash
					got = append(got, at.number)
				}
			}
			if !slices.Equal(got, all) {
				t.Fatalf("of %d keys %v have %s, want %v", n, got, k, all)
			}
		}
	}
}

// Two keys of one hash are two keys.
func TestKeysOfOneHash(t *testing.T) {
	has, other := key("a", "1"), key("a", "2")
	p := indexKeys([]VM{{Instance: &infra.Instance{Keys: []infra.Key{has}}}}, alive)
	for k, want := range map[infra.Key]int{has: 1, other: 0} {
		x := p.ofKind(k.Kind)
		x.of[0].hash, x.bits, x.begin = x.hash(k), 0, []int32{0, 1}
		if got := p.with(k); len(got) != want {
			t.Errorf("%d instances have key %s, want %d", len(got), k, want)
		}
	}
}

package backup

import (
	"iter"
	"maps"
	"math/rand/v2"
	"testing"
)

// What is left out by MayFit demands a label that the object has not, and the order stays.
func TestDemands(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	some := func(most int) map[string]string {
		out := map[string]string{}
		for range random.IntN(most + 1) {
			out[string('a'+rune(random.IntN(3)))] = string('x' + rune(random.IntN(2)))
		}
		return out
	}
	for range 500 {
		var all []map[string]string
		for range random.IntN(16) {
			all = append(all, some(3))
		}
		d := NewDemands(all, func(m map[string]string) iter.Seq2[string, string] { return maps.All(m) })
		labels := some(3)
		fits := func(demanded map[string]string) bool {
			joined := maps.Clone(labels)
			maps.Copy(joined, demanded)
			return maps.Equal(joined, labels)
		}
		rest := d.MayFit(labelsFrom(labels))
		for _, demanded := range all {
			switch {
			case len(rest) > 0 && maps.Equal(rest[0], demanded):
				rest = rest[1:]
			case fits(demanded):
				t.Fatalf("%v fits %v, and is left out or in another place: %v", demanded, labels, d.MayFit(labelsFrom(labels)))
			}
		}
		if len(rest) > 0 {
			t.Fatalf("%v are twice, or in another order", rest)
		}
	}
}

package detector

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
)

// folded returns an inventory of which the listings keep those instances as unrelated instances
// that the test does not accept.
func folded(inv infra.Inventory, nearby func(*infra.Instance) bool) infra.Inventory {
	out := infra.Inventory{Version: inv.Version}
	for _, l := range inv.Listings {
		all := l.Instances
		l.Instances = nil
		for _, i := range all {
			l.File(&infra.Target{IsRelated: nearby}, i)
		}
		out.Listings = append(out.Listings, l)
	}
	return out
}

// Whatever a listing keeps packed, the result is the same, for all clusters and for
// one: what matters to anything else is found among the unrelated instances.
func TestUnrelatedChangeNothing(t *testing.T) {
	nearby, packed := 0, 0
	for seed := range uint64(1500) {
		s := randomWorld(seed)
		r := rand.New(rand.NewPCG(seed, 9))
		share := r.IntN(101) // percent
		for name, test := range map[string]func(*infra.Instance) bool{
			"near":   s.expected.IsRelated(),
			"some":   func(*infra.Instance) bool { return r.IntN(100) < share },
			"no one": func(*infra.Instance) bool { return false },
		} {
			inv := folded(s.inventory(), test)
			for _, l := range inv.Listings {
				if name == "near" {
					nearby, packed = nearby+len(l.Instances), packed+l.Unrelated.Len()
				}
			}
			options := Options{Now: s.now}
			if id := s.snap.Clusters[0]; r.IntN(2) == 0 {
				options.Only = func(c backup.ClusterID) bool { return c.Name == id.Name && c.Namespace == id.Namespace }
			}
			want := Detect(&s.snap, s.expected, s.inventory(), options)
			if got := Detect(&s.snap, s.expected, inv, options); !reflect.DeepEqual(got, want) {
				t.Fatalf("world %d with unrelated VMs (%s) has another result:\n%s\nwas\n%s", seed, name,
					difference(describe(got), describe(want)), difference(describe(want), describe(got)))
			}
		}
	}
	if nearby == 0 || packed == 0 {
		t.Errorf("%d instances were related and %d unrelated VMs: the worlds are too tame", nearby, packed)
	}
	t.Logf("%d instances were related, %d unrelated VMs", nearby, packed)
}

// An instance that is no one's is an unrelated instance when its listing packs it, and counts
// as what it is.
func TestUnrelatedCountForThemselves(t *testing.T) {
	s := newScene()
	s.vm("foreign", named("foreign"), infra.Key{Kind: infra.OwnerTag, Value: "theirs"})
	s.vm("ended", named("ended")).Gone = true
	s.vm("bastion", named("bastion")).Exclude = "bastion"
	s.vm("other", named("other"))
	inv := folded(s.inventory(), func(*infra.Instance) bool { return false })
	got := Detect(&s.snap, s.expected, inv, Options{Now: s.now})
	if got.OutOfScope != 2 || !reflect.DeepEqual(got.ForeignTags, map[string]int{"theirs": 1}) ||
		!reflect.DeepEqual(got.Excluded, map[string]int{"bastion": 1, terminated: 1}) || got.Scopes[0].Instances != 4 {
		t.Errorf("%d out of scope, tags %v, excluded %v, scopes %+v", got.OutOfScope, got.ForeignTags, got.Excluded, got.Scopes)
	}
}

package detector

import (
	"reflect"
	"slices"
	"testing"

	"drift-detector/backup"
	"drift-detector/report/code"
)

// A narrowed result says of the clusters that it shows what the whole one says,
// and nothing of the others.
func TestNarrowedResultIsPartOfTheWhole(t *testing.T) {
	compared, dropped, several := 0, 0, 0
	for seed := range uint64(400) {
		s := randomWorld(seed)
		whole := s.detect()
		for _, c := range whole.Clusters {
			only := Options{Now: s.now, Only: func(id backup.ClusterID) bool { return id == c.ID }}
			got := Detect(&s.snap, s.expected, s.inventory(), only)
			if len(got.Clusters) != 1 || !reflect.DeepEqual(got.Clusters[0], c) {
				t.Fatalf("seed %d: %v alone is\n%+v\nand was\n%+v", seed, c.ID, got.Clusters, c)
			}
			compared++
			for _, u := range whole.Unattributed {
				kept := false
				for _, g := range got.Unattributed {
					kept = kept || reflect.DeepEqual(u, g)
				}
				if len(u.Clusters) > 0 && kept != slices.Contains(u.Clusters, c.ID) {
					t.Fatalf("seed %d: %v alone: %v of %v, kept %v", seed, c.ID, u.Instance.Name, u.Clusters, kept)
				}
				if len(u.Clusters) > 1 {
					several++
				}
				if !kept {
					dropped++
				}
			}
			if len(got.Unattributed) > len(whole.Unattributed) || len(got.Scopes) > len(whole.Scopes) || len(got.Errors) > len(whole.Errors) {
				t.Fatalf("seed %d: %v alone shows more than all", seed, c.ID)
			}
		}
	}
	if compared < 500 || dropped < 50 || several < 50 {
		t.Errorf("compared %d clusters and dropped %d VMs, and %d times one may belong to several: too few to tell", compared, dropped, several)
	}
}

// A vCenter that only a hidden cluster needs is no scope of the report, listed
// or not, and its trouble not trouble of the report.
func TestNarrowedResultHasItsOwnScopes(t *testing.T) {
	s := newScene()
	other := backup.ClusterID{Namespace: "t2", Name: "other"}
	s.cluster(other)
	s.worker("w1")
	s.vmOf("w1")
	c := s.machine(other, "o1", false)
	c.Home.Target = "elsewhere"
	whole := s.detect()
	if whole.Complete || len(whole.Scopes) != 2 {
		t.Fatalf("the scene should lack the other's home: %+v", whole.Scopes)
	}
	got := Detect(&s.snap, s.expected, s.inventory(), Options{Now: s.now, Only: func(id backup.ClusterID) bool { return id != other }})
	if !got.Complete || len(got.Scopes) != 1 || got.Status != code.Healthy {
		t.Errorf("status %s, scopes %+v, errors %+v", got.Status, got.Scopes, got.Errors)
	}
}

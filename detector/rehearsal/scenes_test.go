package rehearsal_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/detector/rehearsal"
	"drift-detector/infra/all"
	"drift-detector/internal/scene"
)

func TestScenes(t *testing.T) {
	scene.Run(t, "testdata", all.Registry(), rehearsal.Rows())
}

// toldByOutcomes are the rows that say in the trace what the outcomes of machines tell: which of
// them a health check marks, and which a topology deletes.
var toldByOutcomes = []string{"core.H4", "core.H6", "core.H7", "core.H8", "core.H9", "core.H10", "core.T7b"}

// Without a row its scenes end otherwise: what it finds is read by something.
func TestEveryRowMatters(t *testing.T) {
	type played struct {
		scene.Scene
		end func() (*scene.Played, error)
	}
	of := map[string][]played{} // by the row that the file is named by
	err := scene.Play("testdata", all.Registry(), func(s scene.Scene, end func() (*scene.Played, error)) {
		id, _, _ := strings.Cut(strings.TrimSuffix(s.File, ".scene"), "-")
		of[id] = append(of[id], played{s, end})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rehearsal.Rows() {
		matters := false
		restore := rehearsal.Without(r.ID)
		for _, p := range of[r.ID] {
			ended, err := p.end()
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range ended.Unmet() {
				matters = matters || !strings.HasPrefix(problem, "=> "+r.ID+" ")
			}
		}
		if restore(); matters == slices.Contains(toldByOutcomes, r.ID) {
			t.Errorf("%s: what its scenes say beside that it is asked changes when the row is taken out: %v", r.ID, matters)
		}
	}
}

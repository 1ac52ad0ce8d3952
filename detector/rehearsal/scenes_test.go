package rehearsal_test

import (
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
	scene.Matter(t, "testdata", all.Registry(), rehearsal.Rows(), toldByOutcomes, rehearsal.Without)
}

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

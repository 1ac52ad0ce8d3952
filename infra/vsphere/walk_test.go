package vsphere_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/infra/vsphere"
	"drift-detector/internal/scene"
)

func TestWalkScenes(t *testing.T) {
	scene.Run(t, "testdata/walk", all.Registry(), vsphere.New().Spec().Walk)
}

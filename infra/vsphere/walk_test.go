package vsphere_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/infra/vsphere"
	"drift-detector/internal/scene"
)

func TestWalkScenes(t *testing.T) {
	scene.Run(t, "testdata/walk", all.Registry(), new(vsphere.Provider).Spec().Walk)
}

// reported are the rows whose answers the forecast has from what became of resources, and of zones.
var reported = []string{"vsphere.VM4", "vsphere.L2", "vsphere.L4", "vsphere.L5", "vsphere.L7", "vsphere.L8"}

func TestEveryRowMatters(t *testing.T) {
	scene.Matter(t, "testdata/walk", all.Registry(), new(vsphere.Provider).Spec().Walk, reported, nil)
}

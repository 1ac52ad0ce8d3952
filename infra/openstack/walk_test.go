package openstack_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/infra/openstack"
	"drift-detector/internal/scene"
)

func TestWalkScenes(t *testing.T) {
	scene.Run(t, "testdata/walk", all.Registry(), new(openstack.Provider).Spec().Walk)
}

// reported are the rows whose answers the forecast has from what became of resources: of what a
// cluster logs in with and names, and of what its servers are made of.
var reported = []string{
	"openstack.L2", "openstack.L3", "openstack.C11", "openstack.C15",
	"openstack.S2", "openstack.S4", "openstack.S5", "openstack.S9", "openstack.O1", "openstack.S12", "openstack.S14",
}

func TestEveryRowMatters(t *testing.T) {
	scene.Matter(t, "testdata/walk", all.Registry(), new(openstack.Provider).Spec().Walk, reported, nil)
}

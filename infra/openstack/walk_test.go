package openstack_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/infra/openstack"
	"drift-detector/internal/scene"
)

func TestWalkScenes(t *testing.T) {
	scene.Run(t, "testdata/walk", all.Registry(), openstack.New().Spec().Walk)
}

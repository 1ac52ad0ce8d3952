package azure_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/infra/azure"
	"drift-detector/internal/scene"
)

func TestWalkScenes(t *testing.T) {
	scene.Run(t, "testdata/walk", all.Registry(), new(azure.Provider).Spec().Walk)
}

// reported are the rows whose answers the forecast has from resources, and from who may use an identity.
var reported = []string{"azure.O1", "azure.S2"}

func TestEveryRowMatters(t *testing.T) {
	scene.Matter(t, "testdata/walk", all.Registry(), new(azure.Provider).Spec().Walk, reported, nil)
}

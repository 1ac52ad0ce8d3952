package aws_test

import (
	"testing"

	"drift-detector/infra/all"
	"drift-detector/infra/aws"
	"drift-detector/internal/scene"
)

func TestWalkScenes(t *testing.T) {
	scene.Run(t, "testdata/walk", all.Registry(), new(aws.Provider).Spec().Walk)
}

func TestEveryRowMatters(t *testing.T) {
	scene.Matter(t, "testdata/walk", all.Registry(), new(aws.Provider).Spec().Walk, nil, nil)
}

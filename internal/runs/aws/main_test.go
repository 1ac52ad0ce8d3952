package aws_test

import (
	"testing"

	"drift-detector/cmd/drift-detector/program"
	"drift-detector/internal/runs"
)

func TestMain(m *testing.M) { runs.Main(m, program.Run) }

package program

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report/formats"
)

// What render makes of the saved JSON is, byte for byte, what detect writes in
// that format: with rules, shortened, narrowed or not.
func TestRenderIsDetectsOwnOutput(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	noon := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	inventory := filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", inventory}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	for _, options := range [][]string{nil, {"--ignore-healthy-resources"}, {"--namespace", "tenant-alpha", "--skip-access-apiserver"}} {
		detect := slices.Concat([]string{"detect", "--inventory", inventory, "--quiet"}, w.Sources(), options)
		saved := filepath.Join(w.Dir, "saved.json")
		runs.RunAt(t, noon, append(detect, "-o", saved)...).Demand(t, cli.ExitOK)
		for _, format := range formats.Report.Names() {
			direct := runs.RunAt(t, noon, append(detect, "-o", "-", "--format", format)...)
			direct.Demand(t, cli.ExitOK)
			rendered := runs.RunAt(t, noon, "render", saved, "--format", format)
			rendered.Demand(t, cli.ExitOK)
			if direct.Stdout != rendered.Stdout || len(direct.Stdout) < 500 {
				t.Errorf("%v %s: detect writes %d bytes, render %d", options, format, len(direct.Stdout), len(rendered.Stdout))
			}
			file := filepath.Join(w.Dir, "rendered."+format)
			runs.RunAt(t, noon, "render", saved, "--format", format, "-o", file).Demand(t, cli.ExitOK)
			if data, err := os.ReadFile(file); err != nil || string(data) != direct.Stdout {
				t.Errorf("%v %s: the file differs from stdout (%v)", options, format, err)
			}
		}
	}
}

package program

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/report/formats"
)

// What render makes of the saved JSON is, byte for byte, what detect writes in
// that format: with rules, shortened, narrowed or not.
func TestRenderIsDetectsOwnOutput(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	noon := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	inventory := filepath.Join(w.dir, "inventory.json")
	runProgram(t, slices.Concat([]string{"inventory", "-o", inventory}, w.sources(), w.reach())...).demand(t, cli.ExitOK)
	for _, options := range [][]string{nil, {"--ignore-healthy-resources"}, {"--namespace", "tenant-alpha", "--skip-access-apiserver"}} {
		detect := slices.Concat([]string{"detect", "--inventory", inventory, "--quiet"}, w.sources(), options)
		saved := filepath.Join(w.dir, "saved.json")
		runAt(t, noon, append(detect, "-o", saved)...).demand(t, cli.ExitOK)
		for _, format := range formats.Report.Names() {
			direct := runAt(t, noon, append(detect, "-o", "-", "--format", format)...)
			direct.demand(t, cli.ExitOK)
			rendered := runAt(t, noon, "render", saved, "--format", format)
			rendered.demand(t, cli.ExitOK)
			if direct.stdout != rendered.stdout || len(direct.stdout) < 500 {
				t.Errorf("%v %s: detect writes %d bytes, render %d", options, format, len(direct.stdout), len(rendered.stdout))
			}
			file := filepath.Join(w.dir, "rendered."+format)
			runAt(t, noon, "render", saved, "--format", format, "-o", file).demand(t, cli.ExitOK)
			if data, err := os.ReadFile(file); err != nil || string(data) != direct.stdout {
				t.Errorf("%v %s: the file differs from stdout (%v)", options, format, err)
			}
		}
	}
}

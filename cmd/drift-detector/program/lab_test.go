package program

import (
	"path/filepath"
	"slices"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// Every entry of the lab's oracle holds, with Node lists and without them, live
// and through a saved inventory, for every form in which the backup comes.
func TestLabVerdicts(t *testing.T) {
	t.Parallel()
	want, wantAWS := runs.ReadOracle(t, runs.Testdata+"verdicts.json"), runs.ReadAWSOracle(t)
	w := runs.Fleet(t)
	for name, backup := range map[string]string{
		"fleet":          runs.Testdata + "fleet-data.tar.gz",
		"cluster-scoped": runs.Testdata + "fleet-cluster-scoped-data.tar.gz",
		"bucket folder":  runs.Testdata + "bucket/mgmt-cluster-1/backups/mgmt-full",
	} {
		t.Run(name, func(t *testing.T) {
			w.Backups = []string{backup}
			live := w.Detect()
			live.Demand(t, cli.ExitOK)
			live.AgreesWith(t, want)
			live.AgreesWith(t, wantAWS)

			skipped := w.Detect("--skip-access-apiserver")
			skipped.Demand(t, cli.ExitOK)
			skipped.AgreesWith(t, want)
			skipped.AgreesWith(t, wantAWS)
			for _, c := range skipped.Report.Clusters {
				if c.Nodes.State == "read" {
					t.Errorf("the Nodes of %s were read all the same", c.Name)
				}
			}

			saved := filepath.Join(w.Dir, "inventory.json")
			runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
			offline := w.Run("--backup", backup, "--inventory", saved)
			offline.Demand(t, cli.ExitOK)
			offline.AgreesWith(t, want)
			offline.AgreesWith(t, wantAWS)
			if a, b := live.WithoutTime(t), offline.WithoutTime(t); a != b {
				t.Errorf("the report from a saved inventory differs from the live one: %s", runs.FirstDifference(a, b))
			}
		})
	}
}

func TestTwoRunsWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	a, b := w.Detect(), w.Detect()
	if x, y := a.WithoutTime(t), b.WithoutTime(t); x != y {
		t.Errorf("two runs differ: %s", runs.FirstDifference(x, y))
	}
}

// The verdicts before the restore that real controllers then carried out.
func TestRestoredFleetVerdicts(t *testing.T) {
	t.Parallel()
	want := runs.ReadOracle(t, runs.Testdata+"restore/outcomes.json")
	w := runs.Restored(t)
	for name, extra := range map[string][]string{"with Nodes": nil, "without Nodes": {"--skip-access-apiserver"}} {
		t.Run(name, func(t *testing.T) {
			o := w.Detect(extra...)
			o.Demand(t, cli.ExitOK)
			o.AgreesWith(t, want)
			if got := runs.PlacementsOf(o.Report).Ghosts(); len(got) != len(want.Ghosts) {
				t.Errorf("%d Ghosts, want %d: %v", len(got), len(want.Ghosts), got)
			}
		})
	}
}

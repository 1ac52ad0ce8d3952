package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// The folder of a move gives the verdicts of the lab's oracle, and those of the Velero backup in
// every byte; its forecast and plan are of what clusterctl does.
func TestMoveFolderVerdicts(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	want := runs.ReadOracle(t, runs.Testdata+"verdicts.json")
	want.Machines = slices.DeleteFunc(want.Machines, func(m runs.Expected) bool { return m.Namespace != "tenant-alpha" })
	vms := want.VMs
	want.VMs = nil
	for _, v := range vms {
		if strings.HasPrefix(v.Cluster, "alpha-") {
			want.VMs = append(want.VMs, v)
		}
	}
	if len(want.Machines) != 17 || len(want.VMs) != 13 { // 20 of them are machines or Ghosts
		t.Fatalf("%d machines, %d VMs", len(want.Machines), len(want.VMs))
	}
	tarball := w.Detect("--namespace", "tenant-alpha")
	dir := w.UnpackedMove(t)
	o := w.Run(slices.Concat([]string{"--backup", dir}, w.Reach())...)
	o.Demand(t, cli.ExitOK)
	o.AgreesWith(t, want)
	got := runs.DecidedIn(t, o.Report)
	for name, text := range runs.DecidedIn(t, tarball.Report) {
		if !strings.HasPrefix(name, "VM ") && got[name] != text {
			t.Errorf("%s is\n%s\nand of the backup\n%s", name, got[name], text)
		}
	}
	if b := o.Report.Backups[0]; b.RestoreMode != "clusterctl" || tarball.Report.Backups[0].RestoreMode != "velero" {
		t.Errorf("restore modes %q, %q", b.RestoreMode, tarball.Report.Backups[0].RestoreMode)
	}
}

// What is said about it is of clusterctl, in the screen, the text and the plan.
func TestMoveFolderIsRestoredByClusterctl(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	dir := w.UnpackedMove(t)
	o := w.Run(slices.Concat([]string{"--backup", dir, "--summary"}, w.Reach())...)
	o.Demand(t, cli.ExitOK)
	if !strings.Contains(o.Stdout, "by clusterctl, which unpauses all Clusters") {
		t.Error(o.Stdout)
	}
	file := filepath.Join(w.Dir, "report.json")
	plan := runs.Run(t, "plan", file).Stdout
	for _, want := range []string{"clusterctl move --from-directory \"${BACKUP_FILE:?}\"", "clusterctl unpauses every Cluster at its end", "it can't be kept paused"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan lacks %q", want)
		}
	}
	for _, of := range []string{plan, runs.Run(t, "render", file).Stdout, runs.Run(t, "render", file, "--format", "html").Stdout} {
		for _, never := range []string{"velero restore", "unpause it", "unpause one cluster", "spec\":{\"paused\":false", "adopts", "VELERO_NAMESPACE", "AssumedOrder", "While paused", "WHILE PAUSED", "Velero restores"} {
			if i := strings.Index(of, never); i >= 0 {
				t.Errorf("%q: %s", never, of[max(0, i-100):min(len(of), i+100)])
			}
		}
	}
	if check := runs.Run(t, "check", "--backup", dir).Stdout; strings.Contains(check, "ClusterNotPaused") || strings.Contains(check, "VeleroBackupUnknown") || !strings.Contains(check, "NoHealthCheck") {
		t.Error(check)
	}
	ready := runs.Run(t, "ready", file)
	ready.Demand(t, cli.ExitUsage)
}

// A folder that is half written makes no verdict, and one that is cut is refused.
func TestHalfAMoveFolder(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	dir := w.UnpackedMove(t)
	gone, err := filepath.Glob(filepath.Join(dir, "VSphere*_tenant-alpha_alpha-prod-md-0-cjzhw-mtswx.yaml"))
	if err != nil || len(gone) != 2 {
		t.Fatal(gone, err)
	}
	for _, file := range append(gone, filepath.Join(dir, "Machine_tenant-alpha_alpha-prod-md-0-cjzhw-mtswx.yaml")) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	o := w.Run(slices.Concat([]string{"--backup", dir}, w.Reach())...)
	o.Demand(t, cli.ExitIncomplete)
	if m := o.Report.Summary.Machines; m.Unknown != m.Total || m.Total < 16 {
		t.Errorf("%+v", m)
	}
	if !strings.Contains(o.Stderr, "half written") {
		t.Error(o.Stderr)
	}
	c := runs.Run(t, "check", "--backup", dir)
	if c.Code != cli.ExitIncomplete || !strings.HasPrefix(c.Stdout, "Can it be restored? NOT WITHOUT MANUAL WORK") || strings.Contains(c.Stderr, "permissions kubernetes") {
		t.Errorf("check: status %d: %.60s\n%s", c.Code, c.Stdout, c.Stderr)
	}
	file := filepath.Join(dir, "Machine_tenant-alpha_alpha-prod-jzxnt.yaml")
	if err := os.Truncate(file, 700); err != nil {
		t.Fatal(err)
	}
	o = w.Run(slices.Concat([]string{"--backup", dir}, w.Reach())...)
	o.Demand(t, cli.ExitUsage)
	if !strings.Contains(o.Stderr, "is cut short") {
		t.Error(o.Stderr)
	}
}

package program

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
)

// unpackedMove returns the folder that 'clusterctl move --to-directory' wrote of the lab's tenant-alpha,
// with the certificate of the world's vCenter.
func (w *world) unpackedMove(t *testing.T) string {
	t.Helper()
	pinned, err := w.vcenter.WritePinned(testdata+"clusterctl-move.tar.gz", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(pinned)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir, n := t.TempDir(), 0
	for r := tar.NewReader(z); ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n < 131 {
		t.Fatalf("%d files", n)
	}
	return dir
}

// The folder of a move gives the verdicts of the lab's oracle, and those of the Velero backup in
// every byte; its forecast and plan are of what clusterctl does.
func TestMoveFolderVerdicts(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	want := readOracle(t, testdata+"verdicts.json")
	want.Machines = slices.DeleteFunc(want.Machines, func(m expected) bool { return m.Namespace != "tenant-alpha" })
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
	tarball := w.detect("--namespace", "tenant-alpha")
	dir := w.unpackedMove(t)
	o := w.run(slices.Concat([]string{"--backup", dir}, w.reach())...)
	o.demand(t, cli.ExitOK)
	o.agreesWith(t, want)
	got := decidedIn(t, o.report)
	for name, text := range decidedIn(t, tarball.report) {
		if !strings.HasPrefix(name, "VM ") && got[name] != text {
			t.Errorf("%s is\n%s\nand of the backup\n%s", name, got[name], text)
		}
	}
	if b := o.report.Backups[0]; b.RestoreMode != "clusterctl" || tarball.report.Backups[0].RestoreMode != "velero" {
		t.Errorf("restore modes %q, %q", b.RestoreMode, tarball.report.Backups[0].RestoreMode)
	}
}

// What is said about it is of clusterctl, in the screen, the text and the plan.
func TestMoveFolderIsRestoredByClusterctl(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	dir := w.unpackedMove(t)
	o := w.run(slices.Concat([]string{"--backup", dir, "--summary"}, w.reach())...)
	o.demand(t, cli.ExitOK)
	if !strings.Contains(o.stdout, "by clusterctl, which unpauses all Clusters") {
		t.Error(o.stdout)
	}
	file := filepath.Join(w.dir, "report.json")
	plan := runProgram(t, "plan", file).stdout
	for _, want := range []string{"clusterctl move --from-directory \"${BACKUP_FILE:?}\"", "clusterctl unpauses every Cluster at its end", "it can't be kept paused"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan lacks %q", want)
		}
	}
	for _, of := range []string{plan, runProgram(t, "render", file).stdout, runProgram(t, "render", file, "--format", "html").stdout} {
		for _, never := range []string{"velero restore", "unpause it", "unpause one cluster", "spec\":{\"paused\":false", "adopts", "VELERO_NAMESPACE", "AssumedOrder", "While paused", "WHILE PAUSED", "Velero restores"} {
			if i := strings.Index(of, never); i >= 0 {
				t.Errorf("%q: %s", never, of[max(0, i-100):min(len(of), i+100)])
			}
		}
	}
	if check := runProgram(t, "check", "--backup", dir).stdout; strings.Contains(check, "ClusterNotPaused") || strings.Contains(check, "VeleroBackupUnknown") || !strings.Contains(check, "NoHealthCheck") {
		t.Error(check)
	}
	ready := runProgram(t, "ready", file)
	ready.demand(t, cli.ExitUsage)
}

// A folder that is half written makes no verdict, and one that is cut is refused.
func TestHalfAMoveFolder(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	dir := w.unpackedMove(t)
	gone, err := filepath.Glob(filepath.Join(dir, "VSphere*_tenant-alpha_alpha-prod-md-0-cjzhw-mtswx.yaml"))
	if err != nil || len(gone) != 2 {
		t.Fatal(gone, err)
	}
	for _, file := range append(gone, filepath.Join(dir, "Machine_tenant-alpha_alpha-prod-md-0-cjzhw-mtswx.yaml")) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	o := w.run(slices.Concat([]string{"--backup", dir}, w.reach())...)
	o.demand(t, cli.ExitIncomplete)
	if m := o.report.Summary.Machines; m.Unknown != m.Total || m.Total < 16 {
		t.Errorf("%+v", m)
	}
	if !strings.Contains(o.stderr, "half written") {
		t.Error(o.stderr)
	}
	c := runProgram(t, "check", "--backup", dir)
	if c.code != cli.ExitIncomplete || !strings.HasPrefix(c.stdout, "Can it be restored? NOT WITHOUT MANUAL WORK") || strings.Contains(c.stderr, "permissions kubernetes") {
		t.Errorf("check: status %d: %.60s\n%s", c.code, c.stdout, c.stderr)
	}
	file := filepath.Join(dir, "Machine_tenant-alpha_alpha-prod-jzxnt.yaml")
	if err := os.Truncate(file, 700); err != nil {
		t.Fatal(err)
	}
	o = w.run(slices.Concat([]string{"--backup", dir}, w.reach())...)
	o.demand(t, cli.ExitUsage)
	if !strings.Contains(o.stderr, "is cut short") {
		t.Error(o.stderr)
	}
}

package program

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
)

// packed writes a changed copy of the lab's backup, with one time for all
// entries; it is the world's backup beside others or alone.
func (w *world) packed(name string, at time.Time, keep func(item string) bool) string {
	w.t.Helper()
	b := backuptest.NewFormat("").At(at)
	backuptest.Rewrite(w.t, w.backups[0], func(item string, body []byte) ([]byte, bool) {
		if keep(item) {
			b.Entry(&tar.Header{Typeflag: tar.TypeReg, Name: item, Size: int64(len(body)), Format: tar.FormatGNU}, body)
		}
		return nil, false
	})
	file := filepath.Join(w.dir, name+".tar.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// A tarball that was packed again under an old time does not make VMs younger
// than the backup: those whose machines it lacks stay Unknown, also one that is
// younger than everything in it.
func TestPackedAgain(t *testing.T) {
	t.Parallel()
	const set = "alpha-prod-md-0-cjzhw-"
	keep := func(item string) bool {
		resource, name := itemOf(item)
		return !strings.HasPrefix(name, set) || resource != "machines.cluster.x-k8s.io" && !strings.HasPrefix(resource, "vsphere")
	}
	for name, at := range map[string]time.Time{
		"when it was written": backuptest.Written,
		"2000":                time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		"1970":                time.Unix(0, 0),
		"after year 9999":     time.Unix(1e12, 0),
	} {
		t.Run(name, func(t *testing.T) {
			w := fleet(t)
			w.backups = []string{w.packed("again", at, keep)}
			if _, err := w.vcenter.Clone(set+"dm6x8", lab.CloneSpec{Name: set + "xwvtz", Created: backuptest.Written.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			o := w.detect("--skip-access-apiserver")
			o.demand(t, cli.ExitOK)
			young, old := 0, 0
			for _, c := range o.report.Clusters {
				for _, m := range machinesOf(c) {
					if m.Instance == nil || !strings.HasPrefix(m.Instance.Name, set) {
						continue
					}
					want := "Unknown"
					if m.Instance.Created.After(backuptest.Written.Add(30 * time.Minute)) {
						if young++; at.Equal(backuptest.Written) {
							want = "Ghost"
						}
					} else {
						old++
					}
					if string(m.Status) != want {
						t.Errorf("VM %s is %s (%s), want %s", m.Instance.Name, m.Status, m.Reason, want)
					}
				}
			}
			if young != 1 || old != 6 {
				t.Errorf("%d VMs younger and %d older than the backup", young, old)
			}
		})
	}
}

// Two days' backups of one management cluster are refused, also as k0rdent
// makes them: a machine that was deleted meanwhile would be Stale.
func TestTwoDaysAreRefused(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	k0rdent := func(item string) bool {
		resource, _ := itemOf(item)
		return resource != "clusters.cluster.x-k8s.io" && !strings.Contains(item, "/cluster/kube-system.json")
	}
	monday := w.packed("monday", backuptest.Written.Add(-24*time.Hour), k0rdent)
	tuesday := w.packed("tuesday", backuptest.Written, func(item string) bool {
		_, name := itemOf(item)
		return k0rdent(item) && name != "alpha-prod-md-0-cjzhw-dm6x8"
	})
	w.backups = []string{tuesday, monday}
	o := w.detect("--skip-access-apiserver")
	o.demand(t, cli.ExitUsage)
	if o.report != nil || !strings.Contains(o.stderr, "monday.tar.gz: a backup of the same management cluster as ") ||
		!strings.Contains(o.stderr, "both hold a Machine with the same uid") || !strings.Contains(o.stderr, "drift-detector diff") {
		t.Errorf("stderr %q, report %v", o.stderr, o.report != nil)
	}
}

// What is too long to be kept is reported and makes no verdict; a file that is small
// and asks for much memory is refused in one line.
func TestSmallFilesThatAskForMuch(t *testing.T) {
	machine := func(i, size int) map[string]any {
		return map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
			"metadata": map[string]any{"namespace": "ns", "name": fmt.Sprintf("m%04d", i)},
			"spec":     map[string]any{"clusterName": "c", "infrastructureRef": map[string]any{"kind": "K", "name": "n"}, "providerID": fmt.Sprintf("%d", i) + strings.Repeat("x", size)},
		}
	}
	dir := t.TempDir()
	run := func(b *backuptest.Tarball) (outcome, string) {
		file := filepath.Join(dir, "small.tar.gz")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, dir: dir}
		return w.run("--backup", file, "--skip-access-apiserver"), file
	}

	long := backuptest.New()
	for i := range 3 {
		long.AddAt("machines.cluster.x-k8s.io", "", machine(i, 1<<20))
	}
	o, _ := run(long.AddAt("machines.cluster.x-k8s.io", "", machine(3, 10)))
	read := 0
	for _, e := range o.report.Errors {
		if strings.Contains(e.Message, "spec.providerID is longer than 65536 bytes") {
			read++
		}
	}
	if n := len(byStatus(o.report, "Unknown")); n != 1 || o.report.Summary.Machines.Total != 1 || read != 3 {
		t.Errorf("%d Unknown of %d machines, %d errors: %+v", n, o.report.Summary.Machines.Total, read, o.report.Errors)
	}

	many := backuptest.New()
	for i := range 3000 {
		many.AddAt("machines.cluster.x-k8s.io", "", machine(i, 60_000))
	}
	o, file := run(many)
	o.demand(t, cli.ExitUsage)
	if !strings.Contains(o.stderr, file+": what it says about clusters and machines needs more than 1") || strings.Count(o.stderr, "\n") > 1 || o.report != nil {
		t.Errorf("stderr %q", o.stderr)
	}
}

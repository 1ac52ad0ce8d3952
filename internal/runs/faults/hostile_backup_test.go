package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// A tarball that was packed again under an old time does not make VMs younger
// than the backup: those whose machines it lacks stay Unknown, also one that is
// younger than everything in it.
func TestPackedAgain(t *testing.T) {
	t.Parallel()
	const set = "alpha-prod-md-0-cjzhw-"
	keep := func(item string) bool {
		resource, name := runs.ItemOf(item)
		return !strings.HasPrefix(name, set) || resource != "machines.cluster.x-k8s.io" && !strings.HasPrefix(resource, "vsphere")
	}
	for name, at := range map[string]time.Time{
		"when it was written": backuptest.Written,
		"2000":                time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		"1970":                time.Unix(0, 0),
		"after year 9999":     time.Unix(1e12, 0),
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Fleet(t)
			w.Backups = []string{w.Packed("again", at, keep)}
			if _, err := w.VCenter.Clone(set+"dm6x8", lab.CloneSpec{Name: set + "xwvtz", Created: backuptest.Written.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			o := w.Detect("--skip-access-apiserver")
			o.Demand(t, cli.ExitOK)
			young, old := 0, 0
			for _, c := range o.Report.Clusters {
				for _, m := range runs.MachinesOf(c) {
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
	w := runs.Fleet(t)
	k0rdent := func(item string) bool {
		resource, _ := runs.ItemOf(item)
		return resource != "clusters.cluster.x-k8s.io" && !strings.Contains(item, "/cluster/kube-system.json")
	}
	monday := w.Packed("monday", backuptest.Written.Add(-24*time.Hour), k0rdent)
	tuesday := w.Packed("tuesday", backuptest.Written, func(item string) bool {
		_, name := runs.ItemOf(item)
		return k0rdent(item) && name != "alpha-prod-md-0-cjzhw-dm6x8"
	})
	w.Backups = []string{tuesday, monday}
	o := w.Detect("--skip-access-apiserver")
	o.Demand(t, cli.ExitUsage)
	if o.Report != nil || !strings.Contains(o.Stderr, "monday.tar.gz: a backup of the same management cluster as ") ||
		!strings.Contains(o.Stderr, "both hold a Machine with the same uid") || !strings.Contains(o.Stderr, "drift-detector diff") {
		t.Errorf("stderr %q, report %v", o.Stderr, o.Report != nil)
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
	run := func(b *backuptest.Tarball) (runs.Outcome, string) {
		file := filepath.Join(dir, "small.tar.gz")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		w := &runs.World{T: t, Dir: dir}
		return w.Run("--backup", file, "--skip-access-apiserver"), file
	}

	long := backuptest.New()
	for i := range 3 {
		long.AddAt("machines.cluster.x-k8s.io", "", machine(i, 1<<20))
	}
	o, _ := run(long.AddAt("machines.cluster.x-k8s.io", "", machine(3, 10)))
	read := 0
	for _, e := range o.Report.Errors {
		if strings.Contains(e.Message, "spec.providerID is longer than 65536 bytes") {
			read++
		}
	}
	if n := len(runs.ByStatus(o.Report, "Unknown")); n != 1 || o.Report.Summary.Machines.Total != 1 || read != 3 {
		t.Errorf("%d Unknown of %d machines, %d errors: %+v", n, o.Report.Summary.Machines.Total, read, o.Report.Errors)
	}

	many := backuptest.New()
	for i := range 3000 {
		many.AddAt("machines.cluster.x-k8s.io", "", machine(i, 60_000))
	}
	o, file := run(many)
	o.Demand(t, cli.ExitUsage)
	if !strings.Contains(o.Stderr, file+": what it says about clusters and machines needs more than 1") || strings.Count(o.Stderr, "\n") > 1 || o.Report != nil {
		t.Errorf("stderr %q", o.Stderr)
	}
}

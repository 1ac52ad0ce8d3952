package vsphere_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
)

// A VM whose whole group is missing from the backup is no Ghost: that all groups
// in the backup are whole says nothing about one that is not in it.
func TestAGroupThatTheBackupLacks(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	all := w.Detect()
	w.Edited("no-group", func(item string, body []byte) ([]byte, bool) {
		_, name := runs.ItemOf(item)
		return body, !strings.HasPrefix(name, "alpha-prod-md-1")
	})
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.Detect(args...)
		runs.NothingNew(t, all.Report, o.Report)
		seen := 0
		for _, c := range o.Report.Clusters {
			for _, m := range runs.MachinesOf(c) {
				if m.Instance != nil && strings.HasPrefix(m.Instance.Name, "alpha-prod-md-1") {
					seen++
					if m.Status != code.Unknown || m.Reason != "MachineNotInBackup" {
						t.Errorf("%v: %s is %s %s", args, m.Instance.Name, m.Status, m.Reason)
					}
				}
			}
		}
		if seen == 0 && len(args) == 0 {
			t.Error("no VM of the group is reported of")
		}
	}
}

// Members of pools that a filter left out of the backup are no Ghosts.
func TestPoolsThatTheBackupLacks(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	all := w.Detect()
	w.Edited("no-pools", func(item string, body []byte) ([]byte, bool) {
		resource, _ := runs.ItemOf(item)
		return body, !strings.Contains(resource, "machinepools")
	})
	runs.NothingNew(t, all.Report, w.Detect().Report)
}

// Whoever administers a workload cluster can make a Node that names any VM. That
// alone makes no Ghost, and no line of a plan that destroys.
func TestANodeThatNamesSomebodyElsesVM(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	saved := filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...)
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := infra.ReadInventory(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	const victim = "DC0_H0_VM0"
	var keys []infra.Key
	ref := ""
	for _, l := range inv.Listings {
		for _, i := range l.Instances {
			if i.Name == victim {
				ref = i.Ref
			}
			for _, k := range i.Keys {
				if i.Name == victim && k.Value == i.ID {
					keys = []infra.Key{k}
				}
			}
		}
	}
	id := backup.ClusterID{Namespace: "tenant-alpha", Name: "alpha-prod"}
	forged := 0
	for i := range inv.Listings {
		if l := &inv.Listings[i]; slices.Contains(l.Clusters, id) && l.NodeState == "read" {
			forged++
			l.Nodes = append(l.Nodes, infra.Node{
				Cluster: id, Name: victim, Keys: keys, Ready: true, Heartbeat: l.ListedAt,
				Machine: victim, ClusterName: id.Name, ClusterNamespace: id.Namespace, OwnerKind: "MachineSet", OwnerName: "alpha-prod-md-0-cjzhw",
			})
		}
	}
	if keys == nil || forged != 1 {
		t.Fatalf("keys %v, %d Node lists", keys, forged)
	}
	var out bytes.Buffer
	if err := infra.WriteInventory(&out, inv); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(saved, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.Run("--backup", w.Backups[0], "--inventory", saved)
	if status, reason, found := runs.VerdictOf(o.Report, victim); !found || status != "" || reason != "ForeignNode" {
		t.Errorf("%s is %q %s, found %v", victim, status, reason, found)
	}
	file := filepath.Join(w.Dir, "forged.json")
	if err := os.WriteFile(file, o.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	destroyed := map[bool]int{} // lines that destroy, by whether they are about the victim
	for _, format := range []string{"markdown", "shell"} {
		for line := range strings.Lines(runs.Run(t, "plan", file, "--format", format).Stdout) {
			if strings.Contains(line, "vm.destroy") || strings.Contains(line, "vm.power") {
				destroyed[strings.Contains(line, "VirtualMachine:"+ref)]++
			}
		}
	}
	if destroyed[true] > 0 || destroyed[false] == 0 {
		t.Errorf("%d lines that destroy are about %s, %d about others", destroyed[true], ref, destroyed[false])
	}
}

// A VM that can't be read may be anybody's: it is to be confirmed, and the run
// says that it did not see everything. It does not vanish among the VMs that
// concern no cluster.
func TestAnUnreadableVMDoesNotVanish(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alpha-prod-md-0-cjzhw-68lpw", "jumphost-01"} {
		w := runs.Fleet(t)
		before := w.Detect()
		ref := ""
		for _, vm := range w.VCenter.VMs() {
			if vm.Name == name {
				ref = vm.Ref
			}
		}
		if err := w.VCenter.Deny(name); err != nil {
			t.Fatal(err)
		}
		o := w.Detect()
		o.Demand(t, cli.ExitIncomplete)
		runs.NoWorse(t, before.Report, o.Report)
		if status, reason, found := runs.VerdictOf(o.Report, ref); !found || status != "" || reason != "InstanceUnreadable" {
			t.Errorf("%s is %q %s, found %v", name, status, reason, found)
		}
		if a, b := before.Report.Summary.OutOfScope, o.Report.Summary.OutOfScope; a != b {
			t.Errorf("%d VMs were out of scope, and %d are", a, b)
		}
		if first := runs.ErrorLines(o.Stderr)[0]; !strings.Contains(first, ref) {
			t.Errorf("the first error line does not name it: %s", first)
		}
	}
}

// vCenter remembers the configuration of a VM that was unregistered or deleted on
// its host (govmomi v0.54, vim25/types/enum.go, orphaned): that the id is there
// says nothing about the VM.
func TestAnOrphanedVM(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	const name = "alpha-prod-md-0-cjzhw-dm6x8"
	for _, e := range w.VCenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == name {
			vm.Runtime.ConnectionState = types.VirtualMachineConnectionStateOrphaned
			vm.Summary.Runtime.ConnectionState = types.VirtualMachineConnectionStateOrphaned
		}
	}
	o := w.Detect("--skip-access-apiserver")
	if status, reason, _ := runs.VerdictOf(o.Report, name); status != code.Unknown || reason != "InstanceUnreadable" {
		t.Errorf("%s is %s %s", name, status, reason)
	}
}

// A dead VM of somebody else in a folder of the clusters has a name that is no
// machine's: it is listed, and is no reason to call every night's run incomplete.
func TestAnInaccessibleNeighbour(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	const name = "old-iso-builder"
	if _, err := w.VCenter.Clone("alpha-prod-md-0-cjzhw-dm6x8", lab.CloneSpec{Name: name}); err != nil {
		t.Fatal(err)
	}
	if err := w.VCenter.SetConnection(name, types.VirtualMachineConnectionStateInaccessible); err != nil {
		t.Fatal(err)
	}
	o := w.Detect()
	o.Demand(t, cli.ExitOK)
	if status, reason, found := runs.VerdictOf(o.Report, name); !found || status != "" || reason != "InstanceUnreadable" {
		t.Errorf("it is %q %s, found %v", status, reason, found)
	}
}

// A name like those of a cluster's machines is no evidence where the VM itself says
// that it is somebody else's: it joins the API of another cluster, has another host
// name, or was never given one by CAPV.
func TestNamesThatTheVMContradicts(t *testing.T) {
	t.Parallel()
	metadata := func(host string) string { return "instance-id: \"" + host + "\"\nlocal-hostname: \"" + host + "\"\n" }
	joins := func(endpoint string) string {
		return "#cloud-config\nwrite_files:\n- content: |\n    discovery:\n      bootstrapToken:\n        apiServerEndpoint: " + endpoint + "\n"
	}
	w := runs.Fleet(t)
	for name, data := range map[string]map[string]string{
		"alpha-prod-md-0-xbz42-tgmq7": {"metadata": metadata("alpha-prod-md-0-xbz42-tgmq7"), "userdata": joins("10.99.99.99:6443")},
		"alpha-prod-bcdfg":            {"metadata": metadata("alpha-prod-bcdfg"), "userdata": joins("10.99.99.99:6443")},
		"alpha-prod-md-0-cjzhw-bcdfg": {"metadata": metadata("other-prod-md-0-zzzzz-zzzzz")},
		"alpha-prod-mssql":            nil, // words of letters that suffixes are made of
		"alpha-prod-https":            nil,
	} {
		if _, err := w.VCenter.Clone("alpha-prod-md-0-cjzhw-dm6x8", lab.CloneSpec{Name: name, Created: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
		w.Bootstrapped(name, data)
		if name == "alpha-prod-https" {
			if err := w.VCenter.SetPower(name, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := w.Detect("--skip-access-apiserver")
	for name, want := range map[string][2]string{
		"alpha-prod-md-0-xbz42-tgmq7": {"", "InClusterFolder"},
		"alpha-prod-bcdfg":            {"", "InClusterFolder"},
		"alpha-prod-md-0-cjzhw-bcdfg": {"", "InClusterFolder"},
		"alpha-prod-mssql":            {"", "InClusterFolder"},
		// One that is off may have been cloned and not been given its metadata yet.
		// It is to be confirmed like the others.
		"alpha-prod-https": {"", "InClusterFolder"},
	} {
		if status, reason, found := runs.VerdictOf(o.Report, name); !found || string(status) != want[0] || reason != want[1] {
			t.Errorf("%s is %q %s, found %v; want %q %s", name, status, reason, found, want[0], want[1])
		}
	}
}

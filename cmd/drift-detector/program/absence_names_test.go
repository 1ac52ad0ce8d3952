package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// managed puts a VM under the care of an extension of vCenter, as products that
// replicate or restore VMs do.
func (w *world) managed(name string) {
	w.t.Helper()
	for _, e := range w.vcenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == name {
			config := *vm.Config
			config.ManagedBy = &types.ManagedByInfo{ExtensionKey: "com.vmware.vcDr", Type: "vm"}
			vm.Config = &config
			return
		}
	}
	w.t.Fatalf("no VM %s", name)
}

// A kubelet that reports that its Node is not ready (the network of containers is down)
// runs as much as one that is ready. Of one that is not heard any more the control plane
// writes Unknown, with the heartbeat that it had.
func TestANodeThatReportsNotReadyIsAlive(t *testing.T) {
	for status, want := range map[string]string{"False": "Unknown NodeAlive", "True": "Unknown NodeAlive", "Unknown": "Stale InstanceNotFound"} {
		w := fleet(t)
		w.must(w.vcenter.Remove(likeWorker))
		w.serveNodes(func(c string, nodes []map[string]any) []map[string]any {
			for _, n := range alive(c, nodes) {
				for _, c := range n["status"].(map[string]any)["conditions"].([]any) {
					if c := c.(map[string]any); c["type"] == "Ready" {
						c["status"] = status
					}
				}
			}
			return nodes
		})
		w.detect().says(t, map[string]string{likeWorker: want})
	}
}

// longDeployment gives MachineDeployment alpha-prod-md-0 a name of n characters. Its
// MachineSet and machines keep theirs, as if it had been cut from an older one.
func (w *world) longDeployment(n int) (name string) {
	w.t.Helper()
	const short = "alpha-prod-md-0"
	name = short + "-" + strings.Repeat("x", n-len(short)-1)
	out := backuptest.NewFormat("")
	backuptest.Rewrite(w.t, w.backups[0], func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "tenant-alpha") {
			body = []byte(strings.ReplaceAll(string(body), `"`+short+`"`, `"`+name+`"`))
			item = strings.ReplaceAll(item, "/"+short+".json", "/"+name+".json")
		}
		out.Raw(item, body)
		return body, true
	})
	w.backups = []string{filepath.Join(w.dir, "long.tar.gz")}
	w.must(os.WriteFile(w.backups[0], out.Bytes(), 0o600))
	return name
}

// Cluster API cuts names to 58 characters before it adds five at random (internal/
// topology/names/names.go v1.14.0), first for the MachineSet and again for its machines:
// of the MachineSet's own suffix four characters to none are left. A rollout after the
// backup makes VMs of such names.
func TestGhostsOfMachineDeploymentsWithLongNames(t *testing.T) {
	generated := func(base string) string {
		base += "-"
		return base[:min(len(base), 58)]
	}
	for _, n := range []int{20, 52, 53, 56, 57, 58, 63} {
		w := fleet(t)
		vm := generated(generated(w.longDeployment(n))+"bcdfg") + "z2z4z"
		w.clone(likeWorker, lab.CloneSpec{Name: vm, Created: after(time.Hour)})
		w.detect("--skip-access-apiserver").says(t, map[string]string{vm: "Ghost", likeWorker: "Healthy"})
	}
}

// That a VM is a template, or managed by an extension of vCenter, says what was done to
// it, and not that it is nobody's machine.
func TestWhatIsLeftOutAndHasANameOfTheBackup(t *testing.T) {
	const managed, template, neither = setOfLike + "-bcdfg", setOfLike + "-ccccc", "ubuntu-2404"
	w := fleet(t)
	for _, name := range []string{managed, template, neither} {
		w.clone(likeWorker, lab.CloneSpec{Name: name, Created: after(time.Hour)})
	}
	w.managed(managed)
	w.must(w.vcenter.MarkAsTemplate(template))
	w.must(w.vcenter.MarkAsTemplate(neither))
	// Restored under another id by the product that manages it since.
	w.must(w.vcenter.SetUUIDs("gamma-edge-xk72k", "42000000-0000-4000-8000-000000000002", ""))
	w.managed("gamma-edge-xk72k")
	w.detect("--skip-access-apiserver").says(t, map[string]string{
		managed: "NameOnly", template: "NameOnly", neither: "nothing", "gamma-edge-xk72k": "Unknown IdentityChanged",
	})
}

// A VM that was moved to another vCenter of the backup is found there by a whole run. A
// run that was narrowed to its cluster does not ask that one, and says so.
func TestANarrowedRunSaysWhatItDidNotList(t *testing.T) {
	w := fleet(t)
	_, reach := w.secondVCenter("tenant-beta")
	w.must(w.vcenter.Remove(likeWorker))
	reach = append(reach, "--skip-access-apiserver")
	w.detect(reach...).says(t, map[string]string{likeWorker: "Unknown FoundElsewhere"})
	o := w.detect(append(reach, "--cluster", "alpha-prod")...)
	for _, c := range o.report.Clusters {
		for _, m := range machinesOf(c) {
			read := slices.ContainsFunc(m.Evidence, func(e report.Evidence) bool {
				return strings.Contains(e.Detail, "second.example") && strings.Contains(e.Detail, "was not listed")
			})
			if (m.Status == code.Stale) != read {
				t.Errorf("%s is %s, and its evidence is %v", m.Name, m.Status, m.Evidence)
			}
		}
	}
}

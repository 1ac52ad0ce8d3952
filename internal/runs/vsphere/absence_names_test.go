package vsphere_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// A kubelet that reports that its Node is not ready (the network of containers is down)
// runs as much as one that is ready. Of one that is not heard any more the control plane
// writes Unknown, with the heartbeat that it had.
func TestANodeThatReportsNotReadyIsAlive(t *testing.T) {
	for status, want := range map[string]string{"False": "Unknown NodeAlive", "True": "Unknown NodeAlive", "Unknown": "Stale InstanceNotFound"} {
		w := runs.Fleet(t)
		w.Ensure(w.VCenter.Remove(likeWorker))
		w.ServeNodes(func(c string, nodes []map[string]any) []map[string]any {
			for _, n := range runs.Alive(c, nodes) {
				for _, c := range n["status"].(map[string]any)["conditions"].([]any) {
					if c := c.(map[string]any); c["type"] == "Ready" {
						c["status"] = status
					}
				}
			}
			return nodes
		})
		w.Detect().Says(t, map[string]string{likeWorker: want})
	}
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
		w := runs.Fleet(t)
		vm := generated(generated(w.LongDeployment(n))+"bcdfg") + "z2z4z"
		w.Clone(likeWorker, lab.CloneSpec{Name: vm, Created: after(time.Hour)})
		w.Detect("--skip-access-apiserver").Says(t, map[string]string{vm: "Ghost", likeWorker: "Healthy"})
	}
}

// That a VM is a template, or managed by an extension of vCenter, says what was done to
// it, and not that it is nobody's machine.
func TestWhatIsLeftOutAndHasANameOfTheBackup(t *testing.T) {
	const managed, template, neither = setOfLike + "-bcdfg", setOfLike + "-ccccc", "ubuntu-2404"
	w := runs.Fleet(t)
	for _, name := range []string{managed, template, neither} {
		w.Clone(likeWorker, lab.CloneSpec{Name: name, Created: after(time.Hour)})
	}
	w.Managed(managed)
	w.Ensure(w.VCenter.MarkAsTemplate(template))
	w.Ensure(w.VCenter.MarkAsTemplate(neither))
	// Restored under another id by the product that manages it since.
	w.Ensure(w.VCenter.SetUUIDs("gamma-edge-xk72k", "42000000-0000-4000-8000-000000000002", ""))
	w.Managed("gamma-edge-xk72k")
	w.Detect("--skip-access-apiserver").Says(t, map[string]string{
		managed: "NameOnly", template: "NameOnly", neither: "nothing", "gamma-edge-xk72k": "Unknown IdentityChanged",
	})
}

// A VM that was moved to another vCenter of the backup is found there by a whole run. A
// run that was narrowed to its cluster does not ask that one, and says so.
func TestANarrowedRunSaysWhatItDidNotList(t *testing.T) {
	w := runs.Fleet(t)
	_, reach := w.SecondVCenter("tenant-beta")
	w.Ensure(w.VCenter.Remove(likeWorker))
	reach = append(reach, "--skip-access-apiserver")
	w.Detect(reach...).Says(t, map[string]string{likeWorker: "Unknown FoundElsewhere"})
	o := w.Detect(append(reach, "--cluster", "alpha-prod")...)
	for _, c := range o.Report.Clusters {
		for _, m := range runs.MachinesOf(c) {
			read := slices.ContainsFunc(m.Evidence, func(e report.Evidence) bool {
				return strings.Contains(e.Detail, "second.example") && strings.Contains(e.Detail, "was not listed")
			})
			if (m.Status == code.Stale) != read {
				t.Errorf("%s is %s, and its evidence is %v", m.Name, m.Status, m.Evidence)
			}
		}
	}
}

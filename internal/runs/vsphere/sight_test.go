package vsphere_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// A folder is seen, and none of the VMs in it: a role on the folder that is not
// propagated to its children.
func TestFolderWithoutItsVMs(t *testing.T) {
	t.Parallel()
	const folder = "/DC0/vm/capi/tenant-beta"
	w := runs.Fleet(t)
	before := w.Detect()
	if err := w.VCenter.HideVMs(folder); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.Detect(args...)
		o.Demand(t, cli.ExitIncomplete)
		runs.NoWorse(t, before.Report, o.Report)
		for _, c := range o.Report.Clusters {
			if c.Name != "beta-prod" {
				continue
			}
			for _, m := range runs.MachinesOf(c) {
				if seen := m.Instance != nil && !strings.HasPrefix(m.Instance.Path, folder+"/"); m.Status != "Unknown" && !seen {
					t.Errorf("%s is %s (%s: %s)", m.Name, m.Status, m.Reason, m.Message)
				}
			}
			there := slices.ContainsFunc(c.Resources, func(r report.Resource) bool {
				return r.Kind == "folder" && r.Name == folder && r.State == "present"
			})
			if !there {
				t.Errorf("the folder is there: %+v", c.Resources)
			}
		}
		if n := len(runs.ByStatus(o.Report, "Stale")); n == 0 {
			t.Error("the clusters of other folders lost their Stale verdicts")
		}
		if !strings.Contains(o.Stderr, folder) || !strings.Contains(o.Stderr, "propagation") {
			t.Errorf("stderr does not say what to do:\n%s", o.Stderr)
		}
	}
}

package program

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
)

// A folder is seen, and none of the VMs in it: a role on the folder that is not
// propagated to its children.
func TestFolderWithoutItsVMs(t *testing.T) {
	t.Parallel()
	const folder = "/DC0/vm/capi/tenant-beta"
	w := fleet(t)
	before := w.detect()
	if err := w.vcenter.HideVMs(folder); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--skip-access-apiserver"}} {
		o := w.detect(args...)
		o.demand(t, cli.ExitIncomplete)
		noWorse(t, before.report, o.report)
		for _, c := range o.report.Clusters {
			if c.Name != "beta-prod" {
				continue
			}
			for _, m := range machinesOf(c) {
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
		if n := len(byStatus(o.report, "Stale")); n == 0 {
			t.Error("the clusters of other folders lost their Stale verdicts")
		}
		if !strings.Contains(o.stderr, folder) || !strings.Contains(o.stderr, "propagation") {
			t.Errorf("stderr does not say what to do:\n%s", o.stderr)
		}
	}
}

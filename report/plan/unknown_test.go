package plan

import (
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// A plan that shows some of the VMs that may be a machine says how many there are.
func TestMoreVMsThanAreNamed(t *testing.T) {
	r := sample("alpha")
	m := plantest.Find(t, r, code.Unknown, "worker")
	m.Reason, m.Others, m.MoreOthers = "AmbiguousMatch", []report.Instance{*plantest.VSphereVM("copy", plantest.LivingID, 9)}, 1199
	if steps := stepsOf(t, r, code.Unknown, "worker"); !strings.Contains(steps[0].Text, "the first of 1200 VMs") {
		t.Errorf("%+v", steps)
	}
}

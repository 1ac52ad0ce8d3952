package plan

import (
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// A plan that shows some of the VMs that may be a machine says how many there are.
func TestMoreVMsThanAreNamed(t *testing.T) {
	r := sample("alpha")
	m := find(t, r, code.Unknown, "worker")
	m.Reason, m.Others, m.MoreOthers = "AmbiguousMatch", []report.Instance{*vsphereVM("copy", livingID, 9)}, 1199
	if steps := stepsOf(t, r, code.Unknown, "worker"); !strings.Contains(steps[0].Text, "the first of 1200 VMs") {
		t.Errorf("%+v", steps)
	}
}

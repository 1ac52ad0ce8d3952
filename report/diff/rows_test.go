package diff

import (
	"testing"

	"drift-detector/report/code"
)

// What was not seen is no better than it was.
func TestVerdictOfAnIncompleteReport(t *testing.T) {
	d := Diff{Old: Side{Status: code.ManualRemediationRequired, Complete: true}, New: Side{Status: code.NeedFurtherConfirmation}}
	for complete, want := range map[bool]string{true: ", better", false: ", which says nothing: the new report is incomplete"} {
		d.New.Complete = complete
		if got := d.verdict(func(s string) string { return s }, " -> "); got != "ManualRemediationRequired -> NeedFurtherConfirmation"+want {
			t.Errorf("complete %t: %s", complete, got)
		}
	}
}

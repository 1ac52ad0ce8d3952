package main

import (
	"errors"
	"testing"

	"drift-detector/report"
)

// What rules set aside does not fail a run, of each kind that they can set aside.
func TestFailOnCountsWhatIsOpen(t *testing.T) {
	t.Parallel()
	r := &report.Report{}
	r.Summary.Machines = report.MachineCounts{Total: 6, Ghost: 2, Stale: 2, Unknown: 2}
	r.Summary.InfraMachines, r.Summary.IgnoredInfraMachines = 3, 3
	r.Summary.IgnoredMachines = &r.Summary.Machines
	all := failOn{"ghost", "stale", "unknown", "unattributed"}
	if err := all.verdict(r); err != nil {
		t.Errorf("all is set aside, and it fails: %v", err)
	}
	r.Summary.IgnoredInfraMachines = 1
	r.Summary.IgnoredMachines = &report.MachineCounts{Total: 3, Ghost: 1, Stale: 1, Unknown: 1}
	var found *errFailOn
	want := "--fail-on ghost,stale,unknown,unattributed: found ghost: 1, stale: 1, unknown: 1, unattributed: 2"
	if err := all.verdict(r); !errors.As(err, &found) || found.message != want {
		t.Errorf("%v, want %s", err, want)
	}
}

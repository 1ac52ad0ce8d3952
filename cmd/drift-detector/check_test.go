package main

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
)

// untimed are the checks without those that tell the age of the backup, which
// changes between two runs.
func untimed(all []report.Check) []report.Check {
	return slices.DeleteFunc(slices.Clone(all), func(c report.Check) bool { return strings.HasPrefix(c.Code, "Backup") })
}

// TestDetectChecks holds that a report tells of the backup what the check
// command tells, live and from a saved inventory, and that its text does.
func TestDetectChecks(t *testing.T) {
	w := fleet(t)
	o := w.detect()
	o.demand(t, exitOK)
	if !strings.Contains(o.stdout, "\nTHE BACKUP (") || !strings.Contains(o.stdout, "VSphereClusterIdentity vcenter-shared: not in the backup") {
		t.Error("the text says nothing about the backup")
	}
	alone := runProgram(t, slices.Concat([]string{"check"}, w.sources(), []string{"--format", "json"})...)
	alone.demand(t, exitOK)
	var doc report.Readiness
	if err := json.Unmarshal([]byte(alone.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	want := untimed(doc.Checks)
	if len(want) < 20 || !reflect.DeepEqual(untimed(o.report.Checks), want) {
		t.Errorf("detect has %d checks, check has %d", len(untimed(o.report.Checks)), len(want))
	}
	saved := w.dir + "/saved.json"
	runProgram(t, slices.Concat([]string{"inventory"}, w.sources(), w.reach(), []string{"-o", saved})...).demand(t, exitOK)
	offline := runProgram(t, slices.Concat([]string{"detect"}, w.sources(), []string{"--inventory", saved, "-o", "-"})...)
	offline.demand(t, exitOK)
	var rep report.Report
	if err := json.Unmarshal([]byte(offline.stdout), &rep); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(untimed(rep.Checks), want) {
		t.Errorf("detect has %d checks without network, check has %d", len(untimed(rep.Checks)), len(want))
	}
}

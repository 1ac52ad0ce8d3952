package junit

import (
	"bytes"
	"testing"

	"drift-detector/report"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
)

// What is to be confirmed fails only where --fail-on of the run names it.
func TestToConfirmIsSkippedUnlessNamed(t *testing.T) {
	r := &report.Report{InfraMachines: []report.InfraMachine{{Instance: report.Instance{Name: "jumphost", ID: "1"}, Reason: "InClusterFolder"}}}
	r.Summary.InfraMachines = 1
	for _, c := range []struct {
		failOn []string
		want   string
	}{{nil, "skipped Unattributed"}, {[]string{"ghost"}, "skipped Unattributed"}, {[]string{"ghost", "unattributed"}, "failure Unattributed"}} {
		r.Options.FailOn = c.failOn
		doc := read(t, written(t, r))
		if got := tally(&doc.Suites[len(doc.Suites)-2]); got[c.want] != 1 || got["passed"] != 0 {
			t.Errorf("--fail-on %v: %v, want %s", c.failOn, got, c.want)
		}
	}
}

// A danger is not a pass: deleting the Machine of a doubled VM can destroy both.
func TestDangerOfAHealthyMachineFails(t *testing.T) {
	for reason, want := range map[string]string{"DuplicateID": "failure DuplicateID", "Template": "failure Template", "Renamed": "passed"} {
		m := report.Machine{Name: "m", Status: code.Healthy, Warnings: []report.Warning{{Reason: "Moved", Message: "elsewhere"}, {Reason: code.Reason(reason), Message: "look"}}}
		r := &report.Report{Clusters: []report.Cluster{{Namespace: "a", Name: "b", ControlPlane: report.ControlPlane{Machines: []report.Machine{m}}}}}
		doc := read(t, written(t, r))
		if got := tally(&doc.Suites[1]); got[want] != 1 {
			t.Errorf("%s: %v, want %s", reason, got, want)
		}
		m.Ignored = &report.Ignored{Reason: "known"}
		r.Clusters[0].ControlPlane.Machines[0] = m
		doc = read(t, written(t, r))
		if got := tally(&doc.Suites[1]); got["skipped"] != 1 {
			t.Errorf("%s set aside: %v", reason, got)
		}
	}
}

// Every check is a test of its own, in the report and in what check writes.
func TestChecksAreTests(t *testing.T) {
	ready := buildtest.Readiness()
	ready.Checks = append(ready.Checks, report.Check{Severity: report.CheckError, Code: "X", Object: "y", Message: "m\x1b", Why: "w", Do: "d", Ignored: &report.Ignored{Reason: "known"}})
	ready.Summary = report.CountChecks(ready.Checks)
	var b bytes.Buffer
	if err := Readiness(&b, ready); err != nil {
		t.Fatal(err)
	}
	doc := read(t, b.Bytes())
	r := &report.Report{Checks: ready.Checks}
	for name, got := range map[string]map[string]int{"check": tally(&doc.Suites[1]), "report": tally(&read(t, written(t, r)).Suites[1])} {
		open := report.OpenChecks(ready.Checks)
		if got["failures"] != open.Errors || got["passed"] != open.Warnings+open.Infos || got["skipped"] != 1 || open.Errors == 0 {
			t.Errorf("%s: %v of %+v", name, got, open)
		}
	}
	if got := tally(&doc.Suites[0]); got["failure NotFit"] != 1 {
		t.Errorf("the answer: %v", got)
	}
}

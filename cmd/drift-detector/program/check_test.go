package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
)

// untimed returns the checks without those that tell the age of the backup, which
// changes between two runs.
func untimed(all []report.Check) []report.Check {
	return slices.DeleteFunc(slices.Clone(all), func(c report.Check) bool { return strings.HasPrefix(string(c.Code), "Backup") })
}

// TestDetectChecks holds that a report tells of the backup what the check
// command tells, live and from a saved inventory, and that its text does.
func TestDetectChecks(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	o := w.detect()
	o.demand(t, cli.ExitOK)
	if !strings.Contains(o.stdout, "\nTHE BACKUP (") || !strings.Contains(o.stdout, "VSphereClusterIdentity vcenter-shared: not in the backup") {
		t.Error("the text says nothing about the backup")
	}
	alone := runProgram(t, slices.Concat([]string{"check"}, w.sources(), []string{"--format", "json"})...)
	alone.demand(t, cli.ExitOK)
	var doc report.Readiness
	if err := json.Unmarshal([]byte(alone.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	want := untimed(doc.Checks)
	if len(want) < 20 || !reflect.DeepEqual(untimed(o.report.Checks), want) {
		t.Errorf("detect has %d checks, check has %d", len(untimed(o.report.Checks)), len(want))
	}
	saved := w.dir + "/saved.json"
	runProgram(t, slices.Concat([]string{"inventory"}, w.sources(), w.reach(), []string{"-o", saved})...).demand(t, cli.ExitOK)
	offline := runProgram(t, slices.Concat([]string{"detect"}, w.sources(), []string{"--inventory", saved, "-o", "-"})...)
	offline.demand(t, cli.ExitOK)
	var rep report.Report
	if err := json.Unmarshal([]byte(offline.stdout), &rep); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(untimed(rep.Checks), want) {
		t.Errorf("detect has %d checks without network, check has %d", len(untimed(rep.Checks)), len(want))
	}
}

// With some clusters asked for, what concerns only others is nowhere: not in the report,
// not in what fails the run, not in the plan.
func TestChecksOfTheClustersThatAreAskedFor(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	w.detect("--fail-on", "check").demand(t, cli.ExitFailOn)
	o := w.detect("--cluster", "alpha-prod", "--fail-on", "check")
	o.demand(t, cli.ExitOK)
	for _, other := range []string{"alpha-dev", "beta-prod", "gamma-edge", "aws-prod", "vcenter-shared"} {
		for _, c := range o.report.Checks {
			if strings.Contains(c.Object+c.Message, other) || slices.ContainsFunc(c.Clusters, func(name string) bool { return strings.HasSuffix(name, "/"+other) }) {
				t.Errorf("%s %s: %s, of %v", c.Code, c.Object, c.Message, c.Clusters)
			}
		}
		for _, m := range o.report.Backups[0].Missing {
			if strings.Contains(m.Name+m.ReferredBy, other) {
				t.Errorf("missing is %s %s", m.Kind, m.Name)
			}
		}
	}
	if len(o.report.Checks) < 5 {
		t.Errorf("%d checks are left", len(o.report.Checks))
	}
	file := filepath.Join(w.dir, "alpha.json")
	if err := os.WriteFile(file, o.json, 0o600); err != nil {
		t.Fatal(err)
	}
	plan := runProgram(t, "plan", file)
	plan.demand(t, cli.ExitOK)
	if strings.Contains(plan.stdout, "beta-prod") || strings.Contains(plan.stdout, "vcenter-shared") {
		t.Errorf("the plan speaks of other clusters:\n%s", plan.stdout)
	}
	beta := w.detect("--namespace", "tenant-beta", "--fail-on", "check")
	beta.demand(t, cli.ExitFailOn)
	if !slices.ContainsFunc(beta.report.Checks, func(c report.Check) bool { return c.Code == "IdentityAbsent" }) {
		t.Error("what concerns the cluster that was asked for is left out")
	}
}

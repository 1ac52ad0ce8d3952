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
	"drift-detector/internal/runs"
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
	w := runs.Fleet(t)
	o := w.Detect()
	o.Demand(t, cli.ExitOK)
	if !strings.Contains(o.Stdout, "\nTHE BACKUP (") || !strings.Contains(o.Stdout, "VSphereClusterIdentity vcenter-shared: not in the backup") {
		t.Error("the text says nothing about the backup")
	}
	alone := runs.Run(t, slices.Concat([]string{"check"}, w.Sources(), []string{"--format", "json"})...)
	alone.Demand(t, cli.ExitOK)
	var doc report.Readiness
	if err := json.Unmarshal([]byte(alone.Stdout), &doc); err != nil {
		t.Fatal(err)
	}
	want := untimed(doc.Checks)
	if len(want) < 20 || !reflect.DeepEqual(untimed(o.Report.Checks), want) {
		t.Errorf("detect has %d checks, check has %d", len(untimed(o.Report.Checks)), len(want))
	}
	saved := w.Dir + "/saved.json"
	runs.Run(t, slices.Concat([]string{"inventory"}, w.Sources(), w.Reach(), []string{"-o", saved})...).Demand(t, cli.ExitOK)
	offline := runs.Run(t, slices.Concat([]string{"detect"}, w.Sources(), []string{"--inventory", saved, "-o", "-"})...)
	offline.Demand(t, cli.ExitOK)
	var rep report.Report
	if err := json.Unmarshal([]byte(offline.Stdout), &rep); err != nil {
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
	w := runs.Fleet(t)
	w.Detect("--fail-on", "check").Demand(t, cli.ExitFailOn)
	o := w.Detect("--cluster", "alpha-prod", "--fail-on", "check")
	o.Demand(t, cli.ExitOK)
	for _, other := range []string{"alpha-dev", "beta-prod", "gamma-edge", "aws-prod", "vcenter-shared"} {
		for _, c := range o.Report.Checks {
			if strings.Contains(c.Object+c.Message, other) || slices.ContainsFunc(c.Clusters, func(name string) bool { return strings.HasSuffix(name, "/"+other) }) {
				t.Errorf("%s %s: %s, of %v", c.Code, c.Object, c.Message, c.Clusters)
			}
		}
		for _, m := range o.Report.Backups[0].Missing {
			if strings.Contains(m.Name+m.ReferredBy, other) {
				t.Errorf("missing is %s %s", m.Kind, m.Name)
			}
		}
	}
	if len(o.Report.Checks) < 5 {
		t.Errorf("%d checks are left", len(o.Report.Checks))
	}
	file := filepath.Join(w.Dir, "alpha.json")
	if err := os.WriteFile(file, o.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	plan := runs.Run(t, "plan", file)
	plan.Demand(t, cli.ExitOK)
	if strings.Contains(plan.Stdout, "beta-prod") || strings.Contains(plan.Stdout, "vcenter-shared") {
		t.Errorf("the plan speaks of other clusters:\n%s", plan.Stdout)
	}
	beta := w.Detect("--namespace", "tenant-beta", "--fail-on", "check")
	beta.Demand(t, cli.ExitFailOn)
	if !slices.ContainsFunc(beta.Report.Checks, func(c report.Check) bool { return c.Code == "IdentityAbsent" }) {
		t.Error("what concerns the cluster that was asked for is left out")
	}
}

package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// For every cluster of the lab the report on it alone says of it what the whole
// report says; no API server of another cluster is asked, and vCenter once.
func TestOneClusterOfTheLab(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	whole := w.Detect()
	whole.Demand(t, cli.ExitOK)
	for i := range whole.Report.Clusters {
		c := &whole.Report.Clusters[i]
		before, logins := map[string]int{}, w.VCenter.Logins().OK
		for _, other := range whole.Report.Clusters {
			before[other.Name] = w.Nodes.Asked(other.Name)
		}
		one := w.Detect("--cluster", c.Title())
		one.Demand(t, cli.ExitOK)
		if len(one.Report.Clusters) != 1 || !reflect.DeepEqual(one.Report.Clusters[0], *c) {
			t.Errorf("%s alone is not what it is among all", c.Title())
		}
		if s := one.Report.Summary; s.Machines != c.Counts && !c.Self || len(one.Report.Scopes) > 1 {
			t.Errorf("%s alone: %+v, scopes %+v", c.Title(), s.Machines, one.Report.Scopes)
		}
		for name, n := range before {
			if name != c.Name && w.Nodes.Asked(name) != n {
				t.Errorf("with --cluster %s the API server of %s was asked", c.Title(), name)
			}
		}
		if want := logins; c.Provider == "vsphere" {
			if want++; w.VCenter.Logins().OK != want {
				t.Errorf("%s: %d logins, want %d", c.Title(), w.VCenter.Logins().OK, want)
			}
		} else if w.VCenter.Logins().OK != want {
			t.Errorf("vCenter was called for %s", c.Title())
		}
		for _, m := range one.Report.InfraMachines {
			if !slices.ContainsFunc(whole.Report.InfraMachines, func(o report.InfraMachine) bool { return reflect.DeepEqual(o, m) }) {
				t.Errorf("%s alone: %s (%s) is to be confirmed, and was not among all", c.Title(), m.Instance.Name, m.Reason)
			}
		}
	}
}

// Who narrows a run hears of the credentials that it uses, and of no other.
func TestNarrowedRunAnnouncesWhatItUses(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	for cluster, others := range map[string][]string{
		"aws-prod":  {"vCenter ", "alpha-prod", "beta-prod"},
		"beta-prod": {"AWS region", "alpha-prod-kubeconfig", "aws-prod-kubeconfig"},
	} {
		o := w.Detect("--cluster", cluster)
		if !strings.Contains(o.Stderr, "for the API server ") || !strings.Contains(o.Stderr, cluster) {
			t.Errorf("%s: nothing is announced:\n%s", cluster, o.Stderr)
		}
		for _, other := range others {
			if strings.Contains(o.Stderr, other) {
				t.Errorf("%s: %q is announced:\n%s", cluster, other, o.Stderr)
			}
		}
	}
}

// The checks of a report on one cluster are about no other, and neither is what it says
// is missing. A check of a whole backup is in each, and concerns no cluster.
func TestNarrowedReportHasNoChecksOfOtherClusters(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	whole := w.Detect()
	for i := range whole.Report.Clusters {
		c := &whole.Report.Clusters[i]
		o := w.Detect("--cluster", c.Title(), "--fail-on", "check")
		for _, check := range o.Report.Checks {
			if len(check.Clusters) > 0 && !slices.Contains(check.Clusters, c.Namespace+"/"+c.Name) {
				t.Errorf("--cluster %s: %s is about %v", c.Title(), check.Code, check.Clusters)
			}
		}
		// The identity of one is not in the backup, and the credential of the other.
		lacks := c.Name == "beta-prod" || c.Name == "aws-prod"
		if fails := o.Report.CheckErrors() > 0; fails && !lacks || fails != (o.Code == cli.ExitFailOn) {
			t.Errorf("--cluster %s --fail-on check: status %d, %d errors of checks", c.Title(), o.Code, o.Report.CheckErrors())
		}
		said := fmt.Sprint(o.Report.Checks)
		for i := range o.Report.Backups {
			said += fmt.Sprint(o.Report.Backups[i].Missing)
		}
		for _, other := range whole.Report.Clusters {
			if other.Name != c.Name && strings.Contains(said, other.Namespace+"/"+other.Name) {
				t.Errorf("--cluster %s: a check names %s", c.Title(), other.Title())
			}
		}
	}
}

// A VM that may belong to one of several clusters is shown with each of them and with no other, by
// detect, render and plan alike, and is one VM wherever it is counted.
func TestVMOfSeveralClustersIsShownWithEach(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	whole := w.Detect()
	several := 0
	for i := range whole.Report.Clusters {
		title := whole.Report.Clusters[i].Title()
		var want []string
		for k := range whole.Report.InfraMachines {
			m := &whole.Report.InfraMachines[k]
			if len(m.Candidates) > 1 {
				several++
			}
			if slices.Contains(m.MayBelongTo(), title) {
				want = append(want, m.Instance.Name)
			}
		}
		saved := filepath.Join(w.Dir, "several.json")
		if err := os.WriteFile(saved, whole.JSON, 0o600); err != nil {
			t.Fatal(err)
		}
		one, shown := w.Detect("--cluster", title).Report, new(report.Report)
		if err := json.Unmarshal([]byte(runs.Run(t, "render", saved, "--format", "json", "--cluster", title).Stdout), shown); err != nil {
			t.Fatal(err)
		}
		for how, r := range map[string]*report.Report{"detect": one, "render": shown} {
			var got []string
			for k := range r.InfraMachines {
				got = append(got, r.InfraMachines[k].Instance.Name)
			}
			if !slices.Equal(got, want) || r.Summary.InfraMachines != len(want) {
				t.Errorf("%s --cluster %s shows %q and counts %d, want %q", how, title, got, r.Summary.InfraMachines, want)
			}
		}
		steps := runs.Run(t, "plan", saved, "--cluster", title).Stdout
		for k := range whole.Report.InfraMachines {
			m := &whole.Report.InfraMachines[k]
			if m.Reason != code.DuplicateID && strings.Contains(steps, "**"+m.Instance.Name+"**") != slices.Contains(want, m.Instance.Name) {
				t.Errorf("plan --cluster %s shows %s: want %q", title, m.Instance.Name, want)
			}
		}
	}
	if several == 0 {
		t.Error("the lab has no VM that may belong to several clusters")
	}
}

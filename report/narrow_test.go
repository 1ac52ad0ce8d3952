package report_test

import (
	"slices"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// A narrowed report counts what it shows, says that it is narrowed, and keeps the
// answer of the whole: a restore is of all.
func TestNarrow(t *testing.T) {
	t.Parallel()
	made := func() *report.Report {
		r := &report.Report{Summary: report.Summary{Complete: true, Answer: &report.SafeAnswer{Safe: code.No}}}
		for i, status := range []code.Status{code.ManualRemediationRequired, code.ManualRemediationNotRequired} {
			c := report.Cluster{Namespace: "n", Name: string(rune('a' + i)), Status: status, Counts: report.MachineCounts{Total: 2, Healthy: 1, Ghost: 1 - i, Stale: i}}
			other := []code.Status{code.Ghost, code.Stale}[i]
			c.ControlPlane.Machines = []report.Machine{{Name: "cp", Status: code.Healthy}}
			c.Workers.Groups = []report.Group{{Machines: []report.Machine{{Name: "w", Status: other}}}}
			r.Clusters = append(r.Clusters, c)
		}
		r.InfraMachines = []report.InfraMachine{{Cluster: "n/a"}, {Cluster: "n/b"}, {Candidates: []string{"n/a", "n/b"}}, {Candidates: []string{"n/a", "n/c"}}, {}}
		return r
	}
	r := made()
	if f := (&report.Filter{Clusters: []string{"n/b"}}); f.Covers() != "This report covers only --cluster n/b." {
		t.Error(f.Covers())
	}
	if err := r.Narrow(report.Filter{Clusters: []string{"n/b"}}); err != nil {
		t.Fatal(err)
	}
	if s := r.Summary; len(r.Clusters) != 1 || s.Clusters.Total != 1 || s.Machines.Stale != 1 || s.Machines.Ghost != 0 || s.InfraMachines != 3 ||
		s.Status != code.NeedFurtherConfirmationInfraMachines || s.Answer.Safe != code.No || r.Options.Filter.Covers() != "This shows only --cluster n/b; the answer is that of the whole report." {
		t.Errorf("%+v", r)
	}
	r = made()
	if err := r.Narrow(report.Filter{Statuses: []code.Status{code.Ghost}}); err != nil {
		t.Fatal(err)
	}
	if len(r.Clusters) != 1 || r.Summary.Machines.Total != 4 || len(r.Clusters[0].ControlPlane.Machines) != 0 || len(r.Clusters[0].Workers.Groups) != 1 || r.Options.Filter.String() != "--status ghost" {
		t.Errorf("%+v", r)
	}
	for _, f := range []report.Filter{{Clusters: []string{"c"}}, {Clusters: []string{"a", "c"}}, {Namespaces: []string{"m"}}} {
		if err := made().Narrow(f); err == nil {
			t.Errorf("%s is taken", f.String())
		}
	}
	narrowed := made()
	narrowed.Options.Filter = &report.Filter{Namespaces: []string{"n"}, Selector: "x"}
	if err := narrowed.Narrow(report.Filter{Clusters: []string{"a"}}); err != nil || narrowed.Options.Filter.String() != "--cluster a --namespace n --selector x" {
		t.Errorf("%v %s", err, narrowed.Options.Filter)
	}
	if !slices.Equal(narrowed.Options.Filter.Clusters, []string{"a"}) {
		t.Error(narrowed.Options.Filter)
	}
}

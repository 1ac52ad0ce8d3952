package junit

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"drift-detector/report"
)

// suites are all suites, each made when it is asked for: the answer, the
// clusters, the VMs to confirm, the places and errors.
func suites(r *report.Report) iter.Seq[*suite] {
	return func(yield func(*suite) bool) {
		tests, titles := names{}, names{}
		if !yield(answer(r, tests)) {
			return
		}
		titles.unique("", "report")
		titles.unique("", "VMs to confirm")
		titles.unique("", "places and errors")
		for i := range r.Clusters {
			c := &r.Clusters[i]
			title := titles.unique("", clean(title(r, c)))
			if !yield(cluster(c, title, tests)) {
				return
			}
		}
		_ = yield(infraMachines(r, tests)) && yield(places(r, tests))
	}
}

// title is the cluster's, with its backup when there are several.
func title(r *report.Report, c *report.Cluster) string {
	if len(r.Backups) > 1 {
		return fmt.Sprintf("%s (backup %d)", c.Title(), c.Backup+1)
	}
	return c.Title()
}

// answer is one test, which passes when it is safe to restore, and what the
// report counts.
func answer(r *report.Report, tests names) *suite {
	s := &suite{Name: "report"}
	a := r.Answer()
	var t text
	t.add("Safe to restore?", a.Safe)
	t.add("Status:", a.Status)
	for _, f := range a.Facts {
		t.add(report.Mark(f.Status), f.Text)
	}
	for i := range r.Backups {
		t.missing(r.Backups[i].Missing)
	}
	c := testcase{Class: "report", Name: "safe to restore"}
	switch {
	case a.Status != report.Healthy:
		c.Failure = &outcome{clean(a.Status), clean(a.Safe), t.String()}
	case a.Safe != "YES": // there was nothing to compare
		c.Skipped = &outcome{clean(a.Status), clean(a.Safe), t.String()}
	default:
		c.Out = &output{t.String()}
	}
	s.add(c, tests)
	s.count(r)
	return s
}

// count adds the report's own counts and what they depend on.
func (s *suite) count(r *report.Report) {
	sum := &r.Summary
	s.set("version", r.Tool.Version)
	s.set("generatedAt", r.GeneratedAt.UTC().Format(time.RFC3339))
	s.set("status", sum.Status)
	if sum.StatusWithoutRules != "" {
		s.set("statusWithoutRules", sum.StatusWithoutRules)
	}
	s.set("complete", sum.Complete)
	s.set("options.ignoreHealthy", r.Options.IgnoreHealthy)
	if f := r.Options.Filter; f != nil {
		s.set("options.filter", f)
	}
	for i := range r.Backups {
		s.set(fmt.Sprintf("backup.%d", i+1), r.Backups[i].Path)
		s.set(fmt.Sprintf("backup.%d.missing", i+1), len(r.Backups[i].Missing))
	}
	s.machines("machines.", sum.Machines)
	if sum.IgnoredMachines != nil {
		s.machines("machines.ignored.", *sum.IgnoredMachines)
	}
	s.set("clusters.total", sum.Clusters.Total)
	s.set("clusters."+report.ManualRemediationRequired, sum.Clusters.ManualRemediationRequired)
	s.set("clusters."+report.NeedFurtherConfirmation, sum.Clusters.NeedFurtherConfirmation)
	s.set("clusters."+report.ManualRemediationNotRequired, sum.Clusters.ManualRemediationNotRequired)
	s.set("clusters."+report.Healthy, sum.Clusters.Healthy)
	s.set("infraMachines", sum.InfraMachines)
	s.set("infraMachines.ignored", sum.IgnoredInfraMachines)
	for _, cause := range slices.Sorted(maps.Keys(sum.Excluded)) {
		s.set("excluded."+clean(cause), sum.Excluded[cause])
	}
	s.set("outOfScope", sum.OutOfScope)
	s.set("resources."+report.Present, sum.Resources.Present)
	s.set("resources."+report.Absent, sum.Resources.Absent)
	s.set("resources."+report.Undecided, sum.Resources.Unknown)
	s.set("errors", sum.Errors)
	s.set("checks", len(r.Checks))
}

func (s *suite) machines(prefix string, n report.MachineCounts) {
	s.set(prefix+"total", n.Total)
	s.set(prefix+report.Ghost, n.Ghost)
	s.set(prefix+report.Unknown, n.Unknown)
	s.set(prefix+report.Stale, n.Stale)
	s.set(prefix+report.Healthy, n.Healthy)
}

func cluster(c *report.Cluster, title string, tests names) *suite {
	s := &suite{Name: title}
	healthy := 0
	for _, set := range c.Sets() {
		class := title + "/" + set.Title
		if set.Pool != nil {
			s.add(skipOwn(c, pool(class, set.Pool)), tests)
		}
		for i := range set.Machines {
			m := &set.Machines[i]
			if m.Status == report.Healthy {
				healthy++
			}
			s.add(skipOwn(c, machine(class, m)), tests)
		}
	}
	for i := range c.Resources {
		s.add(skipOwn(c, resource(title, &c.Resources[i])), tests)
	}
	s.set("status", c.Status)
	s.machines("machines.", c.Counts)
	s.set("machines.Healthy.notListed", c.Counts.Healthy-healthy)
	s.set("provider", c.Provider)
	s.set("self", c.Self)
	s.set("paused", c.Paused)
	if c.Forecast != nil {
		s.set("forecast", c.Forecast.Text)
	}
	return s
}

// infraMachines are the VMs to confirm: each fails until somebody has said what
// it is.
func infraMachines(r *report.Report, tests names) *suite {
	s := &suite{Name: "VMs to confirm"}
	s.set("infraMachines", len(r.InfraMachines))
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		t := infraText(m)
		c := testcase{Class: s.Name, Name: join(" ", m.Instance.Name, m.Instance.ID)}
		if m.Ignored != nil {
			c.Skipped = setAside("Unattributed", m.Ignored, t)
		} else {
			c.Failure = &outcome{"Unattributed", clean(join(": ", m.Reason, m.Message)), t.String()}
		}
		s.add(c, tests)
	}
	return s
}

// places are those that were listed, one that was not listed whole being an
// error, and the errors that tell more than that.
func places(r *report.Report, tests names) *suite {
	s := &suite{Name: "places and errors"}
	s.set("errors", len(r.Errors))
	for i := range r.Scopes {
		p := &r.Scopes[i]
		c := testcase{Class: "places", Name: p.Title()}
		if p.State != "complete" {
			f := p.Error
			if f == nil {
				f = &report.Fault{}
			}
			var t text
			t.add(p.State+":", join(": ", f.Reason, f.Message))
			t.add(labeled("hint:", f.Hint))
			c.Error = &outcome{clean(p.State), clean(join(": ", f.Reason, f.Message)), t.String()}
		}
		s.add(c, tests)
	}
	for _, e := range r.OtherErrors() {
		var t text
		t.add(e.Message)
		t.add(labeled("hint:", e.Hint))
		s.add(testcase{
			Class: "errors", Name: join(": ", e.Scope, e.Object),
			Error: &outcome{"Error", clean(e.Message), t.String()},
		}, tests)
	}
	return s
}

package junit

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/report"
	"drift-detector/report/junit/document"
)

// suites are all suites, each made when it is asked for: the answer, the
// clusters, the VMs to confirm, the places and errors.
func suites(r *report.Report) iter.Seq[*document.Suite] {
	return func(yield func(*document.Suite) bool) {
		tests, titles := document.Names{}, document.Names{}
		if !yield(answer(r, tests)) {
			return
		}
		titles.Unique("", "report")
		titles.Unique("", "VMs to confirm")
		titles.Unique("", "places and errors")
		for i := range r.Clusters {
			c := &r.Clusters[i]
			title := titles.Unique("", clean(title(r, c)))
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
func answer(r *report.Report, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "report"}
	a := r.Answer()
	var t text
	t.add("Safe to restore?", a.Safe)
	t.add("Status:", string(a.Status))
	for _, f := range a.Facts {
		t.add(report.Mark(f.Status), f.Text)
	}
	if s := r.Summary.Answer; s != nil {
		for i := range s.Reasons {
			t.add("reason:", s.Reasons[i].Code+": "+s.Reasons[i].Message, strings.Join(s.Reasons[i].Objects, ", "))
		}
		for i := range s.Conditions {
			t.add("condition:", s.Conditions[i].Code+": "+s.Conditions[i].Message)
		}
	}
	for i := range r.Backups {
		t.missing(r.Backups[i].Missing)
	}
	c := document.Case{Class: "report", Name: "safe to restore"}
	switch {
	case a.As != report.Healthy:
		c.Failure = outcome(clean(string(a.As)), clean(a.Safe), t.String())
	case a.Safe != "YES": // there was nothing to compare
		c.Skipped = outcome(clean(string(a.Status)), clean(a.Safe), t.String())
	default:
		c.Out = &document.Output{Text: t.String()}
	}
	s.Add(c, tests)
	count(s, r)
	return s
}

// count adds the report's own counts and what they depend on.
func count(s *document.Suite, r *report.Report) {
	sum := &r.Summary
	s.Set("version", r.Tool.Version)
	s.Set("generatedAt", r.GeneratedAt.UTC().Format(time.RFC3339))
	s.Set("status", sum.Status)
	if a := sum.Answer; a != nil {
		s.Set("answer", clean(string(a.Safe)))
		var reasons, conditions []string
		for i := range a.Reasons {
			reasons = append(reasons, a.Reasons[i].Code)
		}
		for i := range a.Conditions {
			conditions = append(conditions, a.Conditions[i].Code)
		}
		s.Set("answer.reasons", clean(strings.Join(slices.Compact(reasons), " ")))
		s.Set("answer.conditions", clean(strings.Join(slices.Compact(conditions), " ")))
	}
	if sum.StatusWithoutRules != "" {
		s.Set("statusWithoutRules", sum.StatusWithoutRules)
	}
	s.Set("complete", sum.Complete)
	s.Set("options.ignoreHealthy", r.Options.IgnoreHealthy)
	if f := r.Options.Filter; f != nil {
		s.Set("options.filter", f)
	}
	for i := range r.Backups {
		s.Set(fmt.Sprintf("backup.%d", i+1), r.Backups[i].Path)
		s.Set(fmt.Sprintf("backup.%d.missing", i+1), len(r.Backups[i].Missing))
	}
	machines(s, "machines.", sum.Machines)
	if sum.IgnoredMachines != nil {
		machines(s, "machines.ignored.", *sum.IgnoredMachines)
	}
	s.Set("clusters.total", sum.Clusters.Total)
	s.Set("clusters."+string(report.ManualRemediationRequired), sum.Clusters.ManualRemediationRequired)
	s.Set("clusters."+string(report.NeedFurtherConfirmation), sum.Clusters.NeedFurtherConfirmation)
	s.Set("clusters."+string(report.ManualRemediationNotRequired), sum.Clusters.ManualRemediationNotRequired)
	s.Set("clusters."+string(report.Healthy), sum.Clusters.Healthy)
	s.Set("infraMachines", sum.InfraMachines)
	s.Set("infraMachines.ignored", sum.IgnoredInfraMachines)
	for _, cause := range slices.Sorted(maps.Keys(sum.Excluded)) {
		s.Set("excluded."+clean(cause), sum.Excluded[cause])
	}
	s.Set("outOfScope", sum.OutOfScope)
	s.Set("resources."+string(report.Present), sum.Resources.Present)
	s.Set("resources."+string(report.Absent), sum.Resources.Absent)
	s.Set("resources."+string(report.Undecided), sum.Resources.Unknown)
	s.Set("errors", sum.Errors)
	s.Set("checks", len(r.Checks))
}

func machines(s *document.Suite, prefix string, n report.MachineCounts) {
	s.Set(prefix+"total", n.Total)
	s.Set(prefix+string(report.Ghost), n.Ghost)
	s.Set(prefix+string(report.Unknown), n.Unknown)
	s.Set(prefix+string(report.Stale), n.Stale)
	s.Set(prefix+string(report.Healthy), n.Healthy)
}

func cluster(c *report.Cluster, title string, tests document.Names) *document.Suite {
	s := &document.Suite{Name: title}
	healthy := 0
	for _, set := range c.Sets() {
		class := title + "/" + set.Title
		if set.Pool != nil {
			s.Add(skipOwn(c, pool(class, set.Pool)), tests)
		}
		for i := range set.Machines {
			m := &set.Machines[i]
			if m.Status == report.Healthy {
				healthy++
			}
			s.Add(skipOwn(c, machine(class, m)), tests)
		}
	}
	for i := range c.Resources {
		s.Add(skipOwn(c, resource(title, &c.Resources[i])), tests)
	}
	s.Set("status", c.Status)
	machines(s, "machines.", c.Counts)
	s.Set("machines.Healthy.notListed", c.Counts.Healthy-healthy)
	s.Set("provider", c.Provider)
	s.Set("self", c.Self)
	s.Set("paused", c.Paused)
	if c.Forecast != nil {
		s.Set("forecast", c.Forecast.Text)
	}
	return s
}

// infraMachines are the VMs to confirm: each fails until somebody has said what
// it is.
func infraMachines(r *report.Report, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "VMs to confirm"}
	s.Set("infraMachines", len(r.InfraMachines))
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		t := infraText(m)
		c := document.Case{Class: s.Name, Name: join(" ", m.Instance.Name, m.Instance.ID)}
		if m.Ignored != nil {
			c.Skipped = setAside("Unattributed", m.Ignored, t)
		} else {
			c.Failure = outcome("Unattributed", clean(join(": ", m.Reason, m.Message)), t.String())
		}
		s.Add(c, tests)
	}
	return s
}

// places are those that were listed, one that was not listed whole being an
// error, and the errors that tell more than that.
func places(r *report.Report, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "places and errors"}
	s.Set("errors", len(r.Errors))
	for i := range r.Scopes {
		p := &r.Scopes[i]
		c := document.Case{Class: "places", Name: p.Title()}
		if p.State != report.ScopeComplete {
			f := p.Error
			if f == nil {
				f = &report.Fault{}
			}
			var t text
			t.add(string(p.State)+":", join(": ", f.Reason, f.Message))
			t.add(labeled("hint:", f.Hint))
			c.Error = outcome(clean(string(p.State)), clean(join(": ", f.Reason, f.Message)), t.String())
		}
		s.Add(c, tests)
	}
	for _, e := range r.OtherErrors() {
		var t text
		t.add(e.Message)
		t.add(labeled("hint:", e.Hint))
		s.Add(document.Case{
			Class: "errors", Name: join(": ", e.Scope, e.Object),
			Error: outcome("Error", clean(e.Message), t.String()),
		}, tests)
	}
	return s
}

package junit

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/junit/document"
	"drift-detector/report/outline"
)

// suites returns all suites, each made when it is asked for: the answer, the
// clusters, the checks, the VMs to confirm, the places and errors.
func suites(r *report.Report) iter.Seq[*document.Suite] {
	return func(yield func(*document.Suite) bool) {
		tests, titles := document.Names{}, document.Names{}
		if !yield(answer(r, tests)) {
			return
		}
		titles.Unique("", "report")
		titles.Unique("", backupSuite)
		titles.Unique("", "VMs to confirm")
		titles.Unique("", "places and errors")
		for c := range outline.Clusters(r) {
			title := c.Name
			if c.Backup > 0 {
				title += fmt.Sprintf(" (%s %d)", r.Subject(), c.Backup)
			}
			if !yield(cluster(c, titles.Unique("", document.Clean(title)), tests)) {
				return
			}
		}
		_ = (r.IsLive() || yield(checks(r.Checks, r.Backups, tests))) && yield(infraMachines(r, tests)) && yield(places(r, tests))
	}
}

// answer returns one test, which passes when it is safe to restore, and what the
// report counts.
func answer(r *report.Report, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "report"}
	a := r.Answer()
	lines := []string{a.Question + " " + a.Safe}
	if a.ByPlan != "" {
		lines = append(lines, english.Join(" ", "By the plan: "+a.ByPlan, a.After))
	}
	lines = append(lines, "Status: "+string(a.Status))
	for _, f := range a.Facts {
		lines = append(lines, code.Mark(f.Status)+" "+f.Text)
	}
	for _, s := range append(outline.ToDo(r), outline.Conditions(r)) {
		for i := range s.Items {
			it := &s.Items[i]
			line := english.Join(" ", s.Title+":", it.Mark, it.Status, it.Code, it.Text)
			for j := range it.Facts {
				line += " " + it.Facts[j].Said()
			}
			lines = append(lines, line)
		}
	}
	for i := range r.Backups {
		for j := range r.Backups[i].Missing {
			m := &r.Backups[i].Missing[j]
			lines = append(lines, fmt.Sprintf("missing in the %s: %s %s, referred to by %s: %s", r.Subject(), m.Kind, english.Join("/", m.Namespace, m.Name), m.ReferredBy, m.Why))
		}
	}
	c := document.Case{Class: "report", Name: "safe to restore"}
	o := &document.Outcome{Type: document.Clean(string(a.As)), Message: document.Clean(a.Safe), Text: cleanLines(lines)}
	switch {
	case a.As != code.Healthy:
		c.Failure = o
	case a.Safe != "YES": // there was nothing to compare
		c.Skipped = o
	default:
		c.Out = &document.Output{Text: o.Text}
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
		s.Set("answer", document.Clean(string(a.Safe)))
		var conditions []string
		for i := range a.Conditions {
			conditions = append(conditions, string(a.Conditions[i].Code))
		}
		s.Set("answer.reasons", codes(r.ListedNow()))
		s.Set("answer.conditions", document.Clean(strings.Join(slices.Compact(conditions), " ")))
	}
	if a := sum.AnswerByPlan; a != nil {
		s.Set("answerByPlan", document.Clean(string(a.Safe)))
		left, resolved := r.ListedByPlan()
		s.Set("answerByPlan.reasons", codes(left))
		s.Set("answerByPlan.resolved", codes(resolved))
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
	s.Set("clusters."+string(code.ManualRemediationRequired), sum.Clusters.ManualRemediationRequired)
	s.Set("clusters."+string(code.NeedFurtherConfirmation), sum.Clusters.NeedFurtherConfirmation)
	s.Set("clusters."+string(code.ManualRemediationNotRequired), sum.Clusters.ManualRemediationNotRequired)
	s.Set("clusters."+string(code.Healthy), sum.Clusters.Healthy)
	s.Set("infraMachines", sum.InfraMachines)
	s.Set("infraMachines.ignored", sum.IgnoredInfraMachines)
	for _, cause := range slices.Sorted(maps.Keys(sum.Excluded)) {
		s.Set("excluded."+document.Clean(cause), sum.Excluded[cause])
	}
	s.Set("outOfScope", sum.OutOfScope)
	s.Set("resources."+string(code.Present), sum.Resources.Present)
	s.Set("resources."+string(code.Absent), sum.Resources.Absent)
	s.Set("resources."+string(code.Undecided), sum.Resources.Unknown)
	s.Set("errors", sum.Errors)
	s.Set("checks", len(r.Checks))
}

// codes returns those of reasons, each once.
func codes(reasons []report.AnswerReason) string {
	var out []string
	for i := range reasons {
		out = append(out, string(reasons[i].Code))
	}
	return document.Clean(strings.Join(slices.Compact(out), " "))
}

func machines(s *document.Suite, prefix string, n report.MachineCounts) {
	s.Set(prefix+"total", n.Total)
	s.Set(prefix+string(code.Ghost), n.Ghost)
	s.Set(prefix+string(code.Unknown), n.Unknown)
	s.Set(prefix+string(code.Stale), n.Stale)
	s.Set(prefix+string(code.Healthy), n.Healthy)
}

func cluster(c *outline.Cluster, title string, tests document.Names) *document.Suite {
	s := &document.Suite{Name: title}
	unlisted := 0
	for i := range c.Sets {
		set := &c.Sets[i]
		class := title + "/" + set.Name
		unlisted += set.Unlisted
		if set.Pool != nil {
			it := outline.Item{Status: string(set.Pool.State), Text: set.Pool.Message, Aside: set.Aside}
			s.Add(existence(class, "the pool itself", "Pool", &it), tests)
		}
		for j := range set.Machines {
			s.Add(machine(class, &set.Machines[j]), tests)
		}
	}
	for i := range c.Resources {
		it := &c.Resources[i]
		s.Add(existence(title+"/resources", english.Join(" ", it.Kind, it.Name), "Resource", it), tests)
	}
	of := c.Of
	s.Set("status", of.Status)
	machines(s, "machines.", of.Counts)
	s.Set("machines.Healthy.notListed", unlisted)
	s.Set("provider", of.Provider)
	s.Set("self", of.Self)
	s.Set("paused", of.Paused)
	if of.Forecast != nil {
		s.Set("forecast", of.Forecast.Text)
	}
	return s
}

// infraMachines returns the VMs to confirm. Most are nobody's concern night after night, so
// that each is skipped, unless --fail-on of the run named them.
func infraMachines(r *report.Report, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "VMs to confirm"}
	s.Set("infraMachines", len(r.InfraMachines))
	v := skips
	if slices.Contains(r.Options.FailOn, "unattributed") {
		v = fails
	}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		it := outline.InfraMachine(r, m)
		s.Add(test(s.Name, english.Join(" ", m.Instance.Name, m.Instance.ID), "Unattributed", v, &it), tests)
	}
	return s
}

// places returns those that were listed, one that was not listed whole being an
// error, and the errors that tell more than that.
func places(r *report.Report, tests document.Names) *document.Suite {
	s := &document.Suite{Name: "places and errors"}
	s.Set("errors", len(r.Errors))
	for i := range r.Scopes {
		it := outline.Place(&r.Scopes[i])
		v := errs
		if it.Status == string(code.ScopeComplete) {
			v = passes
		}
		s.Add(test("places", r.Scopes[i].Title(), it.Status, v, &it), tests)
	}
	for _, e := range r.OtherErrors() {
		it := outline.Error(&e)
		s.Add(test("errors", english.Join(": ", e.Scope, e.Object), "Error", errs, &it), tests)
	}
	return s
}

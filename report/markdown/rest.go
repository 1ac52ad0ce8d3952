package markdown

import (
	"fmt"
	"strings"

	"drift-detector/report"
)

// What follows the machines: sets and resources, VMs that nobody claims, places
// that were not listed whole, what the backup lacks, what rules set aside.

func listing(title, what string, items []item) *section {
	n := 0
	for _, it := range items {
		n += it.n
	}
	return &section{title: fmt.Sprintf("\n### %s (%d)\n\n", title, n), what: what, items: items}
}

// bullet is an item of one line.
func bullet(place, format string, parts ...any) item {
	return item{place: place, n: 1, text: "- " + fmt.Sprintf(format, parts...) + "\n"}
}

// sets are what there is to say of control planes, groups and pools beside their
// machines, and the resources that are not known to exist.
func sets(r *report.Report) *section {
	var items []item
	for _, c := range byUrgency(r) {
		if c.Self {
			continue
		}
		for _, s := range c.Sets() {
			text := s.Reason
			if s.Pool != nil {
				text = join(": ", text, s.Pool.Message)
			}
			if text != "" {
				items = append(items, bullet(c.Title(), "%s in %s: %s", name(s.Title), name(c.Title()), prose(text)))
			}
		}
		for _, res := range c.Resources {
			if res.State != report.Present {
				items = append(items, bullet(c.Title(), "%s: %s %s in %s: %s", strong(string(res.State)), prose(res.Kind), name(res.Name), name(c.Title()),
					prose(join("; named by ", res.Message, res.UsedBy))))
			}
		}
	}
	return listing("Sets and resources", "sets and resources", items)
}

func infraMachines(r *report.Report) *section {
	var items []item
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		if m.Ignored != nil {
			continue
		}
		it := bullet(m.Cluster, "**%s**", name(m.Instance.Name))
		it.text += line("VM", location(&m.Instance))
		it.text += line("May belong to", optional(m.Cluster)) + line("Names the cluster", optional(m.ForeignCluster))
		it.text += line("Why", prose(join(": ", m.Reason, m.Message)))
		it.text += firstStep(m.Remediation)
		it.details = folded("Evidence and steps", evidence(m.Evidence)+steps(m.Remediation))
		items = append(items, it)
	}
	return listing("VMs to confirm", "VMs to confirm", items)
}

func scopes(r *report.Report) *section {
	var items []item
	for _, s := range r.Incomplete() {
		it := bullet("", "%s: %s", strong(string(s.State)), name(s.Title()))
		if f := s.Error; f != nil {
			it.text += line("Why", prose(join(": ", f.Reason, f.Message))) + line("Hint", prose(f.Hint))
		}
		items = append(items, it)
	}
	return listing("Not complete", "places", items)
}

// optional is a name, or nothing.
func optional(s string) string {
	if s == "" {
		return ""
	}
	return name(s)
}

func missing(r *report.Report) *section {
	var items []item
	for i := range r.Backups {
		for _, m := range r.Backups[i].Missing {
			it := bullet("", "%s %s", short(m.Kind), name(join("/", m.Namespace, m.Name)))
			it.text += line("Referred to by", optional(m.ReferredBy)) + line("Why", prose(m.Why))
			items = append(items, it)
		}
	}
	return listing("Missing in the backup", "things", items)
}

// notes are what to know before the restore that no machine tells: of all, then
// of clusters, the most urgent first.
func notes(r *report.Report) *section {
	var items []item
	if f := r.Summary.Forecast; f != nil {
		for _, n := range f.Notes {
			items = append(items, bullet("", "%s: %s", short(n.Code), prose(n.Sentence())))
		}
	}
	for _, n := range r.ClusterNotes() {
		place := ""
		if len(n.Clusters) == 1 {
			place = n.Clusters[0]
		}
		items = append(items, bullet(place, "%s, of %s: %s", short(n.Code), few(n.Clusters), prose(n.Sentence())))
	}
	for _, c := range byUrgency(r) {
		if c.Forecast != nil && !c.Self && c.Forecast.Text != "" {
			items = append(items, bullet("", "After the restore of %s: %s", name(c.Title()), prose(c.Forecast.Text)))
		}
	}
	return listing("To know before the restore", "notes", items)
}

// few names the first clusters and counts the rest.
func few(clusters []string) string {
	const most = 5
	var out []string
	for _, c := range clusters[:min(most, len(clusters))] {
		out = append(out, name(c))
	}
	text := strings.Join(out, ", ")
	if n := len(clusters) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// checks are the findings on the backup alone, without those that are only good
// to know. Those of one code stand together: why and what to do is the same.
func checks(r *report.Report) *section {
	var items []item
	n := map[report.Severity]int{}
	for i := range r.Checks {
		n[r.Checks[i].Severity]++
	}
	for all := r.Checks; len(all) > 0; {
		k := 1
		for k < len(all) && all[k].Code == all[0].Code && all[k].Severity == all[0].Severity && all[k].Why == all[0].Why && all[k].Do == all[0].Do {
			k++
		}
		if all[0].Severity != report.CheckInfo {
			items = append(items, check(all[:k]))
		}
		all = all[k:]
	}
	s := listing("Checks of the backup", "findings", items)
	s.title = fmt.Sprintf("\n### Checks of the backup (%s, %s)\n\n", plural(n[report.CheckError], "error"), plural(n[report.CheckWarning], "warning"))
	return s
}

func check(alike []report.Check) item {
	const most = 3
	c := &alike[0]
	it := item{n: len(alike), text: fmt.Sprintf("- %s %s (%d)\n", strong(string(c.Severity)), short(c.Code), len(alike))}
	for _, a := range alike[:min(most, len(alike))] {
		it.text += line("Found", join(": ", name(a.Object), prose(a.Message)))
	}
	if n := len(alike) - most; n > 0 {
		it.text += fmt.Sprintf("  - and %d more\n", n)
	}
	it.details = folded("Why, and what to do", line("Why", prose(c.Why))+line("To do", prose(c.Do)))
	return it
}

// problems are the errors that tell more than that a place was not listed whole.
func problems(r *report.Report) *section {
	var items []item
	for _, e := range r.OtherErrors() {
		it := bullet("", "Error: %s", prose(join(": ", e.Scope, e.Object, e.Message)))
		it.text += line("Hint", prose(e.Hint))
		items = append(items, it)
	}
	return listing("Errors", "errors", items)
}

// rules are the ignore rules that need a look: they expired, or fit nothing.
func rules(r *report.Report) *section {
	var items []item
	for i := range r.IgnoreRules {
		u := &r.IgnoreRules[i]
		at := fmt.Sprintf("Rule in %s, line %d", name(u.File), u.Line)
		switch {
		case u.State == report.RuleExpired:
			items = append(items, bullet("", "%s: expired on %s and sets nothing aside any more", at, short(u.Expires)))
		case u.Matched == 0:
			items = append(items, bullet("", "%s: fits nothing: wrong, or no longer needed", at))
		}
	}
	return listing("Ignore rules to look at", "rules", items)
}

// setAside are the findings that ignore rules set aside, with the rules' reasons.
func setAside(r *report.Report) *section {
	var items []item
	for _, status := range []report.Status{report.Ghost, report.Unknown, report.Stale, report.Healthy} {
		for _, f := range findings(r, status, true) {
			items = append(items, bullet(f.cluster, "%s %s in %s: %s", strong(string(f.Status)), name(f.Name), name(f.cluster), prose(f.Ignored.Reason)))
		}
	}
	for i := range r.InfraMachines {
		if m := &r.InfraMachines[i]; m.Ignored != nil {
			items = append(items, bullet(m.Cluster, "VM to confirm %s: %s", name(m.Instance.Name), prose(m.Ignored.Reason)))
		}
	}
	return listing("Set aside by ignore rules", "findings that are set aside", items)
}

package markdown

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/report"
)

func answer(r *report.Report) string {
	a := r.Answer()
	var b strings.Builder
	fmt.Fprintf(&b, "## Safe to restore? %s\n\nStatus: %s\n\n", prose(a.Safe), strong(string(a.Status)))
	for _, f := range a.Facts {
		fmt.Fprintf(&b, "- %s %s\n", Code(report.Mark(f.Status)), prose(f.Text))
	}
	return b.String()
}

// counts are those of the summary, none of which is ever left out.
func counts(r *report.Report) string {
	s := &r.Summary
	var b strings.Builder
	b.WriteString("\n| | Total | Ghost | Unknown | Stale | Healthy |\n|---|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(&b, "| Machines | %s |\n", numbers(s.Machines))
	if s.IgnoredMachines != nil {
		fmt.Fprintf(&b, "| of them set aside | %s |\n", numbers(*s.IgnoredMachines))
	}
	c := s.Clusters
	fmt.Fprintf(&b, "\n- Clusters: %d: %d ManualRemediationRequired, %d NeedFurtherConfirmation, %d ManualRemediationNotRequired, %d Healthy\n",
		c.Total, c.ManualRemediationRequired, c.NeedFurtherConfirmation, c.ManualRemediationNotRequired, c.Healthy)
	fmt.Fprintf(&b, "- Other VMs: %d to confirm, of them %d set aside; %s; %d out of scope\n",
		s.InfraMachines, s.IgnoredInfraMachines, excluded(s.Excluded), s.OutOfScope)
	fmt.Fprintf(&b, "- Resources: %d present, %d absent, %d unknown\n", s.Resources.Present, s.Resources.Absent, s.Resources.Unknown)
	fmt.Fprintf(&b, "- Looked at: %s, of them %d not whole; %s\n", plural(len(r.Scopes), "place"), len(r.Incomplete()), plural(s.Errors, "error"))
	const most = 3
	for _, k := range r.Backups[:min(most, len(r.Backups))] {
		fmt.Fprintf(&b, "- Backup: %s, written %s to %s, %s, sha256 %s\n",
			name(k.Path), stamp(k.WrittenFrom), stamp(k.WrittenTo), plural(k.Items, "object"), short(k.SHA256))
	}
	if n := len(r.Backups) - most; n > 0 {
		fmt.Fprintf(&b, "- and %s more\n", plural(n, "backup"))
	}
	return b.String()
}

func numbers(n report.MachineCounts) string {
	return fmt.Sprintf("%d | %d | %d | %d | %d", n.Total, n.Ghost, n.Unknown, n.Stale, n.Healthy)
}

// excluded says how many VMs can be nobody's machine, and for the first causes
// why. There are few.
func excluded(by map[string]int) string {
	total, causes := 0, []string{}
	for _, cause := range slices.Sorted(maps.Keys(by)) {
		total += by[cause]
		if len(causes) < 10 {
			causes = append(causes, fmt.Sprintf("%d %s", by[cause], short(cause)))
		}
	}
	if total == 0 {
		return "0 excluded"
	}
	return fmt.Sprintf("%d excluded (%s)", total, strings.Join(causes, ", "))
}

// clusters is a table with a row for each, the most urgent first.
func clusters(r *report.Report) *section {
	s := &section{
		title: "\n### Clusters\n\n",
		intro: "| Cluster | Status | Ghost | Unknown | Stale | Healthy | Notes |\n|---|---|--:|--:|--:|--:|---|\n",
		what:  "clusters",
		most:  Limit / 4,
	}
	for _, c := range byUrgency(r) {
		n := c.Counts
		s.items = append(s.items, item{n: 1, text: fmt.Sprintf("| %s %s | %s | %d | %d | %d | %d | %s |\n",
			Code(report.Mark(c.Status)), cell(name(c.Title())), cell(prose(string(c.Status))), n.Ghost, n.Unknown, n.Stale, n.Healthy, cell(remarks(r, c)))})
	}
	return s
}

func byUrgency(r *report.Report) []*report.Cluster {
	out := make([]*report.Cluster, len(r.Clusters))
	for i := range r.Clusters {
		out[i] = &r.Clusters[i]
	}
	slices.SortStableFunc(out, func(a, b *report.Cluster) int {
		if a.Self != b.Self { // its machines are no findings
			return cmp.Compare(one(a.Self), one(b.Self))
		}
		return cmp.Compare(report.Urgency(a.Status), report.Urgency(b.Status))
	})
	return out
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func remarks(r *report.Report, c *report.Cluster) string {
	var out []string
	note := func(yes bool, s string) {
		if yes {
			out = append(out, s)
		}
	}
	aside := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			aside += one(s.Machines[i].Ignored != nil)
		}
	}
	note(c.Self, "the management cluster itself: not counted")
	note(c.Derived, "no Cluster object in the backup")
	note(c.Paused, "paused")
	note(aside > 0, fmt.Sprintf("%d set aside", aside))
	note(len(r.Backups) > 1, fmt.Sprintf("backup %d", c.Backup+1))
	switch c.Nodes.State {
	case "", report.NodesRead, report.NodesSkipped:
	default:
		note(true, "Node list not read")
	}
	return strings.Join(out, ", ")
}

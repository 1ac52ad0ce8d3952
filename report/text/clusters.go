package text

import (
	"fmt"
	"unicode/utf8"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// workers returns the counts of all groups of the cluster.
func workers(c *report.Cluster) report.MachineCounts {
	var n report.MachineCounts
	for i := range c.Workers.Groups {
		n.Add(c.Workers.Groups[i].Counts)
	}
	return n
}

func warnings(c *report.Cluster) int {
	n := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			n += len(s.Machines[i].Warnings)
		}
	}
	return n
}

// ignoredIn counts the machines of the cluster that rules set aside.
func ignoredIn(c *report.Cluster) int {
	n := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			n += one(s.Machines[i].Ignored != nil)
		}
	}
	return n
}

func (p printer) clusters(r *report.Report) {
	if len(r.Clusters) == 0 {
		return
	}
	p.Title("CLUSTERS")
	width := 0
	for i := range r.Clusters {
		width = max(width, utf8.RuneCountInString(terminal.Quoted(r.Clusters[i].Title())))
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		l := lookOf(c.Status)
		row := terminal.Lead(l.style, l.mark, 0).Column(terminal.Bold, terminal.Quoted(c.Title()), min(width, 36)).Field(l.style, string(c.Status))
		for _, note := range notes(c, r) {
			row = row.Prose(terminal.Plain, note)
		}
		p.Print(2, 6, row)
		if c.Forecast != nil && c.Unsupported() < c.Counts.Total {
			p.Print(6, 8, terminal.Lead(terminal.Plain, "after the restore:", 0).Prose(terminal.Plain, c.Forecast.Text))
		}
	}
}

// notes are what a line per cluster says after the status.
func notes(c *report.Cluster, r *report.Report) []string {
	var out []string
	if n := c.Unsupported(); n > 0 && n == c.Counts.Total {
		// One line says it all; what there is to know of its Nodes changes nothing.
		return append(out, fmt.Sprintf("provider not supported: %d Unknown", n))
	}
	out = append(out, controlPlaneNote(c), "workers: "+orNone(join(", ", brief(workers(c)), poolNote(c))))
	note := func(yes bool, s string) {
		if yes {
			out = append(out, "["+s+"]")
		}
	}
	n := warnings(c)
	note(n > 0, plural(n, "warning"))
	ignored := ignoredIn(c)
	note(ignored > 0, fmt.Sprint(ignored, " ignored"))
	absent, unknown, _ := resources(c)
	note(len(absent) > 0, plural(len(absent), "resource")+" gone")
	note(unknown > 0, plural(unknown, "resource")+" not known to exist")
	note(c.Paused, "paused")
	note(c.Self, "the management cluster itself, not counted")
	note(c.Derived, "no Cluster object in the backup")
	note(len(r.Backups) > 1, fmt.Sprintf("backup %d", c.Backup+1))
	note(nodeNote(c, r) != "", nodeNote(c, r))
	return out
}

func controlPlaneNote(c *report.Cluster) string {
	switch {
	case !c.ControlPlane.Applicable && c.ControlPlane.Reason != "":
		return "control plane: not applicable, " + c.ControlPlane.Reason
	case !c.ControlPlane.Applicable:
		return "control plane: not applicable"
	case c.ControlPlane.Reason != "":
		return "control plane: " + orNone(brief(c.ControlPlane.Counts)) + ", " + c.ControlPlane.Reason
	default:
		return "control plane: " + orNone(brief(c.ControlPlane.Counts))
	}
}

func nodeNote(c *report.Cluster, r *report.Report) string {
	var what string
	switch c.Nodes.State {
	case "", report.NodesRead:
		return ""
	case report.NodesSkipped:
		if r.Options.SkipNodes { // said once, for all
			return ""
		}
		what = "Node list skipped"
	case report.NodesNoKubeconfig:
		what = "Node list not read: no kubeconfig in the backup"
	default:
		what = "Node list not read: " + c.Nodes.State
	}
	if c.Nodes.Error != "" {
		what += ": " + c.Nodes.Error
	}
	return what
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

package report

import (
	"fmt"
	"unicode/utf8"

	"drift-detector/report/terminal"
)

// Set is a control plane or a group of workers, in the one form that readers
// of a whole cluster need.
type Set struct {
	Title    string // "KubeadmControlPlane alpha-prod"
	Status   string
	Reason   string
	Desired  *int64
	Pool     *Pool
	Counts   MachineCounts
	Rollout  *Rollout
	Machines []Machine // not more than Counts when Options.IgnoreHealthy is set
}

// Sets are the control plane, then the groups of workers.
func (c *Cluster) Sets() []Set {
	cp := &c.ControlPlane
	out := []Set{{setTitle(cp.Kind, cp.Name, "control plane"), cp.Status, cp.Reason, cp.Desired, nil, cp.Counts, cp.Forecast.rollout(), cp.Machines}}
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		out = append(out, Set{setTitle(g.Kind, g.Name, "workers of no known group"), g.Status, g.Reason, g.Desired, g.Pool, g.Counts, g.Forecast.rollout(), g.Machines})
	}
	return out
}

func setTitle(kind, name, otherwise string) string {
	if kind == "" && name == "" {
		return otherwise
	}
	return join(" ", kind, name)
}

func (c *Cluster) workers() MachineCounts {
	var n MachineCounts
	for i := range c.Workers.Groups {
		n.add(c.Workers.Groups[i].Counts)
	}
	return n
}

// unsupported says that nothing can be told of the machine, for a reason that
// is its provider's and not its own.
func (m *Machine) unsupported() bool {
	return m.Status == Unknown && m.Reason == "UnsupportedProvider"
}

// unsupported counts such machines of the cluster.
func (c *Cluster) unsupported() int {
	n := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			n += one(s.Machines[i].unsupported())
		}
	}
	return n
}

func (c *Cluster) warnings() int {
	n := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			n += len(s.Machines[i].Warnings)
		}
	}
	return n
}

// ignored counts the machines that rules set aside.
func (c *Cluster) ignored() int {
	n := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			n += one(s.Machines[i].Ignored != nil)
		}
	}
	return n
}

// Title is namespace/name.
func (c *Cluster) Title() string { return c.Namespace + "/" + c.Name }

func (p printer) clusters(r *Report) {
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
		row := terminal.Lead(l.style, l.mark, 0).Column(terminal.Bold, terminal.Quoted(c.Title()), min(width, 36)).Field(l.style, c.Status)
		for _, note := range c.notes(r) {
			row = row.Prose(terminal.Plain, note)
		}
		p.Print(2, 6, row)
		if c.Forecast != nil && c.unsupported() < c.Counts.Total {
			p.Print(6, 8, terminal.Lead(terminal.Plain, "after the restore:", 0).Prose(terminal.Plain, c.Forecast.Text))
		}
	}
}

// notes are what a line per cluster says after the status.
func (c *Cluster) notes(r *Report) []string {
	var out []string
	if n := c.unsupported(); n > 0 && n == c.Counts.Total {
		// One line says it all; what there is to know of its Nodes changes nothing.
		return append(out, fmt.Sprintf("provider not supported: %d Unknown", n))
	}
	out = append(out, c.controlPlaneNote(), "workers: "+orNone(join(", ", c.workers().brief(), c.poolNote())))
	note := func(yes bool, s string) {
		if yes {
			out = append(out, "["+s+"]")
		}
	}
	n := c.warnings()
	note(n > 0, plural(n, "warning"))
	ignored := c.ignored()
	note(ignored > 0, fmt.Sprint(ignored, " ignored"))
	absent, unknown, _ := c.resources()
	note(len(absent) > 0, plural(len(absent), "resource")+" gone")
	note(unknown > 0, plural(unknown, "resource")+" not known to exist")
	note(c.Paused, "paused")
	note(c.Self, "the management cluster itself, not counted")
	note(c.Derived, "no Cluster object in the backup")
	note(len(r.Backups) > 1, fmt.Sprintf("backup %d", c.Backup+1))
	note(c.nodeNote(r) != "", c.nodeNote(r))
	return out
}

func (c *Cluster) controlPlaneNote() string {
	switch {
	case !c.ControlPlane.Applicable && c.ControlPlane.Reason != "":
		return "control plane: not applicable, " + c.ControlPlane.Reason
	case !c.ControlPlane.Applicable:
		return "control plane: not applicable"
	case c.ControlPlane.Reason != "":
		return "control plane: " + orNone(c.ControlPlane.Counts.brief()) + ", " + c.ControlPlane.Reason
	default:
		return "control plane: " + orNone(c.ControlPlane.Counts.brief())
	}
}

func (c *Cluster) nodeNote(r *Report) string {
	var what string
	switch c.Nodes.State {
	case "", "read":
		return ""
	case "skipped":
		if r.Options.SkipNodes { // said once, for all
			return ""
		}
		what = "Node list skipped"
	case "noKubeconfig":
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

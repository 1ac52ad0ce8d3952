package html

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// view is what the page is made of.
type view struct {
	*report.Report
	Answer   report.Answer
	Policy   string
	Style    template.CSS
	Script   template.JS
	Size     string // of the fleet: how many cells must fit
	Clusters []cluster
	VMs      []vm
	Missing  int
	Aside    []ignored
	Groups   []checkGroup
	Points   []point
	Phases   []phase
	Parts    []part
	Moments  []moment
	Age      string // of the oldest backup
	Before   before
	Runbook  *Runbook
	Few      bool // clusters: the picture has a row for each, and comes before what is to be done

	after outline.After
	steps map[int]bool // that the runbook has
}

// cluster is a cluster with what its machines are called on the page.
type cluster struct {
	*report.Cluster
	Index int // in the report
	Sets  []set
	Open  bool   // from the start; of a large fleet none is
	File  string // the backup that holds it
	After string // what happens to it after the restore
}

// set is the control plane or a group of workers.
type set struct {
	report.Set
	Kind, Name   string
	Workers      bool
	Cluster      int // index in the report
	Index        int
	Machines     []machine // findings by urgency, what rules set aside, then the rest
	Findings     int       // how many of Machines are findings
	Topology     string    // name in the topology of the Cluster
	Unlisted     int       // Healthy machines that the report leaves out
	Short        string    // its name in a row of few clusters
	ControlPlane *report.ControlPlaneForecast
	Group        *report.GroupForecast
}

// machine is a machine with the id of its element, which is made of indexes:
// names are foreign.
type machine struct {
	*report.Machine
	ID   string
	Fate fate
	Like string // the machine of the set whose steps say the same; empty: none before it
}

// vm is a VM to confirm.
type vm struct {
	*report.InfraMachine
	Index int
	Like  string // as of a machine
}

// Of names the clusters that it may belong to, a line each: names hold no end of a line.
func (v vm) Of() string {
	var all []string
	for _, cluster := range v.MayBelongTo() {
		all = append(all, name(cluster))
	}
	return strings.Join(all, "\n")
}

// Facts returns what is known of it.
func (v vm) Facts() []fact {
	return append(known(fact{"May belong to", strings.Join(v.MayBelongTo(), " or "), false}, fact{"Names cluster", v.ForeignCluster, false}), instance(&v.Instance)...)
}

// ignored is a finding that a rule sets aside.
type ignored struct {
	Link, Name string
	Status     code.Status
	*report.Ignored
}

func newView(r *report.Report, b *Runbook) view {
	r = shown(r)
	v := view{Report: r, Answer: r.Answer(), Script: template.JS(script), Groups: groups(r.Checks), after: outline.AfterRestore(r)}
	if b != nil {
		v.Runbook, v.steps = shown(b), b.Numbers()
	}
	cells := 0
	for i := range r.Clusters {
		c := cluster{Cluster: &r.Clusters[i], Index: i}
		c.Sets = v.sets(&c)
		c.After = strings.Join(v.after.Of(c.Cluster), ", ")
		cells += c.Counts.Total
		v.Clusters = append(v.Clusters, c)
		v.setAside(&c)
	}
	sorting.StableBy(v.Clusters, func(a, b cluster) int { return cmp.Compare(a.urgency(), b.urgency()) })
	alike := likes{}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		v.VMs = append(v.VMs, vm{m, i, alike.before(m.Instance.Name, &m.Instance, m.Remediation)})
		if m.Ignored != nil {
			v.Aside = append(v.Aside, ignored{fmt.Sprint("v", i), m.Instance.Name, "to confirm", m.Ignored})
		}
	}
	for i := range r.Backups {
		v.Missing += len(r.Backups[i].Missing)
	}
	v.size(cells)
	for i := range v.Clusters {
		c := &v.Clusters[i]
		if c.Backup >= 0 && c.Backup < len(r.Backups) {
			c.File = r.Backups[c.Backup].Path
		}
		c.Open = v.Size != "small" && (c.Findings() > 0 || c.Status != code.Healthy)
	}
	v.Points, v.Phases, v.Before = v.points(), v.phases(), v.before()
	v.Parts, v.Moments, v.Age = v.parts(), v.moments(), v.age()
	sheet := style + v.sizes()
	v.Style, v.Policy = template.CSS(sheet), policy(sheet)
	return v
}

// size says how large cells are, and whether the picture fits the first screen.
func (v *view) size(cells int) {
	switch {
	case cells <= 60:
		v.Size = "large"
	case cells <= 600:
		v.Size = "medium"
	default:
		v.Size = "small"
	}
	v.Few = v.Size == "large" && len(v.Clusters) <= 6
	if v.Few {
		v.Size += " few"
	}
}

func (v *view) setAside(c *cluster) {
	for i := range c.Sets {
		for _, m := range c.Sets[i].Machines {
			if m.Ignored != nil {
				v.Aside = append(v.Aside, ignored{m.ID, m.Name, m.Status, m.Ignored})
			}
		}
	}
}

// urgency puts the worst clusters first, those with any finding before those
// with none, and the management cluster itself, which no count holds, last.
func (c *cluster) urgency() int {
	if c.Self {
		return 100
	}
	n := 2 * code.Urgency(c.Status)
	if c.Findings() == 0 {
		n++
	}
	return n
}

// Findings returns how many machines of the cluster there is something to say of.
func (c *cluster) Findings() int {
	n := 0
	for i := range c.Sets {
		n += c.Sets[i].Findings
	}
	return n
}

func (v *view) sets(c *cluster) []set {
	var out []set
	for i, s := range c.Cluster.Sets() {
		t := set{Set: s, Cluster: c.Index, Index: i, Workers: i > 0, Unlisted: s.Counts.Healthy}
		if i == 0 {
			t.Kind, t.Name, t.ControlPlane, t.Short = c.ControlPlane.Kind, c.ControlPlane.Name, c.ControlPlane.Forecast, "CP"
		} else {
			g := &c.Workers.Groups[i-1]
			t.Kind, t.Name, t.Topology, t.Group = g.Kind, g.Name, g.Topology, g.Forecast
			t.Short = cmp.Or(strings.TrimPrefix(g.Name, c.Name+"-"), "workers")
		}
		for j := range s.Machines {
			m := &s.Machines[j]
			t.Machines = append(t.Machines, machine{Machine: m, ID: fmt.Sprintf("m%d-%d-%d", c.Index, i, j), Fate: v.fateIn(c.Cluster, m)})
			if m.Status == code.Healthy {
				t.Unlisted--
			}
			if m.Finding() {
				t.Findings++
			}
		}
		t.Unlisted = max(t.Unlisted, 0) // a report that was changed by hand may count too few
		sorting.StableBy(t.Machines, func(a, b machine) int { return cmp.Compare(a.rank(), b.rank()) })
		alike := likes{}
		for j := range t.Machines {
			m := &t.Machines[j]
			m.Like = alike.before(m.Name, m.Instance, m.Remediation)
		}
		out = append(out, t)
	}
	return out
}

// likes are the first machines of which certain steps are said. Paper has those once,
// because the steps of the others differ in ids alone.
type likes map[string]string

// before returns the name of the machine before this one that has the same steps.
func (l likes) before(name string, i *report.Instance, steps []report.Step) string {
	if len(steps) == 0 {
		return ""
	}
	own := []string{name}
	if i != nil {
		own = append(own, i.Name, i.ID, i.Ref)
	}
	key := ""
	for _, s := range steps {
		key += s.When + " " + s.Who + " " + fmt.Sprint(len(s.Commands)) + " " + s.Text + "\n"
	}
	for _, s := range own {
		if len(s) > 3 {
			key = strings.ReplaceAll(key, s, "…")
		}
	}
	first, known := l[key]
	if !known {
		l[key] = name
	}
	return first
}

// rank orders machines: open findings by urgency, what rules set aside, the rest.
func (m machine) rank() int {
	const aside, rest = 10, 20
	switch {
	case !m.Finding():
		return rest
	case m.Ignored != nil:
		return aside + code.Urgency(m.Status)
	default:
		return code.Urgency(m.Status)
	}
}

// Plain reports whether a few lines hold all that there is to say of the machine. An
// fleet has thousands of those.
func (m machine) Plain() bool {
	return !m.Finding() && m.Ignored == nil && m.Confirmed == nil && len(m.Others)+len(m.Remediation) == 0
}

// Open returns the findings, Rest the machines of which there is nothing to say.
func (s set) Open() []machine { return s.Machines[:s.Findings] }

func (s set) Rest() []machine { return s.Machines[s.Findings:] }

// checkGroup is checks of one kind and one meaning.
type checkGroup struct {
	report.Check
	All []report.Check
}

// groups puts neighbours together that differ in their object and message only.
func groups(checks []report.Check) []checkGroup {
	var out []checkGroup
	for _, c := range checks {
		if n := len(out) - 1; n >= 0 && out[n].Severity == c.Severity && out[n].Code == c.Code && out[n].Why == c.Why && out[n].Do == c.Do {
			out[n].All = append(out[n].All, c)
		} else {
			out = append(out, checkGroup{c, []report.Check{c}})
		}
	}
	return out
}

package verify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// ClusterVerdict is what became of a cluster.
type ClusterVerdict struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Presence  string  `json:"presence"` // absent, paused, reconciled or unread
	Verdict   Verdict `json:"verdict"`  // the most pressing of its machines
}

// GroupVerdict is what became of a control plane or a group of workers, by the number of its Machines.
type GroupVerdict struct {
	Namespace string  `json:"namespace"`
	Cluster   string  `json:"cluster"`
	Kind      string  `json:"kind"`
	Name      string  `json:"name"`
	Recorded  int     `json:"recorded"`           // Machines in the backup
	Foretold  *int    `json:"foretold,omitempty"` // Machines afterwards; absent of a pool, which makes its own
	Seen      int     `json:"seen"`               // Machines that are there and not being deleted
	Pool      *Pool   `json:"pool,omitempty"`     // absent where nothing is known of its members
	Verdict   Verdict `json:"verdict"`
	alone     Verdict // of the number of its Machines or members
}

// MachineVerdict is what became of a machine, or of a VM without one.
type MachineVerdict struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Cluster   string       `json:"cluster"`
	Group     string       `json:"group"`
	Foretold  code.Outcome `json:"foretold"`
	Verdict   Verdict      `json:"verdict"`
	Paused    bool         `json:"paused,omitempty"` // it is not judged until it is unpaused
	Seen      string       `json:"seen"`
	Since     *time.Time   `json:"since,omitempty"` // of what is seen
	Until     *time.Time   `json:"until,omitempty"` // when it is expected
	Who       string       `json:"who,omitempty"`   // who acts on it
	Do        string       `json:"do,omitempty"`    // a command
	Facts     Facts        `json:"facts"`
	unseen    bool         // it is not judged, because something was not listed
	noOutcome bool         // the report foretells nothing that could be judged
}

// Facts are what decided, as they were seen.
type Facts struct {
	Phase               string     `json:"phase,omitempty"`
	Deleting            *time.Time `json:"deleting,omitempty"`
	InfrastructureReady string     `json:"infrastructureReady,omitempty"`
	NodeHealthy         string     `json:"nodeHealthy,omitempty"`
	RecordedID          string     `json:"recordedID,omitempty"`
	ID                  string     `json:"id,omitempty"`
	Reason              string     `json:"reason,omitempty"` // of the infrastructure's controller
}

// group is a control plane or a group of workers of the report.
type group struct {
	kind, name string
	plane      bool
	pool       bool
	kept       bool // the backup has its object, which says how many it is to have
	members    *report.Pool
	replicas   *report.Replicas // nil: not foretold
	machines   []report.Machine
}

func setsOf(c *report.Cluster) []group {
	plane := group{kind: c.ControlPlane.Kind, name: c.ControlPlane.Name, plane: true, kept: c.ControlPlane.Desired != nil, machines: c.ControlPlane.Machines}
	if f := c.ControlPlane.Forecast; f != nil {
		plane.replicas = &f.Replicas
	}
	out := []group{plane}
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		one := group{kind: g.Kind, name: g.Name, pool: g.Pool != nil || g.Kind == "MachinePool", kept: g.Desired != nil, members: g.Pool, machines: g.Machines}
		if g.Forecast != nil {
			one.replicas = &g.Forecast.Replicas
		}
		out = append(out, one)
	}
	return out
}

// deleted returns how many Machines are to be deleted without another in their place. Of some the
// number of the group's replicas says it, too.
func (g *group) deleted() int {
	n := 0
	for i := range g.machines {
		if f := g.machines[i].Forecast; f != nil && (f.Outcome == code.DeletedByOwner || f.Outcome == code.DeletedByMachineHealthCheck) {
			n++
		}
	}
	return n
}

// judgeCluster adds a cluster with its groups and machines.
func (w *world) judgeCluster(d *Document, c *report.Cluster) {
	out := ClusterVerdict{Namespace: c.Namespace, Name: c.Name, Presence: "reconciled", Verdict: As}
	switch there := w.get(c.Namespace, c.Name).cluster; {
	case there == nil && isUnread(w.seen, "Cluster"):
		out.Presence = "unread"
	case there == nil:
		out.Presence = "absent"
	case there.Paused:
		out.Presence = "paused"
	}
	all := As
	for _, g := range setsOf(c) {
		of := w.judgeGroup(d, c, &g)
		if g.kind != "" || len(g.machines) > 0 {
			d.Groups = append(d.Groups, of)
			all = worse(all, of.Verdict)
		}
	}
	out.Verdict = all
	d.Clusters = append(d.Clusters, out)
}

func worse(a, b Verdict) Verdict {
	if slices.Index(verdicts, a) < slices.Index(verdicts, b) {
		return a
	}
	return b
}

func (w *world) judgeGroup(d *Document, c *report.Cluster, g *group) GroupVerdict {
	out := GroupVerdict{Namespace: c.Namespace, Cluster: c.Name, Kind: g.kind, Name: g.name, Verdict: As}
	out.Pool, out.alone = w.judgePool(c, g)
	if r := g.replicas; r != nil {
		out.Recorded = r.Recorded
		if n := r.Recorded + r.Created - r.Deleted; !g.pool {
			out.Foretold = &n
		}
	}
	for i := range g.machines {
		m := &g.machines[i]
		v := w.judgeMachine(c, g, m)
		d.Machines = append(d.Machines, v)
		out.Verdict = worse(out.Verdict, v.Verdict)
		if there := w.machine(m); m.Status != code.Ghost && there != nil && there.Deleting.IsZero() {
			out.Seen++
		}
	}
	for _, y := range w.get(c.Namespace, c.Name, g.name).younger {
		if y.Deleting.IsZero() {
			out.Seen++
		}
	}
	at := w.get(c.Namespace, c.Name).cluster
	more := 0
	if w.seen.ByPlan {
		more = g.changed()
	}
	if out.Foretold != nil && at != nil && !at.Paused && (out.Seen > *out.Foretold+more || out.Seen < *out.Foretold-g.deleted()-more) {
		out.alone = NotYet
	}
	if isUnread(w.seen, "Machine") && out.alone != Not {
		out.alone = NotJudged
	}
	out.Verdict = worse(out.Verdict, out.alone)
	return out
}

func (w *world) judgeMachine(c *report.Cluster, g *group, m *report.Machine) MachineVerdict {
	out := MachineVerdict{Namespace: m.Namespace, Name: m.Name, Cluster: c.Name, Group: g.name}
	if m.Forecast == nil {
		out.Verdict, out.Seen, out.noOutcome = NotJudged, "the report does not say what becomes of it", true
		return out
	}
	f := w.newSubject(c, g, m)
	is := f.byPlan(f.judge())
	out.Foretold, out.Verdict, out.Seen, out.Paused = f.outcome, is.verdict, is.seen, is.paused
	out.unseen, out.noOutcome = is.unseen, rules[f.outcome] == nil
	out.Since, out.Until, out.Facts = moment(is.since), moment(is.until), f.facts()
	switch is.verdict {
	case Not:
		out.Do = f.pause()
		if !is.above {
			out.Who = f.who()
		}
	case NotYet:
		out.Do = f.next(is)
	}
	return out
}

// moment returns a time of the document; nil where there is none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Second)
	return &t
}

func (f *subject) facts() Facts {
	out := Facts{RecordedID: f.recorded, ID: f.taken.id, Reason: f.taken.say.Reason}
	if m := f.machine; m != nil {
		out.Phase, out.Deleting = m.Phase, moment(m.Deleting)
		out.InfrastructureReady, out.NodeHealthy = condition(m.Conditions, "InfrastructureReady").Status, condition(m.Conditions, "NodeHealthy").Status
	}
	return out
}

// who acts on a machine: a health check, which leaves a mark on it, else its owner.
func (f *subject) who() string {
	m := f.machine
	if m == nil {
		return ""
	}
	if condition(m.Conditions, "HealthCheckSucceeded").Status == "False" || condition(m.Conditions, "OwnerRemediated").Type != "" {
		var names []string
		for _, c := range f.seen.Checks {
			if c.Namespace == m.Namespace && c.Cluster == f.cluster.Name {
				names = append(names, c.Name)
			}
		}
		if len(names) == 1 {
			return "MachineHealthCheck " + names[0]
		}
		return "a MachineHealthCheck"
	}
	var owners []string
	for _, o := range m.Owners {
		owners = append(owners, o.Kind+" "+o.Name)
	}
	return strings.Join(owners, ", ")
}

// pause returns the command that stops the controllers of the cluster. A Cluster that is not there, or
// paused already, needs none.
func (f *subject) pause() string {
	if f.there == nil || f.there.Paused {
		return ""
	}
	return shell.Line("kubectl", "patch", "clusters.cluster.x-k8s.io", f.cluster.Name, "-n", f.cluster.Namespace, "--type", "merge", "-p", `{"spec":{"paused":true}}`).Text()
}

// next returns the command for what is awaited; mostly there is nothing to do but wait.
func (f *subject) next(is *finding) string {
	i := slices.IndexFunc(f.objects, func(o *Object) bool { return isMachineKind(o.Kind) })
	if !is.awake || i < 0 {
		return ""
	}
	o := f.objects[i]
	resource := strings.ToLower(o.Kind) + "s.infrastructure.cluster.x-k8s.io"
	return shell.Line("kubectl", "annotate", resource, o.Name, "-n", o.Namespace, fmt.Sprintf("poke=%d", f.seen.At.Unix()), "--overwrite").Text()
}

package verify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// world is a report and what was seen, by names and ids.
type world struct {
	report    *report.Report
	seen      *Observation
	named     map[string]*entry // by key
	newcomers []*Machine        // that the report does not have, the oldest first
	things    map[string]*thing // by kind, namespace and name
	restored  time.Time         // when the first of the report's objects came; zero: none
	latest    time.Time         // when the last of its Machines did
}

// entry is all that has a name, or an id.
type entry struct {
	cluster   *Cluster
	machine   *Machine
	objects   []*Object          // and those that one of this name owns
	mine      bool               // the report has a Machine, or a Cluster, of this name
	instances []*report.Instance // listed ones with this id
	known     []*report.Instance // those of the report with this id
	ids       []string           // of listed instances with this name
	younger   []*Machine         // newcomers of a group
	lost      int                // Machines of the report that a group lacks
	room      *room              // of a group, how many newcomers were foretold
}

// key returns a name in a namespace, a group of a cluster, an id, or the name of an instance.
func key(parts ...string) string { return strings.Join(parts, "\x00") }

// at returns the entry of a key, which may be written to.
func (w *world) at(parts ...string) *entry {
	k := key(parts...)
	if w.named[k] == nil {
		w.named[k] = new(entry)
	}
	return w.named[k]
}

var nobody entry

// get returns the entry of a key, to be read.
func (w *world) get(parts ...string) *entry { return cmp.Or(w.named[key(parts...)], &nobody) }

func newWorld(r *report.Report, seen *Observation) *world {
	w := &world{report: r, seen: seen, named: map[string]*entry{}, things: map[string]*thing{}}
	w.gather()
	for i := range seen.Clusters {
		w.at(seen.Clusters[i].Namespace, seen.Clusters[i].Name).cluster = &seen.Clusters[i]
	}
	for i := range seen.Objects {
		o := &seen.Objects[i]
		own := w.at(o.Namespace, o.Name)
		own.objects = append(own.objects, o)
		for _, by := range o.Owners {
			if by.Name != o.Name && isMachineKind(by.Kind) {
				owner := w.at(o.Namespace, by.Name)
				owner.objects = append(owner.objects, o)
			}
		}
	}
	for i := range seen.Instances {
		if v := &seen.Instances[i]; !hasEnded(v.State) {
			one := w.at(report.InstanceID(v.ID))
			one.instances = append(one.instances, v)
			all := w.at("", v.Name)
			all.ids = append(all.ids, report.InstanceID(v.ID))
		}
	}
	for i := range r.InfraMachines {
		w.know(&r.InfraMachines[i].Instance)
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		w.at(c.Namespace, c.Name).mine = !c.Self
		for _, g := range setsOf(c) {
			room := g.room()
			if room != nil && seen.ByPlan {
				room.left += g.changed()
			}
			w.at(c.Namespace, c.Name, g.name).room = room
			for j := range g.machines {
				w.remember(&g.machines[j])
			}
		}
	}
	w.readMachines()
	return w
}

// readMachines tells the Machines that the report has from others.
func (w *world) readMachines() {
	for i := range w.seen.Machines {
		m := &w.seen.Machines[i]
		e := w.at("Machine", m.Namespace, m.Name)
		if e.machine = m; !e.mine {
			w.newcomers = append(w.newcomers, m)
			continue
		}
		if w.restored.IsZero() || m.Created.Before(w.restored) {
			w.restored = m.Created
		}
		if m.Created.After(w.latest) {
			w.latest = m.Created
		}
	}
	sorting.By(w.newcomers, func(a, b *Machine) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, m := range w.newcomers {
		in := w.at(m.Namespace, m.Cluster, m.Group)
		in.younger = append(in.younger, m)
	}
	for i := range w.report.Clusters {
		c := &w.report.Clusters[i]
		for _, g := range setsOf(c) {
			for j := range g.machines {
				if m := &g.machines[j]; hadMachine(m) && w.machine(m) == nil {
					w.at(c.Namespace, c.Name, g.name).lost++
				}
			}
		}
	}
}

// machine returns the Machine of the name that one of the report has.
func (w *world) machine(m *report.Machine) *Machine {
	return w.get("Machine", m.Namespace, m.Name).machine
}

// hadMachine reports whether the backup has a Machine, not only an infrastructure object, or nothing.
func hadMachine(m *report.Machine) bool {
	for i := range m.Warnings {
		if m.Warnings[i].Reason == code.MachineMissing {
			return false
		}
	}
	return m.Status != code.Ghost
}

// unread returns a kind that was not read whole and that decides about the subject; empty where
// all were.
func (f *subject) unread() string {
	if isUnread(f.seen, "Cluster") {
		return "Cluster"
	}
	return f.unreadMachines(f.cluster.Provider)
}

// unreadMachines returns a kind of the machines of a provider that was not read whole; empty where all
// were.
func (w *world) unreadMachines(provider string) string {
	for _, kind := range append([]string{"Machine"}, Kinds(provider)...) {
		if isUnread(w.seen, kind) {
			return kind
		}
	}
	return ""
}

// remember notes a machine of the report with its instances.
func (w *world) remember(m *report.Machine) {
	if m.Status != code.Ghost {
		w.at("Machine", m.Namespace, m.Name).mine = true
	}
	for i := range m.Others {
		w.know(&m.Others[i])
	}
	if m.Instance != nil {
		w.know(m.Instance)
	}
	if m.ProviderID != "" && len(w.get(report.InstanceID(m.ProviderID)).known) == 0 {
		w.know(&report.Instance{ID: m.ProviderID})
	}
}

// know notes an instance of the report, which may be at several of its places.
func (w *world) know(v *report.Instance) {
	e := w.at(report.InstanceID(v.ID))
	if !slices.ContainsFunc(e.known, func(is *report.Instance) bool { return isSame(is, v) }) {
		e.known = append(e.known, v)
	}
}

// complete reports whether the place of an instance was listed whole. Where none is given, all
// places of the provider are asked for.
func (w *world) complete(provider string, v *report.Instance) bool {
	any := false
	for i := range w.seen.Scopes {
		s := &w.seen.Scopes[i]
		if v != nil && !s.Holds(v) || v == nil && s.Provider != provider {
			continue
		}
		if any = true; s.State != code.ScopeComplete {
			return false
		}
	}
	return any
}

// subject is a machine or a Ghost of the report with all that was seen of it.
type subject struct {
	*world
	of       *report.Machine
	outcome  code.Outcome
	cluster  *report.Cluster
	group    *entry // of its group
	in       string // name of its group
	kind     string // of its group: MachineDeployment, MachinePool, KubeadmControlPlane
	kept     bool   // the backup has the object of its group
	pool     bool   // a MachinePool makes its machines
	plane    bool
	there    *Cluster // nil: the Cluster is not there
	machine  *Machine // nil: the Machine is not there
	objects  []*Object
	taken    taken
	recorded string // the id that the backup records; empty: none
}

// newSubject gathers what was seen of a machine. The object that knows more of the instance is
// first: the VSphereVM of a VSphereMachine, the OpenStackServer of an OpenStackMachine, which a
// restore leaves without an owner.
func (w *world) newSubject(c *report.Cluster, set *group, m *report.Machine) *subject {
	f := &subject{
		world: w, of: m, outcome: m.Forecast.Outcome, cluster: c, group: w.get(c.Namespace, c.Name, set.name), in: set.name, kind: set.kind, kept: set.kept, pool: set.kind == "MachinePool",
		plane: set.plane, there: w.get(c.Namespace, c.Name).cluster, machine: w.machine(m),
		recorded: report.InstanceID(m.ProviderID), taken: about("", nil),
	}
	if w.seen.ByPlan {
		f.outcome = cmp.Or(m.Forecast.ByPlan, f.outcome)
	}
	if m.Status == code.Ghost {
		f.recorded = "" // it is what its Node says
		return f
	}
	namespace, object := m.Namespace, m.Name
	if m.Infrastructure != nil {
		namespace, object = cmp.Or(m.Infrastructure.Namespace, m.Namespace), m.Infrastructure.Name
	}
	for _, last := range []bool{false, true} {
		for _, o := range w.get(namespace, object).objects {
			if isMachineKind(o.Kind) == last {
				f.objects = append(f.objects, o)
			}
		}
	}
	f.taken = about(c.Provider, f.objects)
	if providers[c.Provider].listed && f.taken.is == found && f.instance() == stopped {
		f.taken.is = off
	}
	return f
}

// isMachineKind reports whether a kind of the infrastructure's objects is that which a Machine refers to.
func isMachineKind(kind string) bool { return strings.HasSuffix(kind, "Machine") }

// objectGone reports whether no object of the infrastructure is left that is not being deleted.
func (f *subject) objectGone() bool {
	for _, o := range f.objects {
		if o.Deleting.IsZero() {
			return false
		}
	}
	return true
}

// start returns since when controllers act on the machine, or may act on its Cluster; zero where that is
// not known. They may have been started long after the restore.
func (f *subject) start() time.Time {
	at, first := startOf(f.there), time.Time{}
	if f.machine == nil {
		return at
	}
	for i := range f.machine.Conditions {
		if since := f.machine.Conditions[i].Since; first.IsZero() || !since.IsZero() && since.Before(first) {
			first = since
		}
	}
	if first.After(at) {
		return first
	}
	return at
}

func startOf(there *Cluster) time.Time {
	if there == nil {
		return time.Time{}
	}
	at := there.Created
	if c := condition(there.Conditions, "Paused"); c.Status == "False" && c.Since.After(at) {
		at = c.Since
	}
	return at
}

// longer reports whether controllers have been able to act for longer than a time.
func (f *subject) longer(than time.Duration) bool {
	return !f.start().IsZero() && f.seen.At.Sub(f.start()) > than
}

// paused reports whether the Cluster or the Machine is.
func (f *subject) paused() bool {
	return f.there != nil && f.there.Paused || f.machine != nil && f.machine.Paused
}

// presence is whether an instance is listed.
type presence int

const (
	unlisted  presence = iota // not known: its place was not listed whole
	runs                      // it is there, and not known to be off
	stopped                   // it is there, and off
	isMissing                 // its place was listed whole, and lacks it
)

// instance returns the listed instance with an id: of several that which the report has, else one
// that is not off; nil where none is.
func (e *entry) instance(of *report.Instance) *report.Instance {
	var out *report.Instance
	for _, v := range e.instances {
		switch {
		case isSame(v, of):
			return v
		case out == nil || isOff(out.State):
			out = v
		}
	}
	return out
}

// isSame reports whether two instances with one id are one.
func isSame(v, of *report.Instance) bool {
	return of != nil && v.Scope == of.Scope && v.Ref == of.Ref
}

// lacks reports whether an instance of the report is not listed, nor, where it had the id for itself,
// another one with it: a VM that was registered again has another reference.
func (w *world) lacks(v *report.Instance) bool {
	e := w.get(report.InstanceID(v.ID))
	return len(e.instances) == 0 || len(e.known) > 1 && !isSame(e.instance(v), v)
}

// instance says whether the instance of the report is listed, else that of the recorded id.
func (f *subject) instance() presence {
	id := f.recorded
	if f.of.Instance != nil {
		id = report.InstanceID(f.of.Instance.ID)
	}
	if v := f.get(id).instance(f.of.Instance); v != nil && id != "" {
		if isOff(v.State) {
			return stopped
		}
		return runs
	}
	if !f.complete(f.cluster.Provider, f.of.Instance) {
		return unlisted
	}
	return isMissing
}

// age says of an instance that a controller took whether it is older than the restore.
type age int

const (
	unknownAge age = iota
	before
	after
)

// slack is how far the clocks of an infrastructure and of the API server may be apart.
const slack = 2 * time.Minute

func (f *subject) ageOf(id string) age {
	v := f.get(id).instance(nil)
	switch {
	case len(f.get(id).known) > 0:
		return before
	case v == nil || v.Created == nil:
		return unknownAge
	case v.Created.Before(f.report.GeneratedAt.Add(-slack)):
		return before
	case !f.restored.IsZero() && v.Created.After(f.restored.Add(-slack)):
		return after
	}
	return unknownAge
}

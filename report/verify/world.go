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

// name is a namespace with a name.
type name struct{ namespace, name string }

// world is a report and what was seen, by names and ids.
type world struct {
	report    *report.Report
	seen      *Observation
	clusters  map[name]*Cluster
	machines  map[name]*Machine
	objects   map[name][]*Object
	owned     map[name][]*Object          // by the name of an owner that is another's
	listed    map[string]*report.Instance // by id, in lower case
	known     map[string]bool             // ids of the instances that the report has
	mine      map[name]bool               // Machines that the report has
	named     map[string][]string         // ids of listed instances, by name
	newcomers []*Machine                  // that the report does not have, the oldest first
	younger   map[groupKey][]*Machine     // they, by group
	lost      map[groupKey]int            // Machines of the report that are not there
	restored  time.Time                   // when the first of the report's objects came; zero: none
}

// groupKey is a group of workers or a control plane of a cluster.
type groupKey struct{ namespace, cluster, group string }

func newWorld(r *report.Report, seen *Observation) *world {
	w := &world{
		report: r, seen: seen, clusters: map[name]*Cluster{}, machines: map[name]*Machine{}, objects: map[name][]*Object{}, owned: map[name][]*Object{},
		listed: map[string]*report.Instance{}, known: map[string]bool{}, mine: map[name]bool{}, named: map[string][]string{},
		younger: map[groupKey][]*Machine{}, lost: map[groupKey]int{},
	}
	for i := range seen.Clusters {
		w.clusters[name{seen.Clusters[i].Namespace, seen.Clusters[i].Name}] = &seen.Clusters[i]
	}
	for i := range seen.Objects {
		o := &seen.Objects[i]
		at := name{o.Namespace, o.Name}
		w.objects[at] = append(w.objects[at], o)
		for _, by := range o.Owners {
			if by.Name != o.Name && isMachineKind(by.Kind) {
				w.owned[name{o.Namespace, by.Name}] = append(w.owned[name{o.Namespace, by.Name}], o)
			}
		}
	}
	for i := range seen.Instances {
		if v := &seen.Instances[i]; !hasEnded(v.State) {
			w.listed[idOf(v.ID)] = v
			w.named[v.Name] = append(w.named[v.Name], idOf(v.ID))
		}
	}
	for i := range r.InfraMachines {
		w.known[idOf(r.InfraMachines[i].Instance.ID)] = true
	}
	for i := range r.Clusters {
		for _, s := range r.Clusters[i].Sets() {
			for j := range s.Machines {
				w.remember(&s.Machines[j])
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
		at := name{m.Namespace, m.Name}
		w.machines[at] = m
		if w.mine[at] {
			if w.restored.IsZero() || m.Created.Before(w.restored) {
				w.restored = m.Created
			}
			continue
		}
		w.newcomers = append(w.newcomers, m)
	}
	sorting.By(w.newcomers, func(a, b *Machine) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, m := range w.newcomers {
		in := groupKey{m.Namespace, m.Cluster, m.Group}
		w.younger[in] = append(w.younger[in], m)
	}
	for i := range w.report.Clusters {
		c := &w.report.Clusters[i]
		for _, s := range setsOf(c) {
			for j := range s.machines {
				m := &s.machines[j]
				hadOne := m.Status != code.Ghost && !slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == code.MachineMissing })
				if hadOne && w.machines[name{m.Namespace, m.Name}] == nil {
					w.lost[groupKey{c.Namespace, c.Name, s.name}]++
				}
			}
		}
	}
}

// unread returns a kind that was not read whole and that decides about the subject; empty where
// all were.
func (f *subject) unread() string {
	for _, kind := range append([]string{"Machine", "Cluster"}, Kinds(f.cluster.Provider)...) {
		if isUnread(f.seen, kind) {
			return kind
		}
	}
	return ""
}

// remember notes a machine of the report with its instances.
func (w *world) remember(m *report.Machine) {
	if m.Status != code.Ghost {
		w.mine[name{m.Namespace, m.Name}] = true
	}
	for _, v := range m.Others {
		w.known[idOf(v.ID)] = true
	}
	if m.Instance != nil {
		w.known[idOf(m.Instance.ID)] = true
	}
	if m.ProviderID != "" {
		w.known[idOf(m.ProviderID)] = true
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
	group    groupKey
	kind     string // of its group: MachineDeployment, MachinePool, KubeadmControlPlane
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
		world: w, of: m, outcome: m.Forecast.Outcome, cluster: c, group: groupKey{c.Namespace, c.Name, set.name}, kind: set.kind, pool: set.kind == "MachinePool",
		plane: set.plane, there: w.clusters[name{c.Namespace, c.Name}], machine: w.machines[name{m.Namespace, m.Name}],
		recorded: idOf(m.ProviderID),
	}
	if m.Status == code.Ghost {
		f.recorded = "" // it is what its Node says
		return f
	}
	object := name{m.Namespace, m.Name}
	if m.Infrastructure != nil {
		object = name{cmp.Or(m.Infrastructure.Namespace, m.Namespace), m.Infrastructure.Name}
	}
	f.objects = slices.Concat(w.objects[object], w.owned[object])
	slices.SortStableFunc(f.objects, func(a, b *Object) int { return rank(a.Kind) - rank(b.Kind) })
	f.taken = about(c.Provider, f.objects)
	return f
}

// isMachineKind reports whether a kind of the infrastructure's objects is that which a Machine refers to.
func isMachineKind(kind string) bool { return strings.HasSuffix(kind, "Machine") }

func rank(kind string) int {
	if isMachineKind(kind) {
		return 1
	}
	return 0
}

// objectGone reports whether no object of the infrastructure is left that is not being deleted.
func (f *subject) objectGone() bool {
	return !slices.ContainsFunc(f.objects, func(o *Object) bool { return o.Deleting.IsZero() })
}

// start is since when controllers may act on the Cluster; zero where that is not known.
func (f *subject) start() time.Time { return startOf(f.there) }

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

// instance says whether the instance of the report is listed, else that of the recorded id.
func (f *subject) instance() presence {
	id := f.recorded
	if f.of.Instance != nil {
		id = idOf(f.of.Instance.ID)
	}
	if v := f.listed[id]; v != nil && id != "" {
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
	v := f.listed[id]
	switch {
	case f.known[id]:
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

package verify

import (
	"cmp"
	"slices"
	"time"

	"drift-detector/report/code"
)

// This file has what a machine hangs on: the objects with which it is deleted.

// thing is an object that was seen, by what decides about those below it.
type thing struct {
	kind, name, uid string
	deleting        time.Time
	owners          []Owner
}

// title returns its kind and name.
func (t *thing) title() string { return t.kind + " " + t.name }

// gather notes all objects by kind and name.
func (w *world) gather() {
	add := func(namespace string, t thing) { w.things[key(t.kind, namespace, t.name)] = &t }
	for _, n := range w.seen.Namespaces {
		add("", thing{"Namespace", n.Name, "", n.Deleting, nil})
	}
	for _, c := range w.seen.Clusters {
		add(c.Namespace, thing{"Cluster", c.Name, c.UID, c.Deleting, nil})
	}
	for _, i := range w.seen.Infrastructures {
		add(i.Namespace, thing{i.Kind, i.Name, i.UID, i.Deleting, nil})
	}
	for _, g := range w.seen.Groups {
		add(g.Namespace, thing{g.Kind, g.Name, g.UID, g.Deleting, g.Owners})
	}
	for i := range w.seen.Machines {
		m := &w.seen.Machines[i]
		add(m.Namespace, thing{"Machine", m.Name, m.UID, m.Deleting, m.Owners})
	}
	for i := range w.seen.Objects {
		o := &w.seen.Objects[i]
		add(o.Namespace, thing{o.Kind, o.Name, o.UID, o.Deleting, o.Owners})
	}
}

// thing returns the object of a kind and name; nil where it was not seen.
func (w *world) thing(kind, namespace, name string) *thing {
	return w.things[key(kind, namespace, name)]
}

// keeps are the outcomes whose Machine stays, with what it is made of.
var keeps = []code.Outcome{
	code.Adopted, code.AdoptedPoweredOn, code.AdoptedByName, code.OtherInstanceTaken, code.NewInstanceCreated, code.NewInstanceNeverJoins,
	code.Stuck, code.StuckNodeLeft, code.Halted, code.UntouchedPaused,
}

func (f *subject) isKept() bool { return slices.Contains(keeps, f.outcome) }

// above returns the objects with which the machine is deleted, the highest first. Of one that is to be
// replaced, the Machine in its place is of another MachineSet; what has no Machine is not its group's.
func (f *subject) above() (out []*thing) {
	namespace := f.cluster.Namespace
	out = append(out, f.thing("Namespace", "", namespace), f.thing("Cluster", namespace, f.cluster.Name))
	if f.there != nil && f.there.Infrastructure.Kind != "" {
		out = append(out, f.thing(f.there.Infrastructure.Kind, namespace, f.there.Infrastructure.Name))
	}
	replaced := f.outcome == code.ReplacedByMachineHealthCheck || f.outcome == code.RolledByOwner
	if replaced || f.isKept() || f.outcome == code.OrphanedAndReplaced {
		out = append(out, f.thing(f.kind, namespace, f.in))
	}
	if f.isKept() && !f.plane {
		out = append(out, f.set())
	}
	return slices.DeleteFunc(out, func(t *thing) bool { return t == nil })
}

// set returns the MachineSet of the machine; nil where none was seen.
func (f *subject) set() *thing {
	if f.machine == nil {
		return nil
	}
	for _, o := range f.machine.Owners {
		if o.Kind == "MachineSet" {
			return f.thing(o.Kind, f.machine.Namespace, o.Name)
		}
	}
	return f.thing("MachineSet", f.machine.Namespace, cmp.Or(f.machine.Set, setOfName(f.machine.Name)))
}

// doomed returns nil unless what is to stay is being deleted, or something with which it is. That is so
// whoever its provider is, and whether or not it is paused: finalizers may be all that holds it.
func (f *subject) doomed() *finding {
	replaced := f.outcome == code.ReplacedByMachineHealthCheck || f.outcome == code.RolledByOwner
	orphan := f.of.Status != code.Ghost && (f.outcome == code.OrphanedAndReplaced || f.outcome == code.GhostKeepsRunning)
	if !f.isKept() && !replaced && !orphan {
		return nil
	}
	if f.isKept() && !f.pool && f.machine != nil && !f.machine.Deleting.IsZero() {
		return f.deleting()
	}
	for _, t := range f.above() {
		if !t.deleting.IsZero() {
			out := not(t.title() + " is being deleted").at(t.deleting)
			out.above = t.kind != "MachineSet"
			return out
		}
	}
	if f.isKept() || orphan {
		for _, o := range f.objects {
			if !o.Deleting.IsZero() {
				return not(o.Kind + " " + o.Name + " is being deleted").at(o.Deleting)
			}
		}
	}
	return nil
}

// unreadAbove returns a kind of what the machine hangs on that was not read whole, so that nobody knows
// whether it is being deleted; empty where all were.
func (f *subject) unreadAbove() string {
	if f.of.Status == code.Ghost {
		return ""
	}
	kinds := []string{"Namespace", f.kind}
	if !f.plane && !f.pool {
		kinds = append(kinds, "MachineSet")
	}
	if f.there != nil {
		kinds = append(kinds, f.there.Infrastructure.Kind)
	}
	for _, kind := range kinds {
		if kind != "" && isUnread(f.seen, kind) {
			return kind
		}
	}
	return ""
}

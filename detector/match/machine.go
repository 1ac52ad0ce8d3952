package match

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is machines and instances, which know each other.

// Machine is one machine of the backup, or an orphan, with what became of it.
type Machine struct {
	*infra.ExpectedMachine
	Recorded    *backup.Machine // nil for an orphan
	Of          *backup.Machine // it, else what is known of the orphan's: its names, uid and cluster
	Conflicting []*Machine      // those that record the same strong key, this one among them
	Matched     *VM             // its instance, once it was decided on; nil when none was found
	Message     string          // of the verdict on it, likewise
	reason      code.Reason     // likewise
	byID        []*VM           // the instances that have the strong key
	byIdentity  []*VM           // the instances that have the second key
	nodes       []*Node         // those that say they are the machine, whether they agree or not
	home        *Place
	owners      []*owner // the nearest first
}

// owner is what makes machines, or what a machine names as that.
type owner struct {
	infra.OwnerID
	group   *backup.Group // nil for a control plane, and for what the backup lacks
	count   int64         // machines in the backup
	orphans orphanCount
	pooled  bool // a MachinePool whose members are compared as a set: it needs no Machines
}

// orphanCount is how many orphans of an owner record an id, and of how many of those
// the instance was found.
type orphanCount struct{ recorded, found int64 }

// isPlane reports whether the machine is of a control plane.
func (c *Machine) isPlane() bool {
	if c.Recorded == nil {
		return c.Orphan.ControlPlane
	}
	return c.Recorded.ControlPlane
}

// Group returns the group that a machine's owners are shown by, a nameless one without any.
func (c *Machine) Group() infra.OwnerID {
	if n := len(c.owners); n > 0 { // the last is the MachineDeployment when there is one
		return c.owners[n-1].OwnerID
	}
	return infra.OwnerID{Cluster: c.Of.Cluster}
}

// orderExpected gives every machine exactly one expected machine and every orphan its own,
// in an order that does not depend on that of the inputs. One that no provider expects is of
// a kind that none supports.
func orderExpected(s *backup.Snapshot, in []infra.ExpectedMachine) []*Machine {
	byMachine := make([]*infra.ExpectedMachine, len(s.Machines))
	all := make([]Machine, 0, len(s.Machines))
	for i := range in {
		c := &in[i]
		switch {
		case c.Machine >= 0 && c.Machine < len(s.Machines):
			if have := byMachine[c.Machine]; have == nil || compareExpected(c, have) < 0 {
				byMachine[c.Machine] = c
			}
		case c.Orphan != nil:
			o := c.Orphan
			all = append(all, Machine{ExpectedMachine: c, Of: &backup.Machine{
				Meta: backup.Meta{Namespace: o.Namespace, Name: o.Name, UID: o.UID}, Cluster: o.Cluster,
				Infrastructure: backup.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
			}})
		}
	}
	for i, c := range byMachine {
		m := &s.Machines[i]
		if c == nil {
			c = &infra.ExpectedMachine{Machine: i, Source: m.Infrastructure.Kind}
		}
		all = append(all, Machine{ExpectedMachine: c, Recorded: m, Of: m})
	}
	out := make([]*Machine, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	slices.SortStableFunc(out, compareSubjects)
	return out
}

func compareSubjects(a, b *Machine) int {
	if c := CompareClusters(a.Of.Cluster, b.Of.Cluster); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(a.Of.Namespace, b.Of.Namespace), cmp.Compare(a.Of.Name, b.Of.Name)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.Of.UID, b.Of.UID), compareExpected(a.ExpectedMachine, b.ExpectedMachine))
}

// compareExpected puts the expected machine of a provider before that of none.
func compareExpected(a, b *infra.ExpectedMachine) int {
	return cmp.Or(compareBool(a.Provider == "", b.Provider == ""), cmp.Compare(a.Provider, b.Provider),
		compareKeys(a.Strong, b.Strong), cmp.Compare(a.Home.Target, b.Home.Target))
}

// VM is one instance, merged from all listings that show it. The Instance is that of a
// listing, until it is changed.
type VM struct {
	*infra.Instance
	Provider    string
	Scope       string      // id of a target that shows it
	Former      *infra.Pool // that recorded it as its member, and was read
	Reference   Reference   // of a machine that is not matched with it; zero: there is none
	DuplicateOf *Machine    // the machine that has its id, and was matched with another instance
	CloneOf     *Machine    // the machine that has its host name

	seen []int32 // listings that show it, ascending
	// Which machines find the instance by which of their keys. An instance that two
	// of them find is certain for neither.
	byStrong, byIdentity, byWeak finders
	matchedBy                    *Machine
	links                        *Links // nil: not looked for yet, see linksOf
	place                        int32  // among the instances of the index
	Member                       bool   // of a known pool
	mark                         uint32 // of the last lists that were joined and hold it, see sharedLists.join
}

// Shown returns a copy of the instance for a Result, in which no instance has its keys.
func (v *VM) Shown() infra.Instance {
	one := *v.Instance
	one.Keys = nil
	return one
}

// change returns the instance to be changed, no more that of a listing.
func (v *VM) change() *infra.Instance {
	one := *v.Instance
	v.Instance = &one
	return &one
}

// Has returns what HasKey does, but false for the zero Key.
func (v *VM) Has(k infra.Key) bool { return !k.IsZero() && v.HasKey(k) }

// HasOther reports whether the instance has a key of k's kind, but not k.
func (v *VM) HasOther(k infra.Key) bool {
	return !k.IsZero() && !v.HasKey(k) && v.Value(k.Kind) != ""
}

// Value returns the value of the instance's first key of the kind, or empty.
func (v *VM) Value(kind infra.KeyKind) string {
	for _, k := range v.Keys {
		if k.Kind == kind {
			return k.Value
		}
	}
	return ""
}

// seenIn reports whether any of the listings shows the instance.
func (v *VM) seenIn(listings []int32) bool {
	return slices.ContainsFunc(v.seen, func(i int32) bool { return slices.Contains(listings, i) })
}

// MayBeOurs reports whether an instance is excluded for a cause that does not show
// whose it is: any VM can be made a template, or be managed by an extension that
// replicates or restores it.
func (v *VM) MayBeOurs() bool {
	return v.Exclude == infra.Template || v.Exclude == infra.Managed
}

// finders are the expected machines that find an instance: none, one, or several.
type finders struct{ only *Machine }

var several Machine

func (s *finders) add(c *Machine) {
	if s.only == nil {
		s.only = c
	} else if s.only != c {
		s.only = &several
	}
}

// any reports whether there is one at least.
func (s *finders) any() bool { return s.only != nil }

func (s *finders) many() bool { return s.only == &several }

// others reports whether an expected machine other than c is among them.
func (s *finders) others(c *Machine) bool { return s.only != nil && s.only != c }

// Reference connects an instance with a machine of the backup that it was not matched
// with, or not with certainty. Such an instance is never a Ghost.
type Reference struct {
	Machine *Machine
	Reason  code.Reason
	rank    int // the lower, the stronger
}

func alive(v *VM) bool { return !v.Gone }

func runs(v *VM) bool { return v.Runs() }

// keep returns the instances that the test accepts.
func keep(all []*VM, test func(*VM) bool) []*VM {
	var out []*VM
	for _, v := range all {
		if test(v) {
			out = append(out, v)
		}
	}
	return out
}

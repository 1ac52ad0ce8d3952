package rehearsal

import (
	"cmp"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/owners"
	"drift-detector/detector"
	"drift-detector/report/code"
)

// set is a control plane or a group of workers.
type set struct {
	*detector.Set
	cluster  *cluster
	plane    *backup.ControlPlane // of a control plane, its object
	titled   string               // of title, once it was asked for
	members  []*machine
	recorded int // Machines in the backup
	owed
}

// owed is what the owners of a set have still to do. Of a paused cluster all of it comes once it is
// unpaused.
type owed struct {
	sets       []string          // names of a group's MachineSets
	created    int               // Machines that the owners make because they are short of some
	deleted    int               // Machines that the owners delete because they have too many
	empty      int               // Machines without instances that MachineSets delete because they have too many
	removed    string            // why the owner itself goes, with all its machines
	due        string            // why a rollout is due, of one of its machines
	rolledSets map[string]string // MachineSets that are rolled out, and why
	current    *backup.Group     // the MachineSet that is kept, of a MachineDeployment that makes no rollout
	outdated   map[string]bool   // MachineSets of a paused MachineDeployment, which has another template now
	unmakeable string            // why its owner can make no machine
	managedBy  string
	poolWants  int  // of a pool whose members end, how many are to be left
	bounded    bool // a pool that another tool sets is outside of the bounds that its controller sets
}

// madeNow and deletedNow are how many Machines the owners make and delete right after the
// restore. A paused cluster's owners do neither.
func (s *set) madeNow() int { return s.now(s.created) }

func (s *set) deletedNow() int { return s.now(s.deleted) }

func (s *set) now(n int) int {
	if s.cluster.Paused {
		return 0
	}
	return n
}

// title returns how effects call a set.
func (s *set) title() string {
	if s.titled == "" {
		s.titled = strings.TrimSpace(s.Kind + " " + s.cluster.ID.Namespace + "/" + s.Name)
	}
	return s.titled
}

// topology returns the name of a MachineDeployment or MachinePool in the topology of its
// Cluster, or empty.
func (s *set) topology() string {
	g := s.group()
	if g == nil || g.Kind == machineSet {
		return ""
	}
	return cmp.Or(g.Topology(), topologyPool(g))
}

// rolloutAfter returns when the owner is to replace its machines; zero when it is not.
func (s *set) rolloutAfter() time.Time {
	if s.plane != nil {
		return s.plane.RolloutAfter
	}
	if g := s.group(); g != nil {
		return g.RolloutAfter
	}
	return time.Time{}
}

// idle reports whether a control plane does nothing, because it asks first for a template that
// the backup lacks.
func (s *set) idle() bool {
	return s.asksForTemplate() && s.cluster.lacks(s.plane.Infrastructure)
}

func (s *set) asksForTemplate() bool {
	return s.plane != nil && owners.Labelled(s.Kind) && !ownerKind(s.plane).LateTemplate
}

// fill makes the members of a set.
func (s *set) fill(byUID map[string]*machine) {
	s.members = make([]*machine, len(s.Machines))
	for i, v := range s.Machines {
		m := byUID[v.UID]
		if m == nil {
			m = &machine{cluster: s.cluster, index: -1}
		} else {
			s.recorded++
		}
		m.set, m.verdict, s.members[i] = s, v, m
	}
}

// ownerKind returns what is known of the kind of a control plane; zero when nothing is.
func ownerKind(p *backup.ControlPlane) owners.Kind {
	k, _ := owners.Of(p.Kind)
	return k
}

// group returns the object of a group of workers; nil for a control plane, and where the backup lacks it.
func (s *set) group() *backup.Group { return s.cluster.group(owner{s.Kind, s.Name}) }

// group returns a group by its name, or nil.
func (c *cluster) group(by owner) *backup.Group { return c.counted(by).Group }

// counted returns what is an owner's own.
func (c *cluster) counted(by owner) *owning {
	if of := c.owners[by]; of != nil {
		return of
	}
	return &owning{}
}

// of returns what is an owner's own, to be added to.
func (c *cluster) of(by owner) *owning {
	of := c.owners[by]
	if of == nil {
		of = &owning{}
		c.owners[by] = of
	}
	return of
}

// readOwners finds out whose the MachineSets and Machines of the cluster are after a restore.
func (c *cluster) readOwners() {
	groups := c.world.groupsOf(c.ID)
	c.owners = make(map[owner]*owning, len(groups)+1)
	for _, g := range groups {
		c.of(owner{g.Kind, g.Name}).Group = g
	}
	c.selectors, c.selected = map[string]*backup.Demands[*selecting]{}, map[selected][]*selecting{}
	c.readSelectors(machineDeployment)
	c.readSelectors(machineSet)
	for _, g := range groups {
		if g.Kind != machineSet {
			continue
		}
		of := owner{machineDeployment, g.Deployment}
		if !c.controlled(&g.Meta) && (g.Deployment == "" || !c.selects(of, g.Labels)) {
			of = c.adopter(machineDeployment, g.Labels)
		}
		if of.name != "" {
			one := c.of(of)
			one.sets = append(one.sets, g)
		}
	}
	for i := range c.machines {
		m := &c.machines[i]
		m.by = c.takes(m)
		m.stray = m.by.name == "" && m.Owner.Kind == machineSet
		of := c.of(m.by)
		if of.machines++; m.UID != "" && m.verdict != nil && m.verdict.Status != code.Stale {
			of.living++
		}
	}
}

// takes returns who adopts a Machine: a control plane by label, a MachineSet by its selector,
// whoever owned it before. Other owners have the Machines that they had.
func (c *cluster) takes(m *machine) owner {
	by := owner{m.Owner.Kind, m.Owner.Name}
	unseen := m.Unlabelled && owners.Labelled(by.kind)
	switch {
	case c.controlled(&m.Meta):
		if unseen || by.kind == machineSet && !c.selects(by, m.Labels) {
			return owner{} // its owner does not see it, and no other takes it
		}
		return by
	case m.ControlPlane && !m.Unlabelled && c.own != nil && owners.Labelled(c.own.ControlPlane.Kind) && (c.own.ControlPlane.Kind == kubeadm || by.kind != c.own.ControlPlane.Kind):
		return owner{c.own.ControlPlane.Kind, c.own.ControlPlane.Name}
	case unseen, by.kind == machineSet && !c.selects(by, m.Labels):
		return c.adopter(machineSet, m.Labels)
	}
	return by
}

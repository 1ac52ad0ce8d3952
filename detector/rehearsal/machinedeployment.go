package rehearsal

import (
	"cmp"
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// rolloutDeeds are asked of each owner of machines.
var rolloutDeeds = []deed[*set]{
	{walk.Row{
		ID: "core.D4", Of: "MachineDeployment",
		Asks:    "its MachineSets: one that is of its template and of the version of the topology, which it keeps",
		Differs: walk.Replaces.Says("it rolls out: the Machines of the others are deleted, one after the other, and created again"),
		Source:  "rolloutRollingUpdate, rolloutOnDelete, FindNewAndOldMachineSets: core/reconcilers/machinedeployment v1.14.0, internal/controllers/machinedeployment v1.5.8 to v1.13.6",
	}, groupRollout},
	planeRolloutDeed,
}

// groupRollout asks core.D4.
func groupRollout(p *actions, s *set) bool {
	if s == &s.cluster.control {
		return false
	}
	return p.rollout(s)
}

// rollout finds which machines of a set are replaced because their owner wants others. Their
// outcomes say it where it is known which ones they are.
func (p *actions) rollout(s *set) bool {
	known := false
	for _, m := range s.members {
		if m.rolled != "" {
			known, p.of.machine = true, m
			p.notes(walk.Differs, m.rolled)
		}
	}
	p.of.machine = nil
	if s.due != "" && s.unmakeable == "" && !known {
		p.finds(walk.Differs, fmt.Sprintf("%s replaces some of its machines: %s", s.title(), s.due))
	}
	if at := s.rolloutAfter(); at.After(s.cluster.world.in.Now) {
		p.says(code.RolloutScheduled, p.notes(walk.Differs, fmt.Sprintf("%s replaces all its machines at %s", s.title(), at.UTC().Format("2006-01-02 15:04Z"))))
	}
	return s.plane != nil || s.group() != nil
}

// deployment compares a MachineDeployment with its MachineSets, and the topology of
// the Cluster with the MachineDeployment. What an older MachineSet may not make the one that
// is kept makes, for which the MachineDeployment takes the annotation away (reconcileNewMachineSet
// and computeDesiredNewMS in core/reconcilers/machinedeployment v1.14.0;
// cleanupDisableMachineCreateAnnotation before v1.12.0).
func (s *set) deployment(md *backup.Group, sets []*backup.Group, have int) {
	current, deleted := currentSet(md, sets), s.deleted
	have = s.step(md.Desired, have, true)
	if s.deleted-deleted <= s.cluster.deadOf(sets, current) && !md.Halted {
		s.deleted = deleted // it scales older MachineSets down first
	}
	version := md.Version
	if t, name := s.cluster.topology, md.Topology(); t.works() && name != "" {
		i, wanted := t.names[name]
		if !wanted {
			s.removed = fmt.Sprintf("MachineDeployment %s is not in the topology of its Cluster any more", md.Name)
			s.deleted += have
			return
		}
		s.step(t.replicas(i), have, true)
		if !at(t.deferred, i) {
			version = cmp.Or(t.Version, version)
		}
	}
	switch {
	case md.Halted:
		s.current = current
		s.leave(md, version, sets)
		return
	case md.OnDelete:
		s.current = cmp.Or(current, &backup.Group{}) // which is made
	}
	s.rolledSets = map[string]string{}
	for _, one := range sets {
		why := ""
		switch {
		case one == current && (md.OnDelete || version == md.Version):
			continue
		case md.OnDelete:
			// planOnDelete in core/reconcilers/machinedeployment v1.12.0 to v1.14.0; before
			// that the Machines themselves were counted.
			why = fmt.Sprintf("its MachineSet %s is of an older revision: Cluster API from 1.12 on deletes what the status of such a set does not count yet, and a restore empties that status", one.Name)
		case version != md.Version:
			why = fmt.Sprintf("it runs Kubernetes %s, and the topology of its Cluster specifies %s", md.Version, version)
		case one.Version != md.Version:
			why = fmt.Sprintf("it runs Kubernetes %s, and MachineDeployment %s specifies %s", one.Version, md.Name, md.Version)
		default:
			why = fmt.Sprintf("its MachineSet %s does not match what MachineDeployment %s specifies", one.Name, md.Name)
		}
		if s.cluster.counted(owner{machineSet, one.Name}).machines > 0 {
			s.rolledSets[one.Name] = why
			s.due = cmp.Or(s.due, why)
		}
	}
	for name, why := range s.rolledSets {
		if !md.OnDelete {
			s.cluster.rolled[name] = why
		}
	}
}

// leave notes the MachineSets that a paused MachineDeployment does not replace, although they
// differ from it: their Machines have condition UpToDate=False (setUpToDateCondition in
// internal/controllers/machine/machine_controller_status.go v1.13.6).
func (s *set) leave(md *backup.Group, version string, sets []*backup.Group) {
	s.outdated = map[string]bool{}
	for _, one := range sets {
		s.outdated[one.Name] = one.Version != version || !one.SameTemplate(md)
	}
}

// deadOf counts the Machines of older MachineSets where none of those has an instance.
func (c *cluster) deadOf(sets []*backup.Group, current *backup.Group) int {
	dead := 0
	for _, one := range sets {
		by := c.counted(owner{one.Kind, one.Name})
		switch {
		case one == current:
		case by.living > 0:
			return 0
		default:
			dead += by.machines
		}
	}
	return dead
}

// currentSet returns the MachineSet that a MachineDeployment keeps: of those that match it
// the one with the most replicas (Cluster API mdutil FindNewAndOldMachineSets v1.14.0).
func currentSet(md *backup.Group, sets []*backup.Group) *backup.Group {
	var best *backup.Group
	for _, one := range sets {
		if one.SameTemplate(md) && (best == nil || one.Desired.N > best.Desired.N) {
			best = one
		}
	}
	return best
}

package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// title is how effects call a set.
func (s *set) title() string {
	if s.titled == "" {
		s.titled = strings.TrimSpace(s.Kind + " " + s.cluster.ID.Namespace + "/" + s.Name)
	}
	return s.titled
}

// topology is the name of a MachineDeployment or MachinePool in the topology of its
// Cluster, or empty.
func (s *set) topology() string {
	g := s.group()
	if g == nil || g.Kind == machineSet {
		return ""
	}
	return cmp.Or(g.Topology(), topologyPool(g))
}

// rolloutAfter is when the owner is to replace its machines; zero when it is not.
func (s *set) rolloutAfter() time.Time {
	if s.plane != nil {
		return s.plane.RolloutAfter
	}
	if g := s.group(); g != nil {
		return g.RolloutAfter
	}
	return time.Time{}
}

// onOwner adds what the owner of a set does by itself.
func (e *effects) onOwner(s *set) {
	title := s.title()
	e.onTemplates(s)
	switch {
	case s.Kind == machinePool && s.removed != "":
		e.Add(code.MachinesDeleted, s.removed+": it is deleted with its pool and all instances of that", title)
	case s.Kind == machinePool:
		e.onPool(s)
	default:
		if s.created > 0 && s.unmakeable == "" {
			e.Add(code.MachinesMade, fmt.Sprintf("%s makes %s, because it wants more than the backup holds", title, plural(s.created, "machine", "machines")), title)
		}
		if s.deleted > 0 && s.removed == "" {
			e.Add(code.MachinesDeleted, fmt.Sprintf("%s deletes %s with %s, because it wants fewer than the backup holds", title,
				plural(s.deleted, "machine", "machines"), verb(s.deleted, "its instance", "their instances")), title)
		}
	}
	if s.due != "" && s.unmakeable == "" && !slices.ContainsFunc(s.members, func(f *machine) bool { return f.rolled != "" }) {
		e.Add(code.RolloutDue, fmt.Sprintf("%s replaces some of its machines: %s", title, s.due), title)
	}
	if s.Reason == code.MachinesNotInBackup {
		e.Add(code.MachinesMissing, fmt.Sprintf("%s had more machines than the backup holds: it makes others, and the instances of those may run on", title), title)
	}
	if at := s.rolloutAfter(); at.After(s.cluster.world.in.Now) {
		e.Add(code.RolloutScheduled, fmt.Sprintf("%s replaces all its machines at %s", title, at.UTC().Format("2006-01-02 15:04Z")), title)
	}
}

// onAbsentOwners adds what nobody manages, because who did is not in the backup.
func (e *effects) onAbsentOwners(c *cluster) {
	name := c.title()
	if lost := c.lostPlane(); lost != "" {
		e.Add(code.OwnerHalted, fmt.Sprintf("Nobody manages the control plane until %s exists, which the backup lacks", lost), name)
	}
	if lost := c.unadopted(); lost != "" {
		e.Add(code.OwnerHalted, fmt.Sprintf("%s does nothing for its machines and their etcd until %s exists, which the backup lacks: before that it takes its Machines over, for which it reads the bootstrap objects of all", c.control.title(), lost), c.control.title())
	}
	if lacking := c.managed.lacking(c); lacking != "" {
		e.Add(code.OwnerHalted, fmt.Sprintf("Nothing that the topology of the Cluster wants is done until %s exists, which the backup lacks", lacking), name)
	}
	for _, s := range c.groups {
		if title := s.title(); s.recorded > 0 && s.owned() && s.group() == nil {
			e.Add(code.OwnerHalted, fmt.Sprintf("Nobody manages the machines of %s until it exists, which the backup lacks", title), title)
		}
	}
}

// lostPlane names the control plane if the backup lacks its object; without one that the
// provider runs, no controller acts on the cluster at all.
func (c *cluster) lostPlane() string {
	own := c.own
	if own == nil || own.Derived || !c.lacks(own.ControlPlane) || own.ControlPlane.Kind == c.controller.OwnsKubeconfig {
		return ""
	}
	return objectOf(own.ControlPlane)
}

// unadopted names a bootstrap object that the backup lacks, for which KubeadmControlPlane
// does nothing: a restore takes away that it owns its Machines, and it fails to take them
// over, before all else, while the KubeadmConfig of one of them is absent (adoptMachines in
// controlplane/kubeadm/internal/controllers/controller.go v1.6.0 to v1.14.0).
func (c *cluster) unadopted() string {
	if c.control.Kind != kubeadm {
		return ""
	}
	for i := range c.control.members {
		if f := c.control.members[i]; f.unbootstrapped() {
			return objectOf(f.Machine.Bootstrap)
		}
	}
	return ""
}

// owned reports whether the set is a group that an object of the backup makes.
func (s *set) owned() bool {
	return s.Kind == machineSet || s.Kind == machineDeployment || s.Kind == machinePool
}

// ownerless reports whether the MachineSet of a machine is not in the backup, while
// its MachineDeployment is.
func (f *machine) ownerless() bool {
	if f.Machine == nil || f.Machine.Owner.Kind != machineSet || f.set.Kind != machineDeployment {
		return false
	}
	return f.cluster.group(owner{machineSet, f.Machine.Owner.Name}) == nil && f.set.group() != nil
}

// onTemplates adds what follows where the owner can make no machine.
func (e *effects) onTemplates(s *set) {
	title := s.title()
	switch {
	case s.unmakeable == "":
	case s.idle():
		e.Add(code.OwnerHalted, fmt.Sprintf("%s does nothing for its machines and their etcd until its template exists again: %s", title, s.unmakeable), title)
	case s.due != "":
		e.Add(code.OutcomeUnknown, fmt.Sprintf("A rollout of %s is due, for which it can make no machine: %s. How many running ones it deletes all the same is up to maxSurge and maxUnavailable", title, s.unmakeable), title)
	case s.created > 0 || slices.ContainsFunc(s.members, func(f *machine) bool { return f.Machine != nil && f.unhealthy && f.remedied }):
		e.Add(code.CannotReplace, fmt.Sprintf("%s has to make machines and cannot: %s", title, s.unmakeable), title)
	}
}

// idle reports whether KubeadmControlPlane does nothing, because it compares its machines
// with a template that the backup lacks (Cluster API controlplane/kubeadm/internal/filters.go
// matchesInfraMachine v1.12.0).
func (s *set) idle() bool {
	return s.Kind == kubeadm && s.plane != nil && s.cluster.lacks(s.plane.Infrastructure)
}

// onPool adds what becomes of the members of a pool as a set.
func (e *effects) onPool(s *set) {
	title, p := s.title(), s.Pool
	switch {
	case p == nil:
		return
	case p.State == code.Absent && s.pausedPool() != "":
		e.Add(code.OwnerHalted, fmt.Sprintf("The pool of %s is gone, and nobody makes it again until %s is unpaused", title, s.pausedPool()), title)
		return
	case p.State == code.Absent:
		e.Add(code.MachinesMade, fmt.Sprintf("The pool of %s is gone: it is made again, with new machines", title), title)
		return
	case p.State == code.Undecided:
		e.Add(code.PoolNotDecided, fmt.Sprintf("Whether the pool of %s exists could not be looked up", title), title)
		return
	case !p.DesiredNow.Known:
		e.Add(code.PoolNotDecided, fmt.Sprintf("What the pool of %s is set to could not be looked up", title), title)
		return
	}
	now := int(p.DesiredNow.N)
	wants, remedy := fmt.Sprintf("wants %d", now+s.created), "its replicas"
	if s.deleted > 0 {
		wants = fmt.Sprintf("wants %d", s.poolWants)
	}
	if s.bounded {
		wants, remedy = fmt.Sprintf("allows %d to %d", p.Min.N, p.Max.N), "maxSize of its infrastructure"
	}
	if s.deleted > 0 {
		e.Add(code.PoolScaledBack, fmt.Sprintf("The pool of %s is set to %d, and the backup %s: %s, undrained, as soon as %s acts. Set %s to %d before that",
			title, now, wants, plural(s.deleted, "running instance ends", "running instances end"), s.cluster.controller.Name, remedy, now), title)
	}
	if s.created > 0 {
		e.Add(code.PoolGrown, fmt.Sprintf("The pool of %s is set to %d, and the backup %s: %s made", title,
			now, wants, plural(s.created, "instance is", "instances are")), title)
	}
}

// onPlane adds what becomes of the control plane as a whole.
func (e *effects) onPlane(c *cluster) {
	name := c.control.title()
	if c.remaking != "" {
		e.Add(code.ControlPlaneDown, english.Capital(c.remaking), name)
	}
	e.onLeftOut(c)
	if h := c.endangering(); h != nil {
		e.Add(code.OutcomeUnknown, "Whether the API server answers is not known. If it does not, KubeadmControlPlane takes the control plane for one that was never initialised, and deletes one of its Machines for "+h.title()+", whether or not its instance runs", name)
	}
	switch harm := c.harm(); {
	case harm != "":
		e.Add(code.ControlPlaneDown, fmt.Sprintf("Of the control plane %s stopped (%s), and %s: %s", plural(c.stopped, "machine is", "machines are"), c.stoppedNames(), c.nobodyStarts(), harm), name)
	case c.lostControlPlane():
		e.Add(code.ControlPlaneDown, "No machine of the control plane was found: its API server does not answer, and no controller brings etcd back", name)
	case c.ControlPlane.Reason == code.ControlPlaneLost && c.Nodes.State != "read": // a list is read from a majority of etcd
		e.Add(code.ControlPlaneDown, "Of the machines of the control plane that the backup records no majority exists: whether etcd has one is not known here", name)
	}
	if c.ControlPlane.Reason == code.HostedInManagementCluster {
		e.Add(code.HostedControlPlane, "Its control plane ran as pods inside the management cluster: what is left of it is not known here", name)
	}
	if p := c.plane; p != nil && p.Unseen {
		e.Add(code.SpecUnseen, fmt.Sprintf("%s was changed shortly before the backup, and its controller had not seen the change: what it does about it is not known here", name), name)
	}
}

// onLeftOut adds what becomes of what runs of the control plane and has no Machine in the
// backup, Ghosts aside: what was left out of the backup is gone for KubeadmControlPlane as much
// as a Ghost. With no Machine at all it begins again, no matter what answers behind the endpoint
// (reconcile, reconcileEtcdMembers and initializeControlPlane in
// controlplane/kubeadm/internal/controllers v1.6.0 to v1.13.0; in
// controlplane/kubeadm/reconcilers/kubeadmcontrolplane v1.14.0).
func (e *effects) onLeftOut(c *cluster) {
	p, name := &c.control, c.control.title()
	var left []string
	for i := range p.members {
		if f := p.members[i]; f.orphan() || f.Machine == nil && f.verdict.Status == code.Unknown && f.verdict.Instance != nil {
			left = append(left, f.object())
		}
	}
	switch {
	case p.Kind != kubeadm:
	case c.recorded == 0 && p.created > 0 && p.unmakeable == "" && (len(p.members) > 0 || p.Reason == code.MachinesNotInBackup):
		e.Add(code.EtcdMembersRemoved, fmt.Sprintf("The backup holds no Machine of %s, which had some: it makes its first Machine as that of a new control plane, beside what runs. That one begins an empty cluster behind the same endpoint, or joins and is then the only member that etcd keeps", name), name)
	case left == nil || c.externalEtcd() || c.recorded == 0 || c.pausedPlane() != "" || c.pausedMember() != "" || c.nodeless > 0 && !c.remediates:
		// It leaves etcd alone.
	case c.undecided > 0 || c.stalled():
		e.Add(code.OutcomeUnknown, "Whether KubeadmControlPlane removes these from etcd, because the backup lacks their Machines, depends on what is not known of other machines of the control plane", left...)
	default:
		e.Add(code.EtcdMembersRemoved, sayings[code.EtcdMembersRemoved], left...)
	}
}

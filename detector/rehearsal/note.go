package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// notesOnCluster returns what to know of one cluster.
func notesOnCluster(c *cluster, f *Cluster) []report.Note {
	var out []report.Note
	add := func(when bool, reason code.Reason, format string, args ...any) {
		if when {
			out = append(out, report.Note{Code: reason, Message: fmt.Sprintf(format, args...)})
		}
	}
	add(c.Paused, code.ClusterPaused, "Paused in the backup, and so after the restore: nothing is adopted, replaced or remediated until spec.paused is set to false; keep it so if it was paused on purpose")
	identities := c.absentIdentities()
	if len(identities) > 0 {
		add(true, code.IdentityAbsent, "%s is not in the backup: the cluster is not reconciled until it exists; create its Secret first, then the identity, then change an annotation on the infrastructure cluster, because the controller backs off", strings.Join(identities, " and "))
		out[len(out)-1].Objects = identities
	}
	add(c.Derived, code.ClusterObjectAbsent, "Its Cluster object is not in the backup: no controller acts on it until it is created again, by hand, by a ClusterDeployment or by GitOps")
	add(c.ControlPlane.Reason == code.HostedInManagementCluster, code.HostedInManagementCluster, "Its control plane ran as pods inside the management cluster, and is lost with it until it is restored there")
	lost := "no controller brings it back"
	if c.remaking != "" {
		lost = "keep it paused until you have decided, because " + c.remaking
	}
	add(c.lostControlPlane() && c.stopped == 0, code.ControlPlaneGone, "No machine of its control plane was found. If the cluster was deleted after the backup, leave it out of the restore: restoring it would re-create an empty cluster. If it was lost, %s: restore etcd from a snapshot, or rebuild the cluster", lost)
	if harm := c.harm(); harm != "" {
		add(true, code.ControlPlaneStopped, "Of its control plane %s stopped: %s. %s: have %s started, %s. Until then %s",
			plural(c.stopped, "machine is", "machines are"), c.stoppedNames(), english.Capital(c.nobodyStarts()), verb(c.stopped, "it", "them"), cmp.Or(c.startFirst(), "best before the restore"), harm)
	}
	if e := f.ControlPlane.Etcd; e != nil {
		add(e.Removed > 0, code.EtcdShrinks, "%s", e.Message)
	}
	for _, r := range rollouts(f) {
		add(true, code.RolledOut, "%s", r.Message)
	}
	for _, s := range c.all {
		n := 0
		for i := range s.members {
			n += one(s.members[i].outcome == code.RolledByOwner)
		}
		if n > 0 {
			add(true, code.RolloutDue, "A rollout of %s is due: %s replaced, one after the other. Of the first one: %s", s.title(), plural(n, "machine is", "machines are"), s.due)
		}
	}
	for _, e := range f.Effects {
		// Of identities and of a Cluster object that are absent there are notes already.
		more := e.Code != code.ClusterHalted || !c.Derived && !slices.Contains(identities, e.Until)
		if noted[e.Code] && sayings[e.Code] != e.Message && more {
			out = append(out, report.Note{Code: e.Code, Message: e.Message, Objects: e.Objects})
		}
	}
	for i, g := range f.Groups {
		if g.ManagedBy != "" {
			add(true, code.ReplicasManaged, "The replicas of %s %s are set by %s: those of the backup are of its time, and change again after the restore", c.groups[i].Kind, c.groups[i].Name, g.ManagedBy)
		}
	}
	duplicated := c.duplicated()
	if c.controller.DeletesCopies {
		add(len(duplicated) > 0, code.DuplicateID, "More than one VM has the id of %s: %s destroys every one of them that is in the datacenter of the Machine when that is deleted; give the copy another id or remove it first", strings.Join(duplicated, ", "), c.controller.Name)
	} else {
		add(len(duplicated) > 0, code.DuplicateID, "More than one instance has the id of %s: deleting the Machine may delete every one of them; remove the copy first", strings.Join(duplicated, ", "))
	}
	return out
}

// startFirst says why stopped machines of the control plane have to be started before
// anything else, or is empty.
func (c *cluster) startFirst() string {
	if c.remaking == "" {
		return ""
	}
	return "before the cluster is unpaused: " + c.remaking
}

// noted are the effects that are notes on their cluster, too, where they are of an
// owner or of the cluster itself. Of the others notes of their own say more.
var noted = map[code.Reason]bool{
	code.MachinesDeleted: true, code.PoolScaledBack: true, code.RolloutDue: true, code.ClusterHalted: true, code.ResourceUndecided: true, code.SpecUnseen: true,
	code.OwnerHalted: true, code.CannotReplace: true, code.MachinesMade: true, code.PoolGrown: true, code.ResourceMade: true, code.RolloutScheduled: true, code.ChangesUndone: true,
	code.NetworkSetBack: true, code.RefusedAtFirst: true, code.MachinesUnowned: true,
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// absentIdentities returns the identities that the cluster waits for.
func (c *cluster) absentIdentities() []string {
	var out []string
	for _, h := range c.halts {
		if h.identity {
			out = append(out, h.Object)
		}
	}
	return out
}

// duplicated returns the machines whose id a second VM has.
func (c *cluster) duplicated() []string {
	var out []string
	for _, s := range c.all {
		for i := range s.members {
			if f := s.members[i]; f.warned(code.DuplicateID) {
				out = append(out, f.verdict.Name)
			}
		}
	}
	return out
}

func rollouts(f *Cluster) []*report.Rollout {
	var out []*report.Rollout
	if r := f.ControlPlane.Rollout; r != nil {
		out = append(out, r)
	}
	for _, g := range f.Groups {
		if g.Rollout != nil {
			out = append(out, g.Rollout)
		}
	}
	return out
}

// textOf returns the cluster's forecast in one line.
func textOf(c *cluster, f *Cluster) string {
	if c.Paused {
		return "paused: nothing happens until it is unpaused"
	}
	var parts []string
	add := func(n int, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	o := f.Outcomes
	add(o[code.Adopted]+o[code.AdoptedPoweredOn]+o[code.AdoptedByName], "%d adopted")
	add(o[code.ReplacedByMachineHealthCheck], "%d replaced by a health check")
	add(o[code.NewInstanceCreated], "%d re-created")
	add(o[code.NewInstanceNeverJoins], "%d given a new instance that never joins")
	add(o[code.OtherInstanceTaken], "%d given another instance of its name")
	add(o[code.Stuck]+o[code.StuckNodeLeft], "%d broken until you act")
	add(o[code.OrphanedAndReplaced], "%d orphaned and replaced")
	left, evicted := o[code.GhostKeepsRunning]+o[code.GhostEtcdMemberKept], o[code.GhostEtcdMemberRemoved]
	if left > 0 {
		parts = append(parts, ghosts(left, "left unmanaged"))
	}
	if evicted > 0 {
		parts = append(parts, ghosts(evicted, "taken out of etcd and left unmanaged"))
	}
	add(o[code.RolledByOwner], "%d replaced by their owners")
	add(o[code.DeletedByOwner]+o[code.DeletedByMachineHealthCheck]+o[code.MemberGone], "%d deleted")
	add(o[code.Halted], "%d not touched until you act")
	created, deleted := 0, 0
	for i, s := range c.all {
		if s.removed != "" {
			continue
		}
		r := &f.ControlPlane.Replicas
		if i > 0 {
			r = &f.Groups[i-1].Replicas
		}
		created, deleted = created+r.Created, deleted+r.Deleted
	}
	add(max(0, created-o[code.OrphanedAndReplaced]), "%d further created")
	add(deleted, "%d deleted by their owners")
	add(o[code.CannotKnow], "%d not known")
	if len(parts) == 0 {
		parts = append(parts, "no machines")
	}
	text := strings.Join(parts, ", ")
	if len(c.halts) > 0 {
		text = "is not reconciled until " + names(c.halts) + "; then " + text
	}
	return text
}

func ghosts(n int, becomes string) string {
	if n == 1 {
		return "1 ghost " + becomes
	}
	return fmt.Sprintf("%d ghosts %s", n, becomes)
}

package forecast

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/detector"
)

// Codes of notes on a cluster.
const (
	ClusterPaused             = "ClusterPaused"
	IdentityAbsent            = "IdentityAbsent"
	ClusterObjectAbsent       = "ClusterObjectAbsent"
	ControlPlaneGone          = "ControlPlaneGone"
	EtcdShrinks               = "EtcdShrinks"
	RolledOut                 = "RolledOut"
	ReplicasManaged           = "ReplicasManaged"
	DuplicateID               = "DuplicateID"
	HostedInManagementCluster = "HostedInManagementCluster"
)

// Codes of notes on the estate.
const (
	AssumedOrder          = "AssumedOrder"
	WebhooksDuringRestore = "WebhooksDuringRestore"
	OldManagementCluster  = "OldManagementCluster"
	UnpausedClusters      = "UnpausedClusters"
	NotHealing            = "NotHealing"
)

// notesOnCluster are what to know of one cluster.
func notesOnCluster(c *cluster, f *Cluster) []Note {
	var out []Note
	add := func(when bool, code, format string, args ...any) {
		if when {
			out = append(out, Note{code, fmt.Sprintf(format, args...)})
		}
	}
	add(c.Paused, ClusterPaused, "paused in the backup, and so after the restore: nothing is adopted, replaced or remediated until somebody sets spec.paused to false; keep it so if it was paused on purpose")
	add(len(c.halts) > 0, IdentityAbsent, "%s is not in the backup: the cluster stands still until it exists; create its Secret first, then the identity, then change an annotation on the infrastructure cluster, because CAPV's retries come ever later", strings.Join(c.halts, " and "))
	add(c.Derived, ClusterObjectAbsent, "its Cluster object is not in the backup: no controller acts on it until somebody or something (a ClusterDeployment, GitOps) makes it again")
	add(c.ControlPlane.Reason == detector.HostedInManagementCluster, HostedInManagementCluster, "its control plane ran as pods inside the management cluster, and is lost with it until it is restored there")
	add(c.dead(), ControlPlaneGone, "no machine of its control plane exists: if it was deleted after the backup, delete the Cluster before the restore brings it back to life as a shell")
	add(f.ControlPlane.Etcd.Removed > 0, EtcdShrinks, "%s", f.ControlPlane.Etcd.Message)
	for _, r := range rollouts(f) {
		add(true, RolledOut, "%s", r.Message)
	}
	for i, g := range f.Groups {
		add(g.ManagedBy != "", ReplicasManaged, "the replicas of %s %s are set by %s: those of the backup are of its time, and change again after the restore", c.groups[i].Kind, c.groups[i].Name, g.ManagedBy)
	}
	var doubles []string
	for _, s := range c.sets() {
		for i := range s.members {
			if s.members[i].warned(detector.DuplicateID) {
				doubles = append(doubles, s.members[i].verdict.Name)
			}
		}
	}
	add(len(doubles) > 0, DuplicateID, "more than one VM bears the BIOS UUID of %s: CAPV destroys every one of them when the Machine is deleted; change the copy's UUID or remove it first", strings.Join(doubles, ", "))
	return out
}

func rollouts(f *Cluster) []*Rollout {
	var out []*Rollout
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

// notesOnEstate are what to know of the restore as a whole.
func notesOnEstate(s *backup.Snapshot, all []*cluster) []Note {
	clones, second, notHealing := 0, 0, 0
	var running []string
	for _, c := range all {
		if c.Self {
			continue
		}
		if !c.Paused {
			running = append(running, c.ID.Namespace+"/"+c.ID.Name)
		}
		for _, s := range c.sets() {
			for i := range s.members {
				f := &s.members[i]
				if f.stale() && !heals[f.outcome] {
					notHealing++
				}
				switch {
				case c.Provider != vsphere || c.Paused || f.machine == nil:
				case f.stale() && !f.unprovisioned():
					clones++
				case f.healthy() && (f.warned("Renamed") || f.warned("Moved")):
					second++
				}
			}
		}
	}
	slices.Sort(running)
	out := []Note{{AssumedOrder, fmt.Sprintf("the forecast assumes that Velero restores Cluster objects last, as it does by default. If they come first, or exist already, CAPV makes VSphereVMs without their ids and clones new VMs: for up to %d Stale machines under the old names, and for up to %d renamed or moved VMs beside the living ones", clones, second)}}
	out = append(out, Note{WebhooksDuringRestore, webhooks(s)})
	out = append(out, Note{OldManagementCluster, "make sure that the old management cluster is gone, or all its Clusters are paused: while both reconcile the same VMs, a delete on either side destroys a living one"})
	if len(running) > 0 {
		out = append(out, Note{UnpausedClusters, fmt.Sprintf("%d clusters are not paused in the backup, so that their controllers act as soon as their objects are back: %s", len(running), few(running))})
	}
	if notHealing > 0 {
		out = append(out, Note{NotHealing, fmt.Sprintf("%d Stale machines will not heal by themselves, whatever the word ManualRemediationNotRequired promises: no controller replaces them", notHealing)})
	}
	return out
}

// webhooks warns of webhook configurations, which stop a restore while the
// controllers that serve them are stopped.
func webhooks(s *backup.Snapshot) string {
	n := 0
	for _, k := range webhookKinds {
		for r := range k.In(s).All() {
			if isClusterAPIWebhook(r.Name) {
				n++
			}
		}
	}
	const rule = "webhook configurations of Cluster API must be absent, or their controllers running, while Velero restores: else all Clusters, Machines and infrastructure machines fail with connection refused"
	if n > 0 {
		return fmt.Sprintf("%s. The backup holds %d such configurations, and the restore brings them along: exclude them, or let the controllers run", rule, n)
	}
	return rule + ". The backup holds none; those of the new cluster count all the same"
}

// few lists the first names and counts the rest.
func few(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// textOf is the cluster's forecast in one line.
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
	add(o[Adopted]+o[AdoptedPoweredOn]+o[AdoptedByName], "%d adopted")
	add(o[ReplacedByMachineHealthCheck], "%d replaced by a health check")
	add(o[NewInstanceCreated], "%d made anew")
	add(o[Stuck]+o[StuckNodeLeft], "%d broken until somebody acts")
	add(o[OrphanedAndReplaced], "%d orphaned and replaced")
	running, evicted := o[GhostKeepsRunning]+o[GhostEtcdMemberKept], o[GhostEtcdMemberRemoved]
	add(running, "%d "+ghosts(running)+" on")
	add(evicted, "%d "+ghosts(evicted)+" on as no etcd member")
	add(o[CannotKnow], "%d cannot be told")
	if len(parts) == 0 {
		parts = append(parts, "no machines")
	}
	text := strings.Join(parts, ", ")
	if len(c.halts) > 0 {
		text = "stands still until " + strings.Join(c.halts, " and ") + " exists; then " + text
	}
	return text
}

func ghosts(n int) string {
	if n == 1 {
		return "ghost runs"
	}
	return "ghosts run"
}

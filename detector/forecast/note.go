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
	ControlPlaneStopped       = "ControlPlaneStopped"
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
	add(c.Paused, ClusterPaused, "Paused in the backup, and so after the restore: nothing is adopted, replaced or remediated until somebody sets spec.paused to false; keep it so if it was paused on purpose")
	add(len(c.halts) > 0, IdentityAbsent, "%s is not in the backup: the cluster stands still until it exists; create its Secret first, then the identity, then change an annotation on the infrastructure cluster, because the retries of its controller come ever later", strings.Join(c.halts, " and "))
	add(c.Derived, ClusterObjectAbsent, "Its Cluster object is not in the backup: no controller acts on it until somebody or something (a ClusterDeployment, GitOps) makes it again")
	add(c.ControlPlane.Reason == detector.HostedInManagementCluster, HostedInManagementCluster, "Its control plane ran as pods inside the management cluster, and is lost with it until it is restored there")
	add(c.dead() && c.stopped == 0, ControlPlaneGone, "No machine of its control plane exists. If the cluster was deleted after the backup, leave it out of the restore, which would bring it back as a shell. If it was lost, no controller brings it back: etcd has to be recovered from a snapshot, or the cluster made anew")
	harm := c.harm()
	add(harm != "", ControlPlaneStopped, "Of its control plane %s stopped: %s. %s: have %s started, best before the restore. Until then %s",
		plural(c.stopped, "machine is", "machines are"), c.stoppedNames(), sentence(c.nobodyStarts()), verb(c.stopped, "it", "them"), harm)
	add(f.ControlPlane.Etcd.Removed > 0, EtcdShrinks, "%s", f.ControlPlane.Etcd.Message)
	for _, r := range rollouts(f) {
		add(true, RolledOut, "%s", r.Message)
	}
	for i, g := range f.Groups {
		add(g.ManagedBy != "", ReplicasManaged, "The replicas of %s %s are set by %s: those of the backup are of its time, and change again after the restore", c.groups[i].Kind, c.groups[i].Name, g.ManagedBy)
	}
	doubles := c.doubles()
	if c.controller.DeletesCopies {
		add(len(doubles) > 0, DuplicateID, "More than one VM bears the id of %s: %s destroys every one of them when the Machine is deleted; give the copy another id or remove it first", strings.Join(doubles, ", "), c.controller.Name)
	} else {
		add(len(doubles) > 0, DuplicateID, "More than one instance bears the id of %s: deleting the Machine may delete every one of them; remove the copy first", strings.Join(doubles, ", "))
	}
	return out
}

// doubles are the machines whose id a second VM bears.
func (c *cluster) doubles() []string {
	var out []string
	for _, s := range c.sets() {
		for i := range s.members {
			if f := &s.members[i]; f.warned(detector.DuplicateID) {
				out = append(out, f.verdict.Name)
			}
		}
	}
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
func notesOnEstate(s *backup.Snapshot, all []*cluster, notHealing int, complete bool) []Note {
	var running []string
	var made clones
	for _, c := range all {
		if c.Self {
			continue
		}
		if !c.Paused {
			running = append(running, c.ID.Namespace+"/"+c.ID.Name)
		}
		made.count(c)
	}
	slices.Sort(running)
	out := []Note{
		{AssumedOrder, made.assumption(complete)},
		{WebhooksDuringRestore, webhooks(s)},
		{OldManagementCluster, "Make sure that the old management cluster is gone, or that all its Clusters are paused: while both reconcile the same VMs, a delete on either side destroys a living one"},
	}
	if n := len(running); n > 0 {
		out = append(out, Note{UnpausedClusters, fmt.Sprintf("%s not paused in the backup, so that %s controllers act as soon as %s objects are back: %s",
			plural(n, "cluster is", "clusters are"), verb(n, "its", "their"), verb(n, "its", "their"), few(running))})
	}
	if notHealing > 0 {
		out = append(out, Note{NotHealing, fmt.Sprintf("%s will not heal by %s, whatever the word ManualRemediationNotRequired promises: no controller replaces %s",
			plural(notHealing, "Stale machine", "Stale machines"), verb(notHealing, "itself", "themselves"), verb(notHealing, "it", "them"))})
	}
	return out
}

// clones counts the machines for which a controller would clone a VM if Cluster
// objects were restored first: it then looks for a VM by folder and name alone.
type clones struct {
	by                        []string // what the controllers do that would
	stale, unknown, elsewhere int
}

func (n *clones) count(c *cluster) {
	if c.controller.ClustersFirst == "" {
		return
	}
	if does := c.controller.Name + " " + c.controller.ClustersFirst; !slices.Contains(n.by, does) {
		n.by = append(n.by, does)
	}
	if c.Paused {
		return
	}
	for _, s := range c.sets() {
		for i := range s.members {
			f := &s.members[i]
			switch {
			case f.machine == nil || f.unprovisioned():
			case f.stale():
				n.stale++
			case f.verdict.Status == detector.Unknown:
				n.unknown++
			case f.warned("Renamed") || f.warned("Moved"):
				n.elsewhere++
			}
		}
	}
}

// assumption says on what order of the restore the forecast rests, and what
// happens in another one. Numbers are given only when all was seen.
func (n *clones) assumption(complete bool) string {
	const order = "The forecast assumes that Velero restores Cluster objects last, as it does by default. If they come first, or exist already, "
	does := strings.Join(n.by, ", ")
	switch {
	case does == "":
		return order + "controllers act before all objects are back and may make surplus Machines: what then becomes of them is not forecast"
	case !complete:
		return order + does + " and clones new VMs: for Stale machines under the old names, and for renamed or moved VMs beside the living ones. For how many cannot be told, because not everything could be looked at"
	case n.stale+n.unknown+n.elsewhere == 0:
		return order + does + " and finds their VMs by folder and name alone, which changes nothing here"
	}
	var of []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{n.stale, "Stale machine under the old name", "Stale machines under the old names"},
		{n.unknown, "Unknown machine, if it has no VM under its name", "Unknown machines, if they have no VMs under their names"},
		{n.elsewhere, "renamed or moved VM, beside the living one", "renamed or moved VMs, beside the living ones"},
	} {
		if part.n > 0 {
			of = append(of, plural(part.n, part.one, part.many))
		}
	}
	return order + does + " and clones new VMs: for up to " + strings.Join(of, "; for up to ")
}

// webhooks warns of webhook configurations, which stop a restore while the
// controllers that serve them are stopped.
func webhooks(s *backup.Snapshot) string {
	n := 0
	for _, k := range webhookKinds {
		counted := map[string]bool{} // by uid: several backups may hold one
		for r := range k.In(s).All() {
			if isClusterAPIWebhook(r.Name) && !counted[r.UID+r.Name] {
				counted[r.UID+r.Name] = true
				n++
			}
		}
	}
	const rule = "Webhook configurations of Cluster API must be absent, or their controllers running, while Velero restores: else all Clusters, Machines and infrastructure machines fail with connection refused"
	if n > 0 {
		return fmt.Sprintf("%s. The backup holds %d of them, and the restore brings them along: exclude them, or let the controllers run", rule, n)
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
	left, evicted := o[GhostKeepsRunning]+o[GhostEtcdMemberKept], o[GhostEtcdMemberRemoved]
	if left > 0 {
		parts = append(parts, ghosts(left, "left unmanaged"))
	}
	if evicted > 0 {
		parts = append(parts, ghosts(evicted, "taken out of etcd and left unmanaged"))
	}
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

func ghosts(n int, becomes string) string {
	if n == 1 {
		return "1 ghost " + becomes
	}
	return fmt.Sprintf("%d ghosts %s", n, becomes)
}

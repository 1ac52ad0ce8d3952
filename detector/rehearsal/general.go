package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// generalNotes returns what to know of the restore as a whole.
func (w *world) generalNotes(notHealing int) []report.Note {
	var running, named []string
	var made clones
	for _, c := range w.clusters {
		if c.Self {
			continue
		}
		if !c.Paused {
			running = append(running, c.ID.Namespace+"/"+c.ID.Name)
			named = append(named, c.title())
		}
		made.count(c)
	}
	slices.Sort(running)
	slices.Sort(named)
	out := w.byClusterctl()
	if !w.moved() {
		out = []report.Note{{Code: code.AssumedOrder, Message: made.assumption(w.in.Result.Complete)}}
	}
	out = append(out, []report.Note{
		{Code: code.WebhooksDuringRestore, Message: w.webhooks() + defaults(w.clusters)},
		{Code: code.OldManagementCluster, Message: "Make sure that the old management cluster is gone, or that all its Clusters are paused: while both reconcile the same VMs, a delete on either side destroys a running one"},
	}...)
	if n := len(running); n > 0 && !w.moved() {
		out = append(out, report.Note{Code: code.UnpausedClusters, Objects: named, Message: fmt.Sprintf("%s not paused in the backup, so that %s controllers act as soon as %s objects are back: %s",
			plural(n, "cluster is", "clusters are"), verb(n, "its", "their"), verb(n, "its", "their"), english.First(10, running))})
	}
	if notHealing > 0 {
		out = append(out, report.Note{Code: code.NotHealing, Message: fmt.Sprintf("%s will not heal by %s: no controller replaces %s",
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
	for _, s := range c.all {
		for i := range s.members {
			f := s.members[i]
			switch {
			case f.Machine == nil || f.unprovisioned():
			case f.stale():
				n.stale++
			case f.verdict.Status == code.Unknown:
				n.unknown++
			case f.warned(code.Renamed) || f.warned(code.Moved):
				n.elsewhere++
			}
		}
	}
}

// firstClusters is what happens, whatever the provider, when Clusters are back before
// their machines while controllers run: seen with Cluster API 1.13.4 and CAPA 2.13.0.
const firstClusters = "each MachineDeployment may create a new MachineSet and terminate every running worker of the restored one"

// assumption says on what order of the restore the forecast rests, and what
// happens in another one. Numbers are given only when all was seen.
func (n *clones) assumption(complete bool) string {
	const order = "The forecast assumes that Velero restores Cluster objects last, as it does by default. If they come first, or exist already, while controllers run, " + firstClusters
	does := strings.Join(n.by, ", ")
	switch {
	case does == "":
		return order
	case !complete:
		return order + "; " + does + " and clones new VMs: for Stale machines under the old names, and for renamed or moved VMs beside the running ones. For how many is not known, because not everything could be listed"
	case n.stale+n.unknown+n.elsewhere == 0:
		return order + "; " + does + " and finds their VMs by folder and name alone"
	}
	var of []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{n.stale, "Stale machine under the old name", "Stale machines under the old names"},
		{n.unknown, "Unknown machine, if it has no VM under its name", "Unknown machines, if they have no VMs under their names"},
		{n.elsewhere, "renamed or moved VM, beside the running one", "renamed or moved VMs, beside the running ones"},
	} {
		if part.n > 0 {
			of = append(of, plural(part.n, part.one, part.many))
		}
	}
	return order + "; " + does + " and clones new VMs: for up to " + strings.Join(of, "; for up to ")
}

// defaults says whose webhooks must answer before controllers make machines. Without
// the defaults that they fill in, instances of CAPA hung in a real restore.
func defaults(all []*cluster) string {
	var of []string
	for _, c := range all {
		if n := c.controller.Name; !c.Self && c.controller.Defaults && !slices.Contains(of, n) {
			of = append(of, n)
		}
	}
	if of == nil {
		return ""
	}
	return ". Those of " + strings.Join(of, " and ") + " must answer again before any controller creates machines: without their defaults new instances hang"
}

// conditions returns what the forecast depends on, and so an answer that is made of it.
// What endangers most comes first.
func (w *world) conditions(notes []report.Note) []report.Note {
	s := w.in.Snapshot
	order := "All objects of a cluster are back before any controller acts on it: Clusters are restored last, as Velero does by default, or the controllers are stopped, or the Clusters paused until then. If Clusters come first, or exist already because of another restore, Helm or GitOps, " + firstClusters
	if w.moved() {
		order = english.Capital(movedWhole)
	}
	out := []report.Note{{Code: code.RestoreOrder, Message: order}}
	for _, n := range notes {
		if n.Code == code.OldManagementCluster || n.Code == code.WebhooksDuringRestore || n.Code == code.UnpausedClusters || n.Code == code.DeletionForgotten {
			out = append(out, n)
		}
	}
	var extended []string
	for r := range extensions.In(s).All() {
		at := ""
		if r.Data.Service != "" {
			at = fmt.Sprintf(" (Service %s/%s)", r.Data.Namespace, r.Data.Service)
		}
		extended = append(extended, "ExtensionConfig "+r.Name+at)
	}
	var paused, idle, managed, irreplaceable, unread, unseen []string
	for _, c := range w.clusters {
		paused = append(paused, c.pausedObjects()...)
		if c.Self {
			continue
		}
		idle = append(idle, c.pausedOwners()...)
		for _, g := range c.groups {
			if g.managedBy != "" {
				managed = append(managed, g.title()+" by "+g.managedBy)
			}
		}
		irreplaceable = append(irreplaceable, c.irreplaceable()...)
		if len(c.checks) > 0 && !c.read {
			unread = append(unread, c.ID.Namespace+"/"+c.ID.Name)
		}
		unseen = append(unseen, c.unseenConditions()...)
	}
	add := func(reason code.Reason, text string, of []string) {
		if slices.Sort(of); len(of) > 0 {
			out = append(out, report.Note{Code: reason, Message: text + ": " + english.First(10, slices.Compact(of))})
		}
	}
	about := func(reason code.Reason, text string, objects []string) {
		if add(reason, text, objects); len(objects) > 0 {
			out[len(out)-1].Objects = slices.Compact(objects)
		}
	}
	add(code.ExtensionsAnswer, "The servers of these runtime extensions answer: while one does not, Cluster API's own controller ends a minute after each start, and nothing is reconciled", extended)
	about(code.ClustersPaused, "These are paused in the backup, and nothing happens to them until they are unpaused. What is said of them holds from then on, where nobody edited meanwhile what their machines are compared with, such as KubeadmConfigs", paused)
	about(code.OwnersPaused, "These owners are paused in the backup, and create, delete and replace no machine; MachineSets of a paused MachineDeployment do. Look again before they are unpaused", idle)
	add(code.ReplicasManaged, "Something other than Cluster API sets the replicas of these groups, and may change them as soon as it runs", managed)
	add(code.NodesUnread, "All Nodes of these clusters are Ready: their Node lists were not read, and their MachineHealthChecks have machines replaced whose Nodes are not", unread)
	add(code.NodeConditionsUnread, "No Node and no Machine has a condition for which these have the machine replaced: they were not read", unseen)
	about(code.OutsideClusters, "The instances of these objects, which belong to no cluster, were not looked for: each exists, as the only one of its name. Where one does not, its controller creates another", slices.Clone(w.in.Expected.Alone))
	about(code.UnlinkedInstances, "Nothing but their place links these VMs to a cluster, no Node runs on them, and no controller looks at them: none is a member of an etcd", w.unlinked())
	out = append(out, walkConditions(&w.trace)...)
	add(code.NothingToReplace, "No machine needs to be replaced: new ones cannot be created", irreplaceable)
	return append(out,
		report.Note{Code: code.RestoredWhole, Message: "The restore takes the whole backup, cluster-scoped objects too, into its own namespaces, ends without an error, and finds none of its objects there: what is left out is missing for its controller, and what exists already is kept as it is"},
		report.Note{Code: code.SameControllers, Message: "The new controllers are of the releases that wrote the backup, with the same feature gates, reach the infrastructure as the old ones did, and may still change there what they could: reading alone was tried. Others may roll machines, refuse objects, or go no further"},
		report.Note{Code: code.NewestBackup, Message: "No newer backup exists, and nobody changed the clusters since: " + written(s)})
}

// unseenConditions returns the health checks that act on conditions of Nodes which no Node
// list here holds, or on conditions of Machines that are not forecast, with those.
func (c *cluster) unseenConditions() []string {
	var out []string
	for _, h := range c.checks {
		var kinds []string
		for _, condition := range h.spec.Checks.UnhealthyNodeConditions {
			if condition.Type != "Ready" && !c.described {
				kinds = append(kinds, string(condition.Type))
			}
		}
		for _, condition := range h.spec.Checks.UnhealthyMachineConditions {
			if condition.Type == clusterv1.MachineNodeHealthyCondition && !c.described || !isForecast(condition.Type) || podsOf[condition.Type] {
				kinds = append(kinds, condition.Type+" of the Machine")
			}
		}
		if slices.Sort(kinds); len(kinds) > 0 {
			out = append(out, fmt.Sprintf("MachineHealthCheck %s/%s (%s)", c.ID.Namespace, h.name, strings.Join(slices.Compact(kinds), ", ")))
		}
	}
	return out
}

// unlinked returns the instances that are only where machines are.
func (w *world) unlinked() []string {
	var out []string
	for i := range w.in.Result.Unattributed {
		if u := &w.in.Result.Unattributed[i]; u.Unlinked {
			out = append(out, "instance "+cmp.Or(u.Instance.Path, u.Instance.Name, u.Instance.Ref, u.Instance.ID))
		}
	}
	return out
}

// irreplaceable returns the reasons for which machines of the cluster could not be made.
func (c *cluster) irreplaceable() []string {
	var out []string
	for _, s := range c.all {
		if s.unmakeable != "" {
			out = append(out, s.title()+" ("+s.unmakeable+")")
		}
	}
	for i := range c.Resources {
		if r := &c.Resources[i]; r.State == code.Absent && r.WhenGone == code.FailsReplacement {
			out = append(out, fmt.Sprintf("%s %s of %s/%s%s", r.Kind, r.Name, c.ID.Namespace, c.ID.Name, c.how(infra.Need{Kind: r.Kind, Name: r.Name, UsedBy: r.UsedBy})))
		}
	}
	return out
}

// written says when the backups were written.
func written(s *backup.Snapshot) string {
	var out []string
	for i := range s.Backups {
		b := &s.Backups[i]
		if at := b.WrittenTo.UTC(); !b.WrittenTo.IsZero() {
			out = append(out, b.Path+" was written on "+at.Format("2006-01-02 15:04Z"))
		}
	}
	if out == nil {
		return "the backup does not say when it was written"
	}
	return strings.Join(out, ", ")
}

// webhooks warns of webhook configurations, which stop a restore while the
// controllers that serve them are stopped.
func (w *world) webhooks() string {
	s := w.in.Snapshot
	if w.moved() {
		return "Webhooks of Cluster API and its providers must answer while clusterctl restores: it stops at the first object that they refuse, or that nobody asks about"
	}
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

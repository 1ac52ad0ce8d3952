package runbook

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drift-detector/report"
)

// beforeRestore is the estate first, then each cluster, then VMs that are nobody's.
func (b *book) beforeRestore() []Chapter {
	out := []Chapter{b.estate()}
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if c.Self {
			continue
		}
		ch := b.chapter(c, report.BeforeRestore)
		ch.Notes = notes(c)
		for _, s := range sets(c) {
			if text := reasons[s.reason]; text != "" {
				ch.Notes = append(ch.Notes, s.title()+": "+text)
			}
		}
		if len(ch.Notes)+len(ch.Batches) > 0 {
			out = append(out, ch)
		}
	}
	g := gathering{when: report.BeforeRestore}
	for i := range b.InfraMachines {
		m := &b.InfraMachines[i]
		item := Item{Name: m.Instance.Name, Detail: whereabouts(&m.Instance) + "; " + m.Message}
		g.add(m.Reason, b.others[m], item, "To confirm", m.Reason)
	}
	if found := g.finish(); len(found) > 0 {
		out = append(out, Chapter{Title: "VMs that may or may not belong to a cluster", Batches: found})
	}
	return out
}

// reasons is what to do about a control plane or a group as a whole.
var reasons = map[string]string{
	"ControlPlaneLost":          "of its recorded machines no etcd majority exists. If the cluster was deleted or scaled down after the backup, that is all; if machines were lost, recover etcd before anything else.",
	"MachinesNotInBackup":       "the backup holds fewer Machines than its owner counted. A VM that seems to be nobody's may be one of them: remove none of this group before that is settled with a complete backup.",
	"HostedInManagementCluster": "it ran as pods in the lost management cluster. Its own data has to be restored there before the cluster answers again.",
}

func notes(c *report.Cluster) []string {
	var out []string
	if c.Forecast == nil {
		if c.Paused {
			out = append(out, "Paused in the backup, and so after the restore: nothing happens to it until somebody unpauses it.")
		}
		return out
	}
	if c.Forecast.Text != "" {
		out = append(out, "Forecast: "+c.Forecast.Text+".")
	}
	return append(out, sentences(c.Forecast.Notes)...)
}

// chapter is the findings of one cluster, control plane first.
func (b *book) chapter(c *report.Cluster, when string) Chapter {
	ch := Chapter{Title: "Cluster " + key(c)}
	for _, s := range sets(c) {
		ch.Batches = append(ch.Batches, b.batches(s, when)...)
	}
	takenOnce(ch.Batches)
	return ch
}

// estate is what concerns all clusters.
func (b *book) estate() Chapter {
	var d draft
	b.settleScopes(&d)
	b.stopOld(&d)
	b.absences(&d)
	ch := Chapter{Title: "The estate", Steps: d.steps, Batches: b.faults()}
	if text := b.checked(); text != "" {
		ch.Notes = append(ch.Notes, text)
	}
	if f := b.Summary.Forecast; f != nil {
		told := func(n report.Note) bool { return n.Code == "NotHealing" && f.NotHealing > 0 } // in the answer
		ch.Notes = append(ch.Notes, sentences(slices.DeleteFunc(slices.Clone(f.Notes), told))...)
	}
	return ch
}

func sentences(notes []report.Note) []string {
	out := make([]string, len(notes))
	for i := range notes {
		out[i] = notes[i].Sentence()
	}
	return out
}

// stopOld ends the old management cluster, or at least what it does. That one
// Cluster can't be paused, because it was deleted since, keeps none of the others
// from being paused.
func (b *book) stopOld(d *draft) {
	var pauses []command
	for i := range b.Clusters {
		if c := &b.Clusters[i]; !c.Self {
			pause := kubectl(oldManagement, "--namespace="+c.Namespace, "patch", clusters+c.Name, "--type=merge", `--patch={"spec":{"paused":true}}`)
			pauses = append(pauses, pause.orSay("not paused: look at this one"))
		}
	}
	text := "Shut the old management cluster down for good. If any of it still answers and can't be shut down, pause all its Clusters: two management clusters that reconcile the same VMs destroy each other's."
	if b.Options.Filter != nil {
		text += fmt.Sprintf(" This plan is only of the clusters that were asked for (%s): pause the others, too.", b.Options.Filter)
	}
	d.before(text+" The last line lists all that it has: each has to be paused.", append(pauses,
		kubectl(oldManagement, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", "--output=custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,PAUSED:.spec.paused"))...)
}

// settleScopes is for places that hide something.
func (b *book) settleScopes(d *draft) {
	for i := range b.Scopes {
		s := &b.Scopes[i]
		if s.State == "complete" {
			continue
		}
		text := fmt.Sprintf("%s was not listed whole (%s)", scopeName(s), s.State)
		if s.Error != nil {
			text += ": " + strings.TrimSuffix(s.Error.Message, ".")
			if s.Error.Hint != "" {
				text += ". " + strings.TrimSuffix(s.Error.Hint, ".")
			}
		}
		d.before(text + ". Settle that, and run detect again.")
	}
}

// absences is what the backup refers to and lacks, but for what an error of the
// backup is about: that is told there.
func (b *book) absences(d *draft) {
	told := map[*report.Missing]bool{}
	for _, k := range b.errorsFound() {
		for _, m := range b.missed(k) {
			told[m] = true
		}
	}
	for i := range b.Backups {
		for j := range b.Backups[i].Missing {
			m := &b.Backups[i].Missing[j]
			if told[m] {
				continue
			}
			name := strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")
			text := fmt.Sprintf("%s %s is not in the backup, and referred to by %s: %s. ", m.Kind, name, m.ReferredBy, m.Why)
			if identityKinds[m.Kind] != "" {
				text += "Write its manifest now, from your sources or from another backup. After the restore its Secret has to exist first, then the identity."
			} else {
				text += "Find it in your sources or in another backup, or make it again, before its cluster is unpaused."
			}
			d.before(text)
		}
	}
}

var labelForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// gone says that nothing of a cluster exists any more.
func gone(c *report.Cluster) bool {
	return c.Counts.Total > 0 && c.Counts.Stale == c.Counts.Total && dead(c)
}

// goneClusters are those of which nothing exists any more.
func (b *book) goneClusters() []*report.Cluster {
	var out []*report.Cluster
	for i := range b.Clusters {
		if c := &b.Clusters[i]; !c.Self && gone(c) {
			out = append(out, c)
		}
	}
	return out
}

// leavable are those of them whose names a label selector can tell from those of
// all others: it knows no namespaces. A report of some clusters does not know
// what others are called.
func (b *book) leavable() []*report.Cluster {
	if b.Options.Filter != nil {
		return nil
	}
	return slices.DeleteFunc(b.goneClusters(), func(c *report.Cluster) bool {
		return b.names[c.Name] != 1 || !labelForm.MatchString(c.Name)
	})
}

func names(cs []*report.Cluster) string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = key(c)
	}
	return strings.Join(out, ", ")
}

// pausing makes Velero pause every Cluster that it restores (Velero
// internal/resourcemodifiers v1.18.1).
const pausing = `{"version":"v1","resourceModifierRules":[{"conditions":{"groupResource":"clusters.cluster.x-k8s.io"},"mergePatches":[{"patchData":"{\"spec\":{\"paused\":true}}"}]}]}`

// restore is the restore itself.
func (b *book) restore() Chapter {
	var d draft
	d.before("In the new cluster install the releases of Cluster API and of the providers that the old one had, or later ones that still serve the API versions of the backup, and Velero with the object store of the backup. It must hold none of the Clusters yet.",
		kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces"))
	d.before("Leave the controllers running, so that their webhooks answer; or remove Cluster API's webhook configurations before you stop them. With the webhooks in place and nobody behind them, Velero can restore no Cluster, Machine or infrastructure machine.",
		kubectl(management, "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"))
	d.before("Have every Cluster restored paused, so that you let one after the other go. Clusters that were paused in the backup stay so on purpose: do not unpause them with the others.",
		kubectl(management, "--namespace=velero", "create", "configmap", "restore-paused", "--from-literal=modifiers.yaml="+pausing))
	text := "Restore, in Velero's own order: it puts Clusters last. Give it no --restore-resource-priorities that puts them before Machines: " + b.clustersFirst() + "."
	if len(b.Backups) > 1 {
		text += fmt.Sprintf(" The report is of %d backups: restore each, under a name of its own.", len(b.Backups))
	}
	out := b.leavable()
	if len(out) > 0 {
		text += " If you leave clusters out, do not do this, but the next step."
	}
	rest := slices.DeleteFunc(b.goneClusters(), func(c *report.Cluster) bool { return slices.Contains(out, c) })
	if len(rest) > 0 {
		text += " " + b.whyRestored(rest)
	}
	d.before(text, restoring())
	if len(out) > 0 {
		b.leaveOut(&d, out)
	}
	d.before("See that it completed, and read its errors and warnings before you go on. That something already exists is a mere warning, and means all the same that it was not restored.",
		velero("restore", "describe", variable(restoreName), "--details"),
		kubectl(management, "get", "clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io", "--all-namespaces"),
		velero("restore", "logs", variable(restoreName)))
	return Chapter{Title: "Restore it paused, Clusters last", Steps: d.steps}
}

// clustersFirst is what happens when Clusters are restored before Machines.
func (b *book) clustersFirst() string {
	for i := range b.Clusters {
		if p := providers[b.Clusters[i].Provider]; p != nil && p.clusterFirst != "" {
			return p.controller + " then " + p.clusterFirst
		}
	}
	return "controllers then act before all objects are back, and may make surplus Machines"
}

// velero addresses the Velero of the new management cluster.
func velero(words ...any) command {
	return line(append([]any{raw("velero --kubecontext"), variable(management)}, words...)...)
}

// restoring is the restore, with further options.
func restoring(options ...string) command {
	words := []any{"restore", "create", variable(restoreName), raw("--from-backup"), variable(backupName), "--resource-modifier-configmap=restore-paused"}
	for _, o := range options {
		words = append(words, o)
	}
	return velero(append(words, "--wait")...)
}

// leaveOut is the restore without clusters that were deleted on purpose. A label
// selector asks every object for itself (Velero pkg/restore v1.18.1): what does
// not bear the label of its cluster is restored all the same, as most Cluster
// objects themselves.
func (b *book) leaveOut(d *draft, out []*report.Cluster) {
	labels := make([]string, len(out))
	var look []command
	for i, c := range out {
		labels[i] = c.Name
		look = append(look, manage(c.Namespace, "get", clusters+c.Name, "--ignore-not-found"))
	}
	d.before("Instead, if no machine of these exists because they were deleted on purpose: restore without "+names(out)+".",
		restoring("--selector=cluster.x-k8s.io/cluster-name notin ("+strings.Join(labels, ",")+")"))
	d.before("The selector leaves out what bears the label cluster.x-k8s.io/cluster-name. Templates and Secrets often do not, and the Cluster object itself does not always: then it comes back alone. Paused, as here, it does no harm: leave it so. Unpaused, its controllers act on what came back with it, and could build an infrastructure cluster anew. To be rid of it, see that nothing else of it came back, its infrastructure cluster least of all, which would be deleted with it; delete it while it is paused, and unpause it only then, so that its controllers let it go.", look...)
}

// whyRestored says why no line leaves clusters out of which nothing exists.
func (b *book) whyRestored(gone []*report.Cluster) string {
	text := "Of " + names(gone) + " no machine exists any more, and no line is made that leaves that out: "
	if b.Options.Filter != nil {
		return text + "the report is only of some clusters, and a selector would leave a living one of the same name in another namespace out as well. Run detect on all clusters for that line, or leave these paused after the restore."
	}
	return text + "a selector goes by names alone, and can't tell it from others. Leave these paused after the restore."
}

// afterRestore lets one cluster after the other go, and cleans up behind it.
func (b *book) afterRestore() []Chapter {
	var out []Chapter
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if c.Self {
			continue
		}
		ch := b.chapter(c, report.AfterRestore)
		var d draft
		b.identities(&d, c)
		b.release(&d, c)
		ch.Steps = d.steps
		out = append(out, ch)
	}
	return out
}

// identities are applied again when their Secret is there, and the
// infrastructure cluster is touched: CAPV's retries come ever later.
func (b *book) identities(d *draft, c *report.Cluster) {
	if c.Backup < 0 || c.Backup >= len(b.Backups) {
		return
	}
	for i := range b.Backups[c.Backup].Missing {
		m := &b.Backups[c.Backup].Missing[i]
		if !waits(c, m) {
			continue
		}
		lines := []command{kubectl(management, "get", identityKinds[m.Kind]+m.Name)}
		if p := providers[c.Provider]; p != nil {
			lines = append(lines, manage(c.Namespace, "annotate", cmp.Or(p.planeKinds[c.ControlPlane.Kind], p.clusterKind), "--selector=cluster.x-k8s.io/cluster-name="+c.Name, "--overwrite", raw(`drift-detector/retry="$(date +%s)"`)))
		}
		d.after(fmt.Sprintf("The cluster stands still until %s %s exists. See that the Secret is there which it names, if it names one, apply its manifest, then touch the infrastructure cluster, because retries come ever later.", m.Kind, m.Name), lines...)
	}
}

// waits says that a cluster stands still until an identity exists.
func waits(c *report.Cluster, m *report.Missing) bool {
	return identityKinds[m.Kind] != "" && needs(c, m)
}

// needs says that a cluster waits for something that the backup lacks: the
// forecast names it to each, the list of what is missing to the first alone.
func needs(c *report.Cluster, m *report.Missing) bool {
	_, object, _ := strings.Cut(m.ReferredBy, " ")
	if object == key(c) || strings.HasPrefix(object, key(c)+" and ") {
		return true
	}
	return c.Forecast != nil && slices.ContainsFunc(c.Forecast.Notes, func(n report.Note) bool {
		return n.Code == "IdentityAbsent" && strings.Contains(n.Message, m.Kind+" "+m.Name)
	})
}

// memberGhosts counts Ghosts whose etcd members KubeadmControlPlane would remove.
func memberGhosts(c *report.Cluster) int {
	s := sets(c)[0]
	if s.kind != "KubeadmControlPlane" || s.externalEtcd() {
		return 0
	}
	return s.counts.Ghost
}

// release unpauses a cluster that was not paused in the backup.
func (b *book) release(d *draft, c *report.Cluster) {
	if gone(c) {
		d.after("If you left it out, there is nothing to do. If it was restored, leave it paused until it is decided what becomes of it.", listMachines(c))
		return
	}
	b.settleErrors(d, c)
	b.warnOfEviction(d, c)
	unpause := manage(c.Namespace, "patch", clusters+c.Name, "--type=merge", `--patch={"spec":{"paused":false}}`)
	switch {
	case c.Paused:
		d.after("It was paused in the backup. Leave it so until you know who paused it and why; what follows holds from when it is unpaused.", unpause)
	case c.Derived:
		d.after("Its Cluster object was not in the backup. Have it made again (ClusterDeployment, GitOps), and then see what becomes of its Machines.", listMachines(c))
	default:
		d.after("Unpause it, and wait until its Machines have been adopted: Running, with a Node each, but for those below.", unpause, listMachines(c))
	}
}

// warnOfEviction comes before whatever lets KubeadmControlPlane act: it removes
// the members of Ghosts within seconds.
func (b *book) warnOfEviction(d *draft, c *report.Cluster) {
	ghosts := memberGhosts(c)
	if ghosts == 0 {
		return
	}
	d.after(fmt.Sprintf("Before it is unpaused: KubeadmControlPlane removes the etcd members of Ghosts without asking, as soon as all its Machines have Nodes, and early releases remove all at once. Ghosts with a member: %d. See that every member answers. If one that is to stay does not, leave the cluster paused, and repair that member or take a newer backup: when the Ghosts' members go, etcd has no majority. Only if the silent one is a Ghost's, all that are to stay answer, and so does a majority of all: remove the members of the Ghosts by hand now, the silent one first, one at a time, as below.", ghosts)+
		b.etcdAt(c), b.quorum(c)...)
}

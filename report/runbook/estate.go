package runbook

import (
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
	for _, n := range c.Forecast.Notes {
		out = append(out, n.Message+".")
	}
	return out
}

// chapter is the findings of one cluster, control plane first.
func (b *book) chapter(c *report.Cluster, when string) Chapter {
	ch := Chapter{Title: "Cluster " + key(c)}
	for _, s := range sets(c) {
		ch.Batches = append(ch.Batches, b.batches(s, when)...)
	}
	return ch
}

// estate is what concerns all clusters.
func (b *book) estate() Chapter {
	var d draft
	b.settleScopes(&d)
	var pauses []command
	for i := range b.Clusters {
		if c := &b.Clusters[i]; !c.Self {
			pauses = append(pauses, kubectl(oldManagement, "--namespace="+c.Namespace, "patch", clusters+c.Name, "--type=merge", `--patch={"spec":{"paused":true}}`))
		}
	}
	d.before("Shut the old management cluster down for good. If any of it still answers and can't be shut down, pause all its Clusters: two management clusters that reconcile the same VMs destroy each other's.", pauses...)
	b.absences(&d)
	ch := Chapter{Title: "The estate", Steps: d.steps}
	if text := b.checks(); text != "" {
		ch.Notes = append(ch.Notes, text)
	}
	if f := b.Summary.Forecast; f != nil {
		for _, n := range f.Notes {
			ch.Notes = append(ch.Notes, n.Message+".")
		}
	}
	return ch
}

// checks counts what the report says about the backup itself.
func (b *book) checks() string {
	n := map[string]int{}
	for i := range b.Checks {
		n[b.Checks[i].Severity]++
	}
	if n["error"]+n["warning"] == 0 {
		return ""
	}
	return fmt.Sprintf("The report's checks of the backup itself found %d errors and %d warnings: settle the errors before the restore.", n["error"], n["warning"])
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

// absences is what the backup refers to and lacks.
func (b *book) absences(d *draft) {
	for i := range b.Backups {
		for _, m := range b.Backups[i].Missing {
			name := strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")
			text := fmt.Sprintf("%s %s, which %s refers to, is not in the backup: %s. ", m.Kind, name, m.ReferredBy, m.Why)
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

// leavable are clusters of which nothing exists any more, by names that a label
// selector can tell from those of all others.
func (b *book) leavable() []string {
	var out []string
	for i := range b.Clusters {
		c := &b.Clusters[i]
		if !c.Self && c.Counts.Total > 0 && c.Counts.Stale == c.Counts.Total && dead(c) && b.names[c.Name] == 1 && labelForm.MatchString(c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
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
	base := []any{raw("velero --kubecontext"), variable(management), "restore", "create", raw("--from-backup"), variable(backupName), "--resource-modifier-configmap=restore-paused", "--wait"}
	text := "Restore, in Velero's own order: it puts Clusters last. Give it no --restore-resource-priorities that puts them before Machines: CAPV then makes VSphereVMs without their ids, and clones new VMs."
	if len(b.Backups) > 1 {
		text += fmt.Sprintf(" The report is of %d backups: restore each.", len(b.Backups))
	}
	if gone := b.leavable(); len(gone) > 0 {
		text += " Of " + strings.Join(gone, ", ") + " no machine exists any more: if that was deleted on purpose, take the second line, which leaves it out, instead of the first."
		out := append(slices.Clone(base[:len(base)-1]), "--selector=cluster.x-k8s.io/cluster-name notin ("+strings.Join(gone, ",")+")", "--wait")
		d.before(text, line(base...), line(out...))
	} else {
		d.before(text, line(base...))
	}
	d.before("See that it completed, and read its errors and warnings before you go on.",
		line(raw("velero --kubecontext"), variable(management), "restore", "get"),
		kubectl(management, "get", "clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io", "--all-namespaces"))
	return Chapter{Title: "Restore it paused, Clusters last", Steps: d.steps}
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
	for _, m := range b.Backups[c.Backup].Missing {
		if identityKinds[m.Kind] == "" || !needs(c, &m) {
			continue
		}
		lines := []command{kubectl(management, "get", identityKinds[m.Kind]+m.Name)}
		if touched := infraClusters[c.Provider]; touched != "" {
			lines = append(lines, manage(c.Namespace, "annotate", touched, "--selector=cluster.x-k8s.io/cluster-name="+c.Name, "--overwrite", raw(`drift-detector/retry="$(date +%s)"`)))
		}
		d.after(fmt.Sprintf("The cluster stands still until %s %s exists. See that its Secret is there, apply its manifest, then touch the infrastructure cluster, because retries come ever later.", m.Kind, m.Name), lines...)
	}
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

// identityKinds are the cluster-scoped kinds that lead to credentials.
var identityKinds = map[string]string{
	"VSphereClusterIdentity":       "vsphereclusteridentities.infrastructure.cluster.x-k8s.io/",
	"AWSClusterControllerIdentity": "awsclustercontrolleridentities.infrastructure.cluster.x-k8s.io/",
	"AWSClusterRoleIdentity":       "awsclusterroleidentities.infrastructure.cluster.x-k8s.io/",
	"AWSClusterStaticIdentity":     "awsclusterstaticidentities.infrastructure.cluster.x-k8s.io/",
}

// infraClusters are what refers to them, by provider.
var infraClusters = map[string]string{
	"vsphere": "vsphereclusters.infrastructure.cluster.x-k8s.io",
	"aws":     "awsclusters.infrastructure.cluster.x-k8s.io",
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
	unpause := manage(c.Namespace, "patch", clusters+c.Name, "--type=merge", `--patch={"spec":{"paused":false}}`)
	switch {
	case c.Paused:
		d.after("It was paused in the backup. Leave it so until you know who paused it and why; what follows holds from when it is unpaused.", unpause)
	case slices.Contains(b.leavable(), c.Name):
		d.after("If you left it out, there is nothing to do. If it was restored, leave it paused until it is decided what becomes of it.", listMachines(c))
	case c.Derived:
		d.after("Its Cluster object was not in the backup. Have it made again (ClusterDeployment, GitOps), and then see what becomes of its Machines.", listMachines(c))
	default:
		if ghosts := memberGhosts(c); ghosts > 0 {
			d.after(fmt.Sprintf("Before you unpause it: KubeadmControlPlane removes the etcd members of Ghosts without asking, as soon as all its Machines have Nodes, and early releases remove all at once. Ghosts with a member: %d. See that every member answers; if not, remove the members of the Ghosts by hand now, one at a time, as below.", ghosts), b.quorum(c)...)
		}
		d.after("Unpause it, and wait until its Machines have been adopted: Running, with a Node each, but for those below.", unpause, listMachines(c))
	}
}

package plan

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// pausing makes Velero pause every Cluster that it restores (Velero
// internal/resourcemodifiers v1.18.1).
const pausing = `{"version":"v1","resourceModifierRules":[{"conditions":{"groupResource":"clusters.cluster.x-k8s.io"},"mergePatches":[{"patchData":"{\"spec\":{\"paused\":true}}"}]}]}`

// restore is the restore itself.
func (pl *planner) restore() Chapter {
	var d draft
	pl.emptyCluster(&d)
	d.before("Leave the controllers running, so that their webhooks answer; or remove Cluster API's webhook configurations before you stop them, and have them back before the controllers. With the webhooks in place and nobody behind them, Velero can restore no Cluster, Machine or infrastructure machine.",
		kubectl(management, "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"))
	d.before("Have every Cluster restored paused, so that you let one after the other go. Clusters that were paused in the backup stay so on purpose: do not unpause them with the others.",
		inVelero("create", "configmap", "restore-paused", "--from-literal=modifiers.yaml="+pausing)).about = []string{string(code.UnpausedClusters), string(code.ClustersFirst)}
	pl.ready(&d)
	text := "Restore the Backup of the report: compare its time with that above. The line does nothing while a Cluster that is not paused exists, nor where Velero was given an order of its own (--restore-resource-priorities): by default it puts Clusters last. Where Clusters come before their Machines, " + pl.clustersFirst() + ". If Velero's own order puts Clusters behind the Machines too, run the last part of the line by itself."
	if len(pl.Backups) > 1 {
		text += fmt.Sprintf(" The report is of %s: restore each, under a name of its own.", english.Count(len(pl.Backups), "backup"))
	}
	out := pl.leavable()
	decided := len(out) > 0 && !slices.ContainsFunc(out, func(c *report.Cluster) bool { return c.Confirmed == nil })
	if len(out) > 0 {
		text += " If you leave clusters out, do not do this, but the next step."
	}
	rest := slices.DeleteFunc(pl.goneClusters(), func(c *report.Cluster) bool { return slices.Contains(out, c) })
	if len(rest) > 0 {
		text += " " + pl.whyRestored(rest)
	}
	if !decided {
		d.before(text, velero("backup", "get", shell.Variable(backupName)), restoring())
	}
	if len(out) > 0 {
		pl.leaveOut(&d, out, decided)
	}
	d.before("See that it completed, and read its errors and warnings before you go on. That something already exists is a mere warning, and means all the same that it was not restored.",
		velero("restore", "describe", shell.Variable(restoreName), "--details"),
		kubectl(management, "get", "clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io", "--all-namespaces"),
		velero("restore", "logs", shell.Variable(restoreName)),
		inVelero("get", shell.Pieces{"restores.velero.io/", shell.Variable(restoreName)}, "--output=jsonpath={.status.phase}").Prints("Completed").OrStop("the restore did not complete"))
	pl.webhooksBack(&d)
	return Chapter{Title: "Restore it paused, Clusters last", What: "restore it paused, Clusters last", Steps: d.steps}
}

// emptyCluster is where to restore to. A Cluster that is there already is acted on
// while its Machines are not yet back.
func (pl *planner) emptyCluster(d *draft) {
	pl.install(d)
	d.before("Have Velero there, with the object store of the backup, and make its storage locations read-only until all is done: a Velero that may write deletes each backup that has expired. The last line lists all that it has: each must be ReadOnly.",
		accessMode("ReadOnly"), inVelero("get", "backupstoragelocations.velero.io", "--output=custom-columns=NAME:.metadata.name,ACCESS:.spec.accessMode"))
	d.before("The new cluster must hold none of the Clusters yet, also none that another tool makes: what does so by itself (Flux, Argo CD, Helm, k0rdent) stays off until all is restored and unpaused.",
		kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", "--no-headers").Keep("CLUSTERS").
			Then(shell.Empty("CLUSTERS").OrStop("it holds Clusters:", shell.Raw(`"$CLUSTERS"`))))
	d.before("Only if that names one: turn off what made it, and pause it at once. Do not delete it: its controllers would take down what runs under its name. Restore into another management cluster, which holds none.",
		shell.Ask("EXISTING_NAMESPACE", "its namespace"), shell.Ask("EXISTING", "its name"),
		kubectl(management, "--namespace", shell.Variable("EXISTING_NAMESPACE"), "patch", shell.Pieces{clusters, shell.Variable("EXISTING")}, "--type=merge", pausePatch))
}

// ready looks at all that the restore takes for granted. Only the API server's own list says of
// what it is where it is empty, so that Clusters are asked for without kubectl's; later releases of
// Cluster API serve v1beta2 alone.
func (pl *planner) ready(d *draft) {
	list := func(version string) shell.Command {
		return kubectl(management, "get", "--raw", "/apis/cluster.x-k8s.io/"+version+"/clusters")
	}
	kinds := kubectl(management, "get", "namespaces,providers.clusterctl.cluster.x-k8s.io,deployments.apps,backupstoragelocations.velero.io", "--all-namespaces", asJSON)
	d.before("Right before the restore look once more at all that it takes for granted, with a young report: it has to say go. Give it --confirmations with the file that detect took, and --done with the number of each step that it lists and you did.",
		list("v1beta2").Or(list("v1beta1")).Then(kinds).Wrap("{ ", "; }").Pipe(shell.Line(shell.Raw("drift-detector ready"), shell.Variable(reportFile))))
}

// accessMode sets that of all storage locations. Velero deletes expired backups of those that
// are not ReadOnly (pkg/controller/gc_controller.go v1.18.3).
func accessMode(mode string) shell.Command {
	set := inVelero("patch", shell.Raw(`"$L"`), "--type=merge", `--patch={"spec":{"accessMode":"`+mode+`"}}`)
	return inVelero("get", "backupstoragelocations.velero.io", "--output=name").Keep("LOCATIONS").Then(set.OrSay("not patched: look at this one").Each("L", "LOCATIONS"))
}

// webhooksBack comes before anything is unpaused: what controllers make without the
// webhooks' defaults hangs. A Deployment of no replicas counts as available, so that
// the webhooks themselves are asked, by a change that is not kept.
func (pl *planner) webhooksBack(d *draft) {
	var hooks, asked []shell.Command
	known := map[string]bool{}
	look := func(label string, c *report.Cluster, kind string) {
		if known[label] {
			return
		}
		known[label] = true
		hooks = append(hooks, kubectl(management, "get", "mutatingwebhookconfigurations", "--selector=cluster.x-k8s.io/provider="+label, "--output=name").Keep("HOOKS").
			Then(shell.Line(shell.Raw(`test -n "$HOOKS"`)).OrStop("no webhook configuration of "+label+" is there")))
		asked = append(asked, manage(c.Namespace, "annotate", kind, "--selector=cluster.x-k8s.io/cluster-name="+c.Name, "--overwrite", "--dry-run=server", "drift-detector/asked=yes"))
	}
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if p := pl.providers[c.Provider]; p != nil && len(p.MachineKinds) > 0 && !c.Self {
			look("cluster-api", c, "machines.cluster.x-k8s.io")
			look("infrastructure-"+c.Provider, c, p.MachineKinds[0].Resource)
		}
	}
	if len(hooks) > 0 {
		d.before("Before any Cluster is unpaused, see that the webhooks are there and answer: without their defaults new infrastructure machines hang. The last lines ask them and change nothing.", append(hooks, asked...)...)
	}
}

// clustersFirst is what happens when Clusters exist before their Machines while
// controllers run.
func (pl *planner) clustersFirst() string {
	text := "running controllers create new MachineSets and scale the restored ones to 0, which terminates every running worker"
	for i := range pl.Clusters {
		if p := pl.providers[pl.Clusters[i].Provider]; p != nil && p.ClustersFirst != "" {
			return text + "; and " + p.Controller + " " + p.ClustersFirst + ", and clones new VMs"
		}
	}
	return text
}

// inVelero addresses Velero's own namespace of the new management cluster.
func inVelero(words ...any) shell.Command {
	return kubectl(management, append([]any{shell.Pieces{"--namespace=", shell.Variable(veleroSpace)}}, words...)...)
}

// velero addresses the Velero of the new management cluster.
func velero(words ...any) shell.Command {
	return shell.Line(append([]any{shell.Raw("velero --kubecontext"), shell.Variable(management), shell.Pieces{"--namespace=", shell.Variable(veleroSpace)}}, words...)...)
}

// Clusters that controllers act on, and what Velero was started with, which may hold
// an order of its own.
const (
	unpaused = `--output=go-template={{range .items}}{{if .spec.paused}}{{else}}{{.metadata.namespace}}/{{.metadata.name}} {{end}}{{end}}`
	started  = `--output=jsonpath={.spec.template.spec.containers[*].command}{.spec.template.spec.containers[*].args}`
)

// restoring is the restore, with further options. It stops where controllers could
// act before all is there.
func restoring(options ...string) shell.Command {
	words := []any{"restore", "create", shell.Variable(restoreName), shell.Raw("--from-backup"), shell.Variable(backupName), "--resource-modifier-configmap=restore-paused"}
	for _, o := range options {
		words = append(words, o)
	}
	return shell.All(
		kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", unpaused).Keep("UNPAUSED"),
		shell.Empty("UNPAUSED").OrStop("Clusters that are not paused:", shell.Raw(`"$UNPAUSED"`)),
		inVelero("get", "deployments.apps/velero", started).Keep("STARTED"),
		shell.Lacks("STARTED", "--restore-resource-priorities").OrStop("Velero has an order of its own:", shell.Raw(`"$STARTED"`)),
		velero(append(words, "--wait")...))
}

// leaveOut is the restore without clusters that were deleted on purpose. A label
// selector asks every object for itself (Velero pkg/restore v1.18.1): what does
// not have the label of its cluster is restored all the same, as most Cluster
// objects themselves.
func (pl *planner) leaveOut(d *draft, out []*report.Cluster, decided bool) {
	labels := make([]string, len(out))
	for i, c := range out {
		labels[i] = c.Name
	}
	text := "Instead, if no machine of these exists because they were deleted on purpose: restore without " + names(out) + ". The line stops where that above does."
	if decided {
		text = "Restore the Backup of the report, without " + names(out) + ", which " + verb(len(out)) + " given up: compare its time with that above. The line does nothing while a Cluster that is not paused exists, nor where Velero was given an order of its own (--restore-resource-priorities)."
	}
	d.before(text, velero("backup", "get", shell.Variable(backupName)), restoring("--selector=cluster.x-k8s.io/cluster-name notin ("+strings.Join(labels, ",")+")"))
	d.before("The selector leaves out what has the label cluster.x-k8s.io/cluster-name. Templates and Secrets often do not, and the Cluster object itself does not always: then it comes back alone. Paused, as here, it does no harm: leave it so. Unpaused, its controllers act on what came back with it, and could build an infrastructure cluster again. To be rid of it, see that nothing else of it came back, its infrastructure cluster least of all, which would be deleted with it; delete it while it is paused, and unpause it only then, so that its controllers let it go.", kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces"))
}

// whyRestored says why no line leaves clusters out of which nothing exists.
func (pl *planner) whyRestored(gone []*report.Cluster) string {
	text := "Of " + names(gone) + " no machine was found, and no line is made that leaves that out: "
	if pl.Options.Filter != nil {
		return text + "the report is only of some clusters, and a selector would also leave out a running one of the same name in another namespace. Run detect on all clusters for that line, or leave these paused after the restore."
	}
	return text + "a selector goes by names alone, and can't tell it from others. Leave these paused after the restore."
}

func verb(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

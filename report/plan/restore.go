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

// restore returns the restore itself.
func (pl *planner) restore() Chapter {
	if pl.IsMoved() {
		return pl.restoreMoved()
	}
	var d draft
	pl.emptyCluster(&d)
	d.before("Either keep the controllers running, or delete Cluster API's webhook configurations before you stop them, and create them again before you start them again. Where the webhooks are there and nobody answers, Velero can restore no Cluster, Machine or infrastructure machine.",
		kubectl(management, "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations"))
	d.before("Have every Cluster restored paused, so that you let one after the other go. Clusters that were paused in the backup stay so on purpose: do not unpause them with the others. The line fails where a ConfigMap of that name is there already: the restore itself compares it, and stops at any other.",
		pl.isNew().Then(inVelero("create", "configmap", report.ModifiersName, shell.Loose("--from-literal="+report.ModifiersKey+"="+report.Modifiers)))).about = []string{string(code.UnpausedClusters), string(code.ClustersFirst)}
	pl.ready(&d)
	text := restoreText + " By default Velero puts Clusters last. Where they come before their Machines, " + pl.clustersFirst() + ". If that other order puts Clusters behind the Machines, too, leave out of the line what looks at STARTED, and nothing else." + pl.leftOut()
	if len(pl.Backups) > 1 {
		text += fmt.Sprintf(" The report is of %s: restore each, under a name of its own.", english.Count(len(pl.Backups), "backup"))
	}
	out := pl.leavable()
	given := slices.DeleteFunc(slices.Clone(out), func(c *report.Cluster) bool { return c.Confirmed == nil })
	decided := len(out) > 0 && len(given) == len(out)
	if len(given) > 0 {
		text += " It leaves out " + names(given) + ", which " + verb(len(given)) + " given up."
	}
	if len(out) > 0 {
		text += " If you leave clusters out, do not do this, but the next step."
	}
	rest := ""
	if others := slices.DeleteFunc(pl.goneClusters(), func(c *report.Cluster) bool { return slices.Contains(out, c) }); len(others) > 0 {
		rest = " " + pl.whyRestored(others)
	}
	text += rest
	if !pl.recognisesBackup() {
		text += backupByHand
	}
	if !decided {
		pl.leavesCreators(&d, d.before(text, pl.showsBackup(), pl.restoring(given)))
	}
	if len(out) > 0 {
		pl.leaveOut(&d, out, decided, rest)
	}
	name := pl.again(&d, given, out, decided)
	d.before("See that it completed, and read its errors and warnings before you go on. That something already exists is a mere warning, and means all the same that it was not restored.",
		velero("restore", "describe", name, "--details"),
		kubectl(management, "get", "clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io", "--all-namespaces"),
		velero("restore", "logs", name),
		inVelero("get", append(shell.Pieces{"restores.velero.io/"}, name...), "--output=jsonpath={.status.phase}").Prints("Completed").OrStop("the restore did not complete"))
	pl.webhooksBack(&d)
	return Chapter{Title: "Restore it paused, Clusters last", What: "restore it paused, Clusters last", Steps: d.steps}
}

// emptyCluster returns where to restore to. A Cluster that is there already is acted on
// while its Machines are not yet back.
func (pl *planner) emptyCluster(d *draft) {
	if text, look := pl.byHand(management, "another one", managementUID); text != "" {
		d.before("See that MGMT leads to the new management cluster."+text, look)
	}
	pl.install(d)
	d.before("Have Velero there, with the object store of the backup, and make its storage locations read-only until all is done: a Velero that may write deletes each backup that has expired. The first line marks those that it may write to, for the last step of the plan. The last line lists all that it has: each must be ReadOnly.",
		pl.readOnly(), inVelero("get", "backupstoragelocations.velero.io", "--output=custom-columns=NAME:.metadata.name,ACCESS:.spec.accessMode"))
	d.before("The new cluster must not contain any Clusters yet: the lines of this part stop where one is. Keep Flux, Argo CD, Helm and k0rdent off until everything is restored and unpaused.",
		kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", "--no-headers").Keep("CLUSTERS").
			Then(shell.Empty("CLUSTERS").OrStop("it holds Clusters:", shell.Raw(`"$CLUSTERS"`))))
	d.before("Only if that names one of the report: turn off what made it, and pause it at once. The line stops where the cluster holds one that the report does not name: it may be the running management cluster of others. Do not delete it: its controllers would take down what runs under its name. Restore into another management cluster, which holds none.",
		shell.Ask("EXISTING_NAMESPACE", "its namespace"), shell.Ask("EXISTING", "its name"),
		pl.isFilled().Then(kubectl(management, "--namespace", shell.Variable("EXISTING_NAMESPACE"), "patch", shell.Pieces{clusters, shell.Variable("EXISTING")}, "--type=merge", pausePatch)))
}

// ready looks at all that the restore takes for granted.
func (pl *planner) ready(d *draft) {
	looks := []shell.Command{allClusters().OrSay("not printed: Clusters"), kubectl(management, "get", "--raw", "/apis/velero.io/v1/restores").OrSay("not printed: Restores")}
	last := len(report.LooksAt) - 1 // of which there may be no kind
	looks = append(looks,
		kubectl(management, "get", strings.Join(report.LooksAt[:last], ","), "--all-namespaces", asJSON).OrSay("not printed: namespaces, Nodes, Deployments and webhooks"),
		kubectl(management, "get", report.LooksAt[last], "--all-namespaces", asJSON).OrSay("not printed: providers as clusterctl installs them"))
	last = len(report.LooksAtInVelero) - 1 // of which it takes one
	for _, what := range []string{strings.Join(report.LooksAtInVelero[:last], ","), report.LooksAtInVelero[last] + "/" + report.ModifiersName} {
		looks = append(looks, inVelero("get", what, asJSON).OrSay("not printed: "+what))
	}
	all := shell.All(looks...)
	d.before("Right before the restore check once more all that it takes for granted, with a young report: it has to say go. It lists what is open: of what you did, add --done with the number of its step.",
		all.Wrap("{ ", "; }").Pipe(pl.isReady()))
}

// isReady asks for all that the restore takes for granted. It is given the files of what people
// said that detect was given.
func (pl *planner) isReady() shell.Command {
	line := shell.Line(shell.Raw("drift-detector ready"), shell.Variable(reportFile))
	if slices.ContainsFunc(pl.Confirmations, func(c report.Confirmation) bool { return c.State == report.ConfirmationTaken }) {
		line = line.With(shell.Raw("--confirmations"), shell.Variable(saidFile))
		for _, more := range pl.Options.Confirmations[min(1, len(pl.Options.Confirmations)):] {
			line = line.With(shell.Raw("--confirmations"), more)
		}
	}
	return line
}

// wasWritable marks the storage locations that the plan has made read-only.
const wasWritable = "drift-detector/was=ReadWrite"

// readOnly keeps Velero from writing to its storage locations, and marks those to which it might.
// It deletes expired backups of those that are not ReadOnly (pkg/controller/gc_controller.go
// v1.18.3); none is said is writable.
func (pl *planner) readOnly() shell.Command {
	writable := inVelero("get", "backupstoragelocations.velero.io", `--output=go-template={{range .items}}{{if eq (print .spec.accessMode) "ReadOnly"}}{{else}}{{.metadata.name}} {{end}}{{end}}`)
	set := inVelero("patch", shell.Raw(`"backupstoragelocations.velero.io/$L"`), "--type=merge", shell.Loose(`--patch={"metadata":{"labels":{"drift-detector/was":"ReadWrite"}},"spec":{"accessMode":"ReadOnly"}}`))
	return shell.All(pl.isNew(), writable.Keep("LOCATIONS"), set.OrSay("not patched: look at this one").Each("L", "LOCATIONS"))
}

// writableAgain takes that back, and leaves what was read-only before.
func (pl *planner) writableAgain() shell.Command {
	set := inVelero("patch", shell.Raw(`"$L"`), "--type=merge", shell.Loose(`--patch={"metadata":{"labels":{"drift-detector/was":null}},"spec":{"accessMode":"ReadWrite"}}`))
	return shell.All(pl.isFilled(), inVelero("get", "backupstoragelocations.velero.io", "--selector="+wasWritable, "--output=name").Keep("LOCATIONS"),
		shell.Line(shell.Raw(`test -n "$LOCATIONS"`)).OrStop("no location is marked: see yourself which was writable before"),
		set.OrSay("not patched: look at this one").Each("L", "LOCATIONS"))
}

// webhooksBack comes before anything is unpaused: what controllers make without the
// webhooks' defaults hangs. A Deployment of no replicas counts as available, so that
// the webhooks themselves are asked, by a change that is not kept, of an object that comes
// back: where a selector finds none nothing is asked, and kubectl is content.
func (pl *planner) webhooksBack(d *draft) {
	var hooks, asked []shell.Command
	var unasked []string
	known := map[string]bool{}
	look := func(label string, of []*report.Cluster, kind func(*report.Cluster) string) {
		if known[label] {
			return
		}
		known[label] = true
		hooks = append(hooks, kubectl(management, "get", "mutatingwebhookconfigurations", "--selector=cluster.x-k8s.io/provider="+label, "--output=name").Keep("HOOKS").
			Then(shell.Line(shell.Raw(`test -n "$HOOKS"`)).OrStop("no webhook configuration of "+label+" is there")))
		i := slices.IndexFunc(of, pl.returns)
		if i < 0 {
			unasked = append(unasked, label)
			return
		}
		asked = append(asked, manage(of[i].Namespace, "annotate", kind(of[i]), "--selector=cluster.x-k8s.io/cluster-name="+of[i].Name, "--overwrite", "--dry-run=server", "--output=name", "drift-detector/asked=yes").Keep("ASKED").
			Then(shell.Line(shell.Raw(`test -n "$ASKED"`)).OrStop("nothing of "+label+" is there to ask its webhooks about")))
	}
	byProvider := map[string][]*report.Cluster{}
	var all []*report.Cluster
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if p := pl.providers[c.Provider]; p != nil && len(p.MachineKinds) > 0 && !c.Self {
			all, byProvider[c.Provider] = append(all, c), append(byProvider[c.Provider], c)
		}
	}
	for _, c := range all {
		look("cluster-api", all, func(*report.Cluster) string { return "machines.cluster.x-k8s.io" })
		look("infrastructure-"+c.Provider, byProvider[c.Provider], func(c *report.Cluster) string { return pl.providers[c.Provider].MachineKinds[0].Resource })
	}
	if len(hooks) == 0 {
		return
	}
	text := "Before any Cluster is unpaused, see that the webhooks are there and answer: without their defaults new infrastructure machines hang. The last lines ask them and change nothing."
	if len(unasked) > 0 {
		text += " None asks those of " + english.First(10, unasked) + ", because no cluster has a Machine that certainly comes back: see yourself that their controllers run."
	}
	d.before(text, append(hooks, asked...)...)
}

// returns reports whether Machines of a cluster come back with the restore: one whose control
// plane is lost may be left out yet.
func (pl *planner) returns(c *report.Cluster) bool {
	return c.Confirmed == nil && !lostControlPlane(c) &&
		slices.ContainsFunc(pl.sets(c), func(s *set) bool { return s.counts.Healthy+s.counts.Stale > 0 })
}

// clustersFirst returns what happens when Clusters exist before their Machines while
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
	return managed.With(shell.Pieces{"--namespace=", shell.Variable(veleroSpace)}).With(words...)
}

// velero addresses the Velero of the new management cluster.
func velero(words ...any) shell.Command {
	return shell.Line(shell.Raw("velero --kubecontext"), shell.Variable(management), shell.Pieces{"--namespace=", shell.Variable(veleroSpace)}).With(words...)
}

// started is what the Deployments of Velero's namespace were started with, however they are called:
// it may hold an order of its own.
const started = `--output=jsonpath={.items[*].spec.template.spec.containers[*].command}{.items[*].spec.template.spec.containers[*].args}`

// notOfTheOld are the webhook configurations of the old cluster, which would ask what is not
// there: those of the new one are installed with its providers; and what the old Velero had, its
// locations, of which one may be written to, and its schedules, which run at once: Velero leaves
// neither out by itself (nonRestorableResources in pkg/controller/restore_controller.go v1.18.3).
const notOfTheOld = "--exclude-resources=validatingwebhookconfigurations,mutatingwebhookconfigurations,backupstoragelocations.velero.io,schedules.velero.io"

// alsoNot adds what creates Clusters.
func (pl *planner) alsoNot() string {
	if pl.createdFirst() == nil {
		return ""
	}
	return "," + creatorKinds
}

// selves returns the management cluster's own Clusters, if a label selector can tell them from all
// others.
func (pl *planner) selves() []*report.Cluster {
	var out []*report.Cluster
	for i := range pl.Clusters {
		if c := &pl.Clusters[i]; c.Self && pl.tells(c) {
			out = append(out, c)
		}
	}
	return out
}

// leftOut says what the line of the restore leaves out for itself.
func (pl *planner) leftOut() string {
	text := " It leaves out the webhook configurations of the old cluster, and the locations and schedules of its Velero"
	if selves := pl.selves(); len(selves) > 0 {
		text += ", and what has the label of the management cluster itself, " + names(selves)
	}
	if pl.createdFirst() != nil {
		text += ", and all from which Flux, Argo CD, k0rdent and EKS Anywhere create Clusters before they are restored: the last part of the plan restores that"
	}
	return text + "."
}

// creatorKinds are what Clusters are created from by others than Velero, and what makes such
// objects (rows owners.6 and owners.8 of docs/walks.md; Velero takes names that it cannot resolve
// as they are: GetResourceIncludesExcludes in pkg/util/collections/includes_excludes.go v1.18.3).
const creatorKinds = "kustomizations.kustomize.toolkit.fluxcd.io,helmreleases.helm.toolkit.fluxcd.io,fluxinstances.fluxcd.controlplane.io,resourcesets.fluxcd.controlplane.io," +
	"applications.argoproj.io,applicationsets.argoproj.io,clusterdeployments.k0rdent.mirantis.com,clusters.anywhere.eks.amazonaws.com"

// createdFirst returns what the answer says that others create before Velero restores it.
func (pl *planner) createdFirst() []string {
	var out []string
	if pl.Summary.Answer != nil {
		for i := range pl.Summary.Answer.Reasons {
			if r := &pl.Summary.Answer.Reasons[i]; r.Code == code.CreatedFirst {
				out = append(out, r.Objects...)
			}
		}
	}
	return out
}

// leavesCreators notes that the line of a step leaves out what creates Clusters.
func (pl *planner) leavesCreators(d *draft, step *Step) {
	created := pl.createdFirst()
	if step.about = append(step.about, created...); !d.refused {
		step.settles = append(step.settles, of(code.CreatedFirst, created...)...)
	}
}

// restoreCreators brings it back at the end.
func (pl *planner) restoreCreators(d *draft) {
	if pl.createdFirst() == nil {
		return
	}
	d.after("When all Clusters are unpaused and no machine is being created, restore what Flux, Argo CD, k0rdent and EKS Anywhere create Clusters from, which the restore left out. First compare what it applies with what is there: it sets Clusters, templates and versions to that at once, and another template or version replaces machines.",
		shell.All(pl.isFilled(), inVelero("get", "backups.velero.io", asJSON).Pipe(pl.isBackup()),
			velero("restore", "create", shell.Pieces{shell.Variable(restoreName), "-creators"}, shell.Raw("--from-backup"), shell.Variable(backupName), "--include-resources="+creatorKinds, "--wait")))
}

// restoring returns the restore, without some clusters and the management cluster's own. It stops
// where controllers could act before all is there. Selectors ask every object for itself (Velero
// pkg/restore/restore.go v1.18.3), and one alone is taken.
func (pl *planner) restoring(without []*report.Cluster) shell.Command {
	return shell.All(pl.isNew(), pl.takesBackup(),
		inVelero("get", "deployments.apps", started).Keep("STARTED"),
		shell.Line(shell.Raw(`test -n "$STARTED"`)).OrStop("no Deployment is there: set "+veleroSpace+" to the namespace of Velero"),
		shell.Lacks("STARTED", "--restore-resource-priorities").OrStop("Velero has an order of its own:", shell.Raw(`"$STARTED"`)),
		pl.creates(shell.Variable(restoreName), without))
}

// takesBackup stops at another Backup than that of the report, and where no ConfigMap pauses.
func (pl *planner) takesBackup() shell.Command {
	return shell.All(inVelero("get", "backups.velero.io", asJSON).Pipe(pl.isBackup()),
		inVelero("get", "configmaps/"+report.ModifiersName, asJSON).Pipe(recheck("pauses", "configmap/"+report.ModifiersName)))
}

// creates returns the Restore of a name, without some clusters and the management cluster's own.
func (pl *planner) creates(name any, without []*report.Cluster) shell.Command {
	words := []any{"restore", "create", name, shell.Raw("--from-backup"), shell.Variable(backupName), "--resource-modifier-configmap=" + report.ModifiersName, notOfTheOld + pl.alsoNot()}
	if without = slices.Concat(without, pl.selves()); len(without) > 0 {
		labels := make([]string, len(without))
		for i, c := range without {
			labels[i] = c.Name
		}
		words = append(words, shell.Loose("--selector=cluster.x-k8s.io/cluster-name notin ("+strings.Join(labels, ",")+")"))
	}
	return velero(append(words, "--wait")...)
}

// restoreText says what the line of the restore does.
const restoreText = "Restore the Backup of the report. The line does nothing at the old management cluster, at a cluster of the report, where a Cluster exists, with another Backup than that of the report, with a ConfigMap that does not pause, or if Velero runs with --restore-resource-priorities."

// leaveOut plans the restore without clusters that were deleted on purpose. A label
// selector asks every object for itself (Velero pkg/restore v1.18.1): what does
// not have the label of its cluster is restored all the same, as most Cluster
// objects themselves.
func (pl *planner) leaveOut(d *draft, out []*report.Cluster, decided bool, rest string) {
	text := "Instead, if no machine of these exists because they were deleted on purpose: restore without " + names(out) + ". It makes the same checks as the line above."
	if decided {
		text = restoreText + " It leaves out " + names(out) + ", which " + verb(len(out)) + " given up." + pl.leftOut() + rest
	}
	if decided && !pl.recognisesBackup() {
		text += backupByHand
	}
	pl.leavesCreators(d, d.before(text, pl.showsBackup(), pl.restoring(out)))
	d.before("The selector leaves out what has the label cluster.x-k8s.io/cluster-name. Templates and Secrets often do not have it, and the Cluster object itself does not always: then it comes back alone. Paused, as here, it does no harm: leave it so. Unpaused, its controllers act on what came back with it, and may create an infrastructure cluster again. To remove it: check that its infrastructure cluster did not come back (it would be deleted, too); delete the Cluster while it is paused; then unpause it so that its finalizer is removed.", kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces"))
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

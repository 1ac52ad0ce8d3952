package rehearsal

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// applierRows are those of controllers that apply objects of Cluster API out of Git or a chart.
var applierRows = []row[*cluster]{
	{walk.Row{
		ID: "owners.8", Of: "Kustomization, HelmRelease and Application",
		Asks:    "a Cluster that it applies, by labels and annotations of the Cluster, or for k0rdent by the name of a ClusterDeployment, unless it is suspended or syncs by hand: it is restored before the Cluster",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.CreatedFirst, What: "it creates the Cluster before Velero restores it, unpaused"},
		Source:  "the labels of kustomize-controller and helm-controller of Flux v2; resource tracking and automated sync of Argo CD v2.0 to v3.3; reconcileHelmRelease: internal/controller/clusterdeployment_controller.go v1.11.4 of k0rdent",
	}, createsCluster},
	{walk.Row{
		ID: "owners.12", Of: "Kustomization, HelmRelease, Application and BundleDeployment",
		Asks:      "a Cluster and its groups of machines, which it sets to what Git or its chart holds, in a backup without it, too: that is not in the backup",
		Condition: code.AppliedAgain,
		Source:    "automated sync of Argo CD v2.0 to v3.3; server-side apply of kustomize-controller and helm-controller of Flux v2",
	}, appliedAgain},
	{walk.Row{
		ID: "owners.15", Of: "BundleDeployment of Fleet",
		Asks:    "the Helm release by which it deployed the Cluster, which a restore brings back before that, without the status that it is deployed",
		None:    walk.Deletes.Says("Fleet uninstalls the release, whose Secret is there and has no BundleDeployment any more, and deletes the Cluster with all its machines"),
		Differs: walk.Does{Effect: walk.Replaces, Code: code.SecondControlPlane, What: "it creates the Cluster before Velero restores it, unpaused"},
		Source:  "Reconcile: internal/cmd/agent/controller/bundledeployment_controller.go, helmdeploy: deployer/deployer.go, cleanup: deployer/cleanup/cleanup.go v0.14.10 of Fleet",
	}, releaseKnown},
}

// isSuspended reports whether the controllers leave it alone, or wait for a person.
func (a *applier) isSuspended(of *backup.Kind[applier]) bool {
	if of != applications {
		return a.Suspended
	}
	var automated *struct{ Enabled *bool }
	_ = json.Unmarshal([]byte(a.Automated), &automated) // what cannot be read syncs
	return a.Skipped == "true" || a.Automated == "" || a.Automated == "null" || automated != nil && automated.Enabled != nil && !*automated.Enabled
}

// appliedBy is what an object says of what applies it.
type appliedBy struct {
	kind            *backup.Kind[applier]
	title           string
	namespace, name string // namespace is empty where it is not known
	guess           bool   // by a label that others write, too
}

// appliers returns what applies the cluster's object.
func (c *cluster) appliers() (all []appliedBy) {
	own := backup.Labels(c.object.Labels)
	app, _, _ := strings.Cut(c.object.Tracking, ":")
	for _, a := range [...]appliedBy{
		{kind: kustomizations, title: "Kustomization", namespace: own.Get("kustomize.toolkit.fluxcd.io/namespace"), name: own.Get("kustomize.toolkit.fluxcd.io/name")},
		{kind: helmReleases, title: "HelmRelease", namespace: own.Get("helm.toolkit.fluxcd.io/namespace"), name: own.Get("helm.toolkit.fluxcd.io/name")},
		{kind: applications, title: "Application", name: cmp.Or(app, own.Get("argocd.argoproj.io/instance"))},
		{kind: applications, title: "Application", name: own.Get("app.kubernetes.io/instance"), guess: true},
		{kind: bundles, title: "BundleDeployment", name: bundleOf(c.object.ObjectSet)},
	} {
		if a.name != "" {
			all = append(all, a)
		}
	}
	if deployments.In(c.world.in.Snapshot).Named(c.ID.Backup, c.ID.Namespace, c.ID.Name) != nil {
		all = append(all, appliedBy{kind: helmReleases, title: "HelmRelease", namespace: c.ID.Namespace, name: c.ID.Name})
	}
	return all
}

// bundleOf returns the BundleDeployment that an id of Fleet names, behind which the agent of the
// management cluster itself writes its own namespace (GetSetID: internal/cmd/agent/deployer/desiredset/plan.go).
func bundleOf(id string) string {
	name, of := strings.CutPrefix(id, "default-")
	if !of {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, "-cattle-fleet-local-system"), "-cattle-fleet-system")
}

// of names it.
func (a *appliedBy) of() string {
	if a.namespace == "" {
		return a.title + " " + a.name
	}
	return named(a.title, a.namespace, a.name)
}

// records returns the objects of the backup that it may be: those of several namespaces have one
// name.
func (a *appliedBy) records(w *world, n int) []*backup.Record[applier] {
	if a.namespace == "" {
		return w.beside().anywhere[applierName{a.kind, n, a.name}]
	}
	if r := a.kind.In(w.in.Snapshot).Named(n, a.namespace, a.name); r != nil {
		return []*backup.Record[applier]{r}
	}
	return nil
}

// createsCluster asks owners.8. k0rdent leaves Clusters out of its own backups on purpose.
func createsCluster(c *cluster) walk.Answer {
	if c.object == nil {
		return notAsked
	}
	found := notAsked
	for _, a := range c.appliers() {
		if a.kind == bundles {
			continue // owners.15
		}
		for _, r := range a.records(c.world, c.ID.Backup) {
			if title := named(a.title, r.Namespace, r.Name); !r.Data.isSuspended(a.kind) {
				return differs(title+" is not suspended", title+" is suspended", title)
			}
			found = passed
		}
	}
	return found
}

// releaseKnown asks owners.15.
func releaseKnown(c *cluster) walk.Answer {
	if c.object == nil || bundleOf(c.object.ObjectSet) == "" {
		return notAsked
	}
	by := appliedBy{kind: bundles, title: "BundleDeployment", name: bundleOf(c.object.ObjectSet)}
	all := by.records(c.world, c.ID.Backup)
	if all == nil && c.world.in.Secrets.Releases[infra.SecretAt{Backup: c.ID.Backup, Namespace: c.object.ReleaseSpace, Name: c.object.Release}] {
		return none(by.of()+" is not in the backup", "the Secrets of Helm release "+c.object.ReleaseSpace+"/"+c.object.Release+" are left out of the restore", c.title())
	}
	for _, r := range all {
		if title := named(by.title, r.Namespace, r.Name); !r.Data.Suspended {
			return differs(title+" is not paused", title+" has spec.paused", title)
		}
	}
	return passed
}

// appliedAgain asks owners.12. What is suspended applies nothing, and what applies the Cluster
// applies its groups, too.
func appliedAgain(c *cluster) walk.Answer {
	if c.object == nil {
		return notAsked
	}
	var objects []string
	suspended := false
	for _, a := range c.appliers() {
		all := a.records(c.world, c.ID.Backup)
		running := slices.ContainsFunc(all, func(r *backup.Record[applier]) bool { return !r.Data.isSuspended(a.kind) })
		switch {
		case running, len(all) == 0 && !a.guess:
			objects = append(objects, a.of()+" on "+c.title())
		case len(all) > 0:
			suspended = true
		}
	}
	if objects == nil && !suspended {
		for _, g := range c.world.groupsOf(c.ID) {
			if g.AppliedBy == "Flux" || g.AppliedBy == "Argo CD" {
				objects = append(objects, g.AppliedBy+" on "+named(g.Kind, g.Namespace, g.Name))
			}
		}
	}
	if objects == nil {
		return passed
	}
	return unseen(objects...)
}

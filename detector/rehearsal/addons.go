package rehearsal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// addonRows are those of controllers that write into workload clusters.
var addonRows = []row[*cluster]{
	{walk.Row{
		ID: "core.B5", Of: "ClusterResourceSet",
		Asks:      "what it applied before, which a restore takes away: with strategy Reconcile it writes all of it again, as the backup has it, with ApplyOnce what is absent by then",
		Condition: code.ResourceSetsApplied,
		Source:    "Reconcile: clusterresourcesetbinding_controller.go; ApplyClusterResourceSet: clusterresourceset_controller.go v1.5.8 to v1.14.0",
	}, resourceSetsApplied},
	{walk.Row{
		ID: "core.B6", Of: "HelmChartProxy",
		Asks:      "the Clusters that it selects, which come back after it: until then it deletes its HelmReleaseProxies, and makes others later, which install the chart or upgrade it to what the backup has; those of the strategy InstallOnce stay",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "the new HelmReleaseProxy does not know the name that was generated for its release, and installs the chart a second time beside it"},
		Condition: code.ResourceSetsApplied,
		Source:    "reconcileNormal, deleteOrphanedHelmReleaseProxies: controllers/helmchartproxy; InstallOrUpgradeHelmRelease: internal/helm_client.go v0.2.0 to v0.6.4 of cluster-api-addon-provider-helm",
	}, chartsInstalled},
	{walk.Row{
		ID: "core.B7", Of: "Profile and ClusterProfile of Sveltos, HelmRelease and Kustomization of Flux with a kubeconfig",
		Asks:      "what they deployed to a workload cluster: a restore takes the record away, so that they deploy it again as the backup has it, unless they are suspended or run dry",
		Condition: code.ResourceSetsApplied,
		Source:    "syncMode: api/v1beta1/spec.go, cleanClusterSummaries: controllers/profile_utils.go v1.14.0 of Sveltos; spec.kubeConfig and spec.suspend of HelmRelease: api/v2 of helm-controller",
	}, deployedAgain},
}

// resourceSetsApplied asks core.B5. An empty selector selects nothing.
func resourceSetsApplied(c *cluster) walk.Answer {
	var objects []string
	for _, r := range c.selectedBy(resourceSets, c.ID.Namespace) {
		if selector := backup.ReadSelector(r.Data.Selector); selector == nil || !selector.Empty() {
			objects = append(objects, c.addonTitle("ClusterResourceSet", r, "ApplyOnce"))
		}
	}
	return c.applies(objects)
}

// chartsInstalled asks core.B6. That of InstallOnce goes by an annotation.
func chartsInstalled(c *cluster) walk.Answer {
	var objects []string
	for _, r := range c.selectedBy(helmCharts, c.ID.Namespace) {
		title := named("HelmChartProxy", r.Namespace, r.Name)
		switch {
		case r.Data.Strategy == "InstallOnce":
			if !c.world.beside().installed[owned{r.Backup, r.Namespace, r.Name + "/" + c.ID.Name}] {
				objects = append(objects, c.addonTitle("HelmChartProxy", r, ""))
			}
		case r.Data.Release == "":
			return differs(title+" has no spec.releaseName", "the controller is off until all is restored, or "+title+" names the release that runs", title)
		default:
			objects = append(objects, c.addonTitle("HelmChartProxy", r, "Continuous"))
		}
	}
	return c.applies(objects)
}

// deployedAgain asks core.B7.
func deployedAgain(c *cluster) walk.Answer {
	var objects []string
	for _, r := range slices.Concat(c.selectedBy(profiles, c.ID.Namespace), c.selectedBy(clusterProfiles, "")) {
		kind := "Profile"
		if r.Namespace == "" {
			kind = "ClusterProfile"
		}
		if r.Data.Strategy != "DryRun" {
			objects = append(objects, c.addonTitle(kind, r, "Continuous"))
		}
	}
	for _, r := range c.world.beside().remote[owned{c.ID.Backup, c.ID.Namespace, c.ID.Name + code.KubeconfigSecret}] {
		if !r.Data.Suspended {
			objects = append(objects, named("HelmRelease or Kustomization", r.Namespace, r.Name)+" on "+c.title())
		}
	}
	return c.applies(objects)
}

// selectedBy returns those of a kind and a namespace that select the cluster. A selector that
// cannot be read may.
func (c *cluster) selectedBy(kind *backup.Kind[addon], namespace string) []*backup.Record[addon] {
	if c.object == nil {
		return nil
	}
	var out []*backup.Record[addon]
	for _, a := range c.world.beside().addons[kind][owned{backup: c.ID.Backup, namespace: namespace}] {
		if a.selector == nil || a.selector.Matches(backup.Labels(c.object.Labels)) || a.names(c.ID) {
			out = append(out, a.Record)
		}
	}
	return out
}

// names reports whether the addon names the cluster, or a set of clusters, of which nothing more is
// read: it may be among them.
func (a *addonSelector) names(id backup.ClusterID) bool {
	var refs []struct{ Namespace, Name string }
	if a.Data.Refs != "" && json.Unmarshal([]byte(a.Data.Refs), &refs) != nil {
		return true
	}
	return a.Data.Sets != "" && a.Data.Sets != "[]" || slices.ContainsFunc(refs, func(r struct{ Namespace, Name string }) bool {
		return r.Name == id.Name && (r.Namespace == id.Namespace || r.Namespace == "")
	})
}

func (c *cluster) addonTitle(kind string, r *backup.Record[addon], strategy string) string {
	return fmt.Sprintf("%s (%s) on %s", strings.Replace(named(kind, r.Namespace, r.Name), " /", " ", 1), cmp.Or(r.Data.Strategy, strategy), c.title())
}

// applies returns the answer about what writes into the cluster.
func (c *cluster) applies(objects []string) walk.Answer {
	switch {
	case c.object == nil:
		return notAsked
	case objects == nil:
		return passed
	}
	return unseen(objects...)
}

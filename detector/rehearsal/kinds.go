package rehearsal

import (
	"maps"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/report/code"
)

// readKinds are those of which the walk asks more than the core keeps, but for what topologies make,
// what others make Clusters of, and what providers are installed of.
var readKinds = []backup.AnyKind{
	servers,
	clusterKinds,
	classKinds,
	resourceSets,
	claims,
	pools,
	globalPools,
	etcdClusters,
	anywhereClusters,
	kustomizations,
	helmReleases,
	applications,
	bundles,
	deployments,
	helmCharts,
	helmProxies,
	profiles,
	clusterProfiles,
	nodeClaims,
	kamajiPlanes,
	planeStatuses,
	k0sPlanes,
	k0sConfigs,
	healthChecks,
	extensions,
	webhookKinds[0],
	webhookKinds[1],
}

// Want returns what a rehearsal needs from a backup beside the core objects.
func Want() backup.Want {
	kinds := slices.Clone(readKinds)
	for i := range orders {
		kinds = append(kinds, orders[i].Kind)
	}
	for _, name := range slices.Sorted(maps.Keys(otherMakers)) {
		kinds = append(kinds, otherMakers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(providerKinds)) {
		kinds = append(kinds, providerKinds[name])
	}
	for _, name := range slices.Sorted(maps.Keys(topologyKinds)) {
		kinds = append(kinds, topologyKinds[name])
	}
	secrets := []backup.SecretRule{
		{Name: "*" + code.KubeconfigSecret, Type: ownType, Mark: ownType},
		{Type: ownType},
		{Type: "helm.sh/release.v1"},
	}
	for _, suffix := range append(slices.Clone(authorities), code.EtcdClientSecret) {
		secrets = append(secrets, backup.SecretRule{Name: "*" + suffix, Optional: []string{"tls.crt", "tls.key"}, Digest: backup.CertificateDigest})
	}
	return backup.Want{Kinds: kinds, Secrets: secrets}
}

// Needs returns those of these kinds that a rehearsal of a backup looks at: where no Cluster has a
// topology, nothing that one makes.
func Needs(s *backup.Snapshot) []backup.AnyKind {
	all := Want().Kinds
	for c := range clusterKinds.In(s).All() {
		if c.Data.Class != "" {
			return all
		}
	}
	return slices.DeleteFunc(all, func(k backup.AnyKind) bool {
		_, of := k.(*backup.Kind[topologyObject])
		return of
	})
}

// clusterObject is what only the walk asks of a Cluster.
type clusterObject struct {
	Generation, Observed backup.Number // of the object, and of what its topology controller has seen
	Class                string        // of its topology; empty: it has none
	ClassNamespace       string
	PendingHooks         string
	WatchFilter          string
	Labels               string // JSON
	Tracking             string // annotation of Argo CD: "APPLICATION:GROUP/KIND:NAMESPACE/NAME"
	ObjectSet            string // annotation of Fleet: "default-BUNDLEDEPLOYMENT-SCOPE"
	Release              string // of Helm
	ReleaseSpace         string

	// Of its topology: what it wants, and its health checks.
	Version                 string
	ControlPlane            string        // the health check, in JSON
	ControlPlaneReplicas    backup.Number // of the control plane
	Names, Classes          []string      // of the MachineDeployments
	Deployments             []string      // their health checks, in JSON
	Replicas                []string      // their replicas, in JSON
	PoolNames, PoolReplicas []string      // of the MachinePools, likewise
	Notes, PoolNotes        []string      // annotations of MachineDeployments and MachinePools, in JSON
	Unreconciled            backup.Condition
}

var clusterKinds = backup.NewKind("clusters.cluster.x-k8s.io",
	backup.Count(func(c *clusterObject) *backup.Number { return &c.Generation }, "metadata.generation"),
	backup.Count(func(c *clusterObject) *backup.Number { return &c.Observed }, "status.observedGeneration"),
	backup.Text(func(c *clusterObject) *string { return &c.Class }, "spec.topology.classRef.name", "spec.topology.class"),
	backup.Text(func(c *clusterObject) *string { return &c.ClassNamespace }, "spec.topology.classRef.namespace", "spec.topology.classNamespace"),
	backup.Text(func(c *clusterObject) *string { return &c.PendingHooks }, "annotation:runtime.cluster.x-k8s.io/pending-hooks"),
	backup.Text(func(c *clusterObject) *string { return &c.WatchFilter }, "label:cluster.x-k8s.io/watch-filter"),
	backup.Raw(func(c *clusterObject) *string { return &c.Labels }, "metadata.labels"),
	backup.Text(func(c *clusterObject) *string { return &c.Tracking }, "annotation:argocd.argoproj.io/tracking-id"),
	backup.Text(func(c *clusterObject) *string { return &c.ObjectSet }, "annotation:objectset.rio.cattle.io/id"),
	backup.Text(func(c *clusterObject) *string { return &c.Release }, "annotation:meta.helm.sh/release-name"),
	backup.Text(func(c *clusterObject) *string { return &c.ReleaseSpace }, "annotation:meta.helm.sh/release-namespace"),
	backup.Raw(func(c *clusterObject) *string { return &c.ControlPlane }, "spec.topology.controlPlane.healthCheck", "spec.topology.controlPlane.machineHealthCheck"),
	backup.Texts(func(c *clusterObject) *[]string { return &c.Names }, "spec.topology.workers.machineDeployments[].name"),
	backup.Texts(func(c *clusterObject) *[]string { return &c.Classes }, "spec.topology.workers.machineDeployments[].class"),
	backup.Raws(func(c *clusterObject) *[]string { return &c.Deployments },
		"spec.topology.workers.machineDeployments[].healthCheck", "spec.topology.workers.machineDeployments[].machineHealthCheck"),
	backup.Text(func(c *clusterObject) *string { return &c.Version }, "spec.topology.version"),
	backup.Count(func(c *clusterObject) *backup.Number { return &c.ControlPlaneReplicas }, "spec.topology.controlPlane.replicas"),
	backup.Raws(func(c *clusterObject) *[]string { return &c.Replicas }, "spec.topology.workers.machineDeployments[].replicas"),
	backup.Texts(func(c *clusterObject) *[]string { return &c.PoolNames }, "spec.topology.workers.machinePools[].name"),
	backup.Raws(func(c *clusterObject) *[]string { return &c.PoolReplicas }, "spec.topology.workers.machinePools[].replicas"),
	backup.Raws(func(c *clusterObject) *[]string { return &c.Notes }, "spec.topology.workers.machineDeployments[].metadata.annotations"),
	backup.Raws(func(c *clusterObject) *[]string { return &c.PoolNotes }, "spec.topology.workers.machinePools[].metadata.annotations"),
	backup.Failing(func(c *clusterObject) *backup.Condition { return &c.Unreconciled }, "status.conditions", clusterv1.ClusterTopologyReconciledCondition),
)

// topologyObject is an object that a topology makes, or a template of a ClusterClass.
type topologyObject struct {
	Owned      bool
	Generation backup.Number
}

const (
	planeGroup = "controlplane.cluster.x-k8s.io"
	infraGroup = "infrastructure.cluster.x-k8s.io"
)

// topologyKinds are those that a topology makes, and templates of control planes that it makes them of,
// by kind and group, beside its workers.
// KubeadmConfigs of MachinePools are left out: they are among those of all machines.
var topologyKinds = func() map[string]*backup.Kind[topologyObject] {
	all := map[string]*backup.Kind[topologyObject]{}
	for group, kinds := range map[string][]string{
		planeGroup: {
			kubeadm, "RKE2ControlPlane", "KThreesControlPlane", "K0sControlPlane",
			"KubeadmControlPlaneTemplate", "RKE2ControlPlaneTemplate", "KThreesControlPlaneTemplate", "K0sControlPlaneTemplate",
		},
		"bootstrap.cluster.x-k8s.io": {"KubeadmConfigTemplate", "RKE2ConfigTemplate", "KThreesConfigTemplate", "K0sWorkerConfigTemplate"},
		infraGroup: {
			"VSphereCluster", "VSphereMachineTemplate", "AWSCluster", "AWSMachineTemplate", "AWSMachinePool", "AWSManagedMachinePool",
			"AzureCluster", "AzureMachineTemplate", "AzureMachinePool", "OpenStackCluster", "OpenStackMachineTemplate",
		},
	} {
		for _, kind := range kinds {
			all[kind+"."+group] = backup.NewKind(strings.ToLower(kind)+"s."+group,
				backup.Present(func(o *topologyObject) *bool { return &o.Owned }, "label:"+clusterv1.ClusterTopologyOwnedLabel),
				backup.Count(func(o *topologyObject) *backup.Number { return &o.Generation }, "metadata.generation")).Ownerless()
		}
	}
	return all
}()

// planeStatus is what only the walk asks of a KubeadmControlPlane.
type planeStatus struct{ WatchFilter string }

var planeStatuses = backup.NewKind("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
	backup.Text(func(p *planeStatus) *string { return &p.WatchFilter }, "label:cluster.x-k8s.io/watch-filter"),
)

// classObject is what only the walk asks of a ClusterClass.
type classObject struct {
	Generation, Observed backup.Number
	ControlPlane         string   // the health check, in JSON
	Classes              []string // of the MachineDeployments
	Deployments          []string // their health checks, in JSON
	Patches              string   // in JSON
	Variables            backup.Condition
}

var classKinds = backup.NewKind("clusterclasses.cluster.x-k8s.io",
	backup.Count(func(c *classObject) *backup.Number { return &c.Generation }, "metadata.generation"),
	backup.Count(func(c *classObject) *backup.Number { return &c.Observed }, "status.observedGeneration"),
	backup.Failing(func(c *classObject) *backup.Condition { return &c.Variables }, "status.conditions", clusterv1.ClusterClassVariablesReadyCondition),
	backup.Failing(func(c *classObject) *backup.Condition { return &c.Variables }, "status.conditions", string(clusterv1.ClusterClassVariablesReconciledV1Beta1Condition)),
	backup.Raw(func(c *classObject) *string { return &c.Patches }, "spec.patches"),
	backup.Raw(func(c *classObject) *string { return &c.ControlPlane }, "spec.controlPlane.healthCheck", "spec.controlPlane.machineHealthCheck"),
	backup.Texts(func(c *classObject) *[]string { return &c.Classes }, "spec.workers.machineDeployments[].class"),
	backup.Raws(func(c *classObject) *[]string { return &c.Deployments },
		"spec.workers.machineDeployments[].healthCheck", "spec.workers.machineDeployments[].machineHealthCheck"),
)

// addon is what writes into the workload clusters that it selects.
type addon struct {
	Selector string // of Clusters, JSON
	Strategy string
	Release  string // name of a release of Helm
	Refs     string // Clusters by name, JSON
	Sets     string // likewise, sets of them
}

var (
	resourceSets = newAddonKind("clusterresourcesets.addons.cluster.x-k8s.io", "spec.strategy")
	helmCharts   = newAddonKind("helmchartproxies.addons.cluster.x-k8s.io", "spec.reconcileStrategy",
		backup.Text(func(a *addon) *string { return &a.Release }, "spec.releaseName"))
	profiles        = newAddonKind("profiles.config.projectsveltos.io", "spec.syncMode")
	clusterProfiles = newAddonKind("clusterprofiles.config.projectsveltos.io", "spec.syncMode")
)

func newAddonKind(resource, strategy string, more ...backup.Field[addon]) *backup.Kind[addon] {
	return backup.NewKind(resource, append(more,
		backup.Raw(func(a *addon) *string { return &a.Selector }, "spec.clusterSelector"),
		backup.Raw(func(a *addon) *string { return &a.Refs }, "spec.clusterRefs"),
		backup.Raw(func(a *addon) *string { return &a.Sets }, "spec.setRefs"),
		backup.Text(func(a *addon) *string { return &a.Strategy }, strategy))...)
}

// helmProxy is a HelmReleaseProxy: what a HelmChartProxy installed in one cluster.
type helmProxy struct {
	Chart, Cluster string
	Installed      string
}

var helmProxies = backup.NewKind("helmreleaseproxies.addons.cluster.x-k8s.io",
	backup.Text(func(p *helmProxy) *string { return &p.Chart }, "label:helmreleaseproxy.addons.cluster.x-k8s.io/helmchartproxy-name"),
	backup.Text(func(p *helmProxy) *string { return &p.Cluster }, "label:cluster.x-k8s.io/cluster-name"),
	backup.Text(func(p *helmProxy) *string { return &p.Installed }, "annotation:helmreleaseproxy.addons.cluster.x-k8s.io/release-successfully-installed"),
)

// applier is an object from which a controller applies others, again and again.
type applier struct {
	Suspended  bool
	Kubeconfig string // Secret with the kubeconfig of another cluster
	Automated  string // sync policy of an Application, in JSON
	Skipped    string
}

var (
	kustomizations = newFluxKind("kustomizations.kustomize.toolkit.fluxcd.io")
	helmReleases   = newFluxKind("helmreleases.helm.toolkit.fluxcd.io")
	applications   = backup.NewKind("applications.argoproj.io",
		backup.Raw(func(a *applier) *string { return &a.Automated }, "spec.syncPolicy.automated"),
		backup.Text(func(a *applier) *string { return &a.Skipped }, "annotation:argocd.argoproj.io/skip-reconcile"))
	bundles = backup.NewKind("bundledeployments.fleet.cattle.io",
		backup.Flag(func(a *applier) *bool { return &a.Suspended }, "spec.paused"))
	deployments = backup.NewKind[struct{}]("clusterdeployments.k0rdent.mirantis.com")
)

func newFluxKind(resource string) *backup.Kind[applier] {
	return backup.NewKind(resource,
		backup.Flag(func(a *applier) *bool { return &a.Suspended }, "spec.suspend"),
		backup.Text(func(a *applier) *string { return &a.Kubeconfig }, "spec.kubeConfig.secretRef.name"))
}

// claim is an IPAddressClaim.
type claim struct {
	Cluster, PoolGroup, PoolAPI, PoolKind, Pool string
}

var claims = backup.NewKind("ipaddressclaims.ipam.cluster.x-k8s.io",
	backup.Text(func(c *claim) *string { return &c.Cluster }, "spec.clusterName", "label:cluster.x-k8s.io/cluster-name"),
	backup.Text(func(c *claim) *string { return &c.PoolGroup }, "spec.poolRef.apiGroup"),
	backup.Text(func(c *claim) *string { return &c.PoolAPI }, "spec.poolRef.apiVersion"),
	backup.Text(func(c *claim) *string { return &c.PoolKind }, "spec.poolRef.kind"),
	backup.Text(func(c *claim) *string { return &c.Pool }, "spec.poolRef.name"),
)

// Pools of the in-cluster IPAM provider, whose rows are known.
const (
	poolGroup      = "ipam.cluster.x-k8s.io"
	poolKind       = "InClusterIPPool"
	globalPoolKind = "GlobalInClusterIPPool"
)

var (
	pools       = backup.NewKind[struct{}]("inclusterippools." + poolGroup)
	globalPools = backup.NewKind[struct{}]("globalinclusterippools." + poolGroup)
)

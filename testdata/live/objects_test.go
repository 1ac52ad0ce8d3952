package live

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// Where kube-apiserver stores what it knows itself, if not by the name of the resource
// (pkg/kubeapiserver/default_storage_factory_builder.go v1.36.3), and what is left out: it makes
// these itself.
var (
	stored = map[string]string{"services": "services/specs", "endpoints": "services/endpoints"}
	made   = []string{
		"apiservices", "clusterroles", "clusterrolebindings", "endpointslices", "flowschemas", "ipaddresses",
		"leases", "priorityclasses", "prioritylevelconfigurations", "servicecidrs",
	}
)

// custom reports whether the objects of a group are defined by CustomResourceDefinitions.
func custom(group string) bool {
	return strings.Contains(group, ".") && (!strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, ".x-k8s.io"))
}

// kinds are what users of Cluster API define and the lab has none of.
var kinds = []struct{ kind, resource, apiVersion string }{
	{"ClusterClass", "clusterclasses.cluster.x-k8s.io", "cluster.x-k8s.io/v1beta2"},
	{"MachineHealthCheck", "machinehealthchecks.cluster.x-k8s.io", "cluster.x-k8s.io/v1beta2"},
	{"IPAddressClaim", "ipaddressclaims.ipam.cluster.x-k8s.io", "ipam.cluster.x-k8s.io/v1beta2"},
	{"Image", "images.openstack.k-orc.cloud", "openstack.k-orc.cloud/v1alpha1"},
	{"ClusterDeployment", "clusterdeployments.k0rdent.mirantis.com", "k0rdent.mirantis.com/v1beta1"},
	{"CoreProvider", "coreproviders.operator.cluster.x-k8s.io", "operator.cluster.x-k8s.io/v1alpha2"},
	{"CAPIProvider", "capiproviders.turtles-capi.cattle.io", "turtles-capi.cattle.io/v1alpha1"},
	{"HostedCluster", "hostedclusters.hypershift.openshift.io", "hypershift.openshift.io/v1beta1"},
	{"Machine", "machines.machine.openshift.io", "machine.openshift.io/v1beta1"},
	{"BareMetalHost", "baremetalhosts.metal3.io", "metal3.io/v1alpha1"},
	{"ExtensionConfig", "extensionconfigs.runtime.cluster.x-k8s.io", "runtime.cluster.x-k8s.io/v1beta2"},
	{"EtcdadmCluster", "etcdadmclusters.etcdcluster.cluster.x-k8s.io", "etcdcluster.cluster.x-k8s.io/v1beta1"},
	{"Cluster", "clusters.anywhere.eks.amazonaws.com", "anywhere.eks.amazonaws.com/v1alpha1"},
	{"NodeUpgrade", "nodeupgrades.anywhere.eks.amazonaws.com", "anywhere.eks.amazonaws.com/v1alpha1"},
	{"ControlPlaneUpgrade", "controlplaneupgrades.anywhere.eks.amazonaws.com", "anywhere.eks.amazonaws.com/v1alpha1"},
	{"MachineDeploymentUpgrade", "machinedeploymentupgrades.anywhere.eks.amazonaws.com", "anywhere.eks.amazonaws.com/v1alpha1"},
	{"Kustomization", "kustomizations.kustomize.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io/v1"},
	{"HelmRelease", "helmreleases.helm.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io/v2"},
	{"Application", "applications.argoproj.io", "argoproj.io/v1alpha1"},
	{"BundleDeployment", "bundledeployments.fleet.cattle.io", "fleet.cattle.io/v1alpha1"},
	{"Profile", "profiles.config.projectsveltos.io", "config.projectsveltos.io/v1beta1"},
	{"ClusterProfile", "clusterprofiles.config.projectsveltos.io", "config.projectsveltos.io/v1beta1"},
	{"Workflow", "workflows.tinkerbell.org", "tinkerbell.org/v1alpha1"},
	{"Task", "tasks.bmc.tinkerbell.org", "bmc.tinkerbell.org/v1alpha1"},
	{"Job", "jobs.bmc.tinkerbell.org", "bmc.tinkerbell.org/v1alpha1"},
	{"NodeClaim", "nodeclaims.karpenter.sh", "karpenter.sh/v1"},
	{"Cluster", "clusters.provisioning.cattle.io", "provisioning.cattle.io/v1"},
	{"TanzuKubernetesCluster", "tanzukubernetesclusters.run.tanzu.vmware.com", "run.tanzu.vmware.com/v1alpha3"},
	{"ResourceGroup", "resourcegroups.resources.azure.com", "resources.azure.com/v1api20230101"},
	{"VirtualNetwork", "virtualnetworks.network.azure.com", "network.azure.com/v1api20230101"},
	{"Disk", "disks.compute.azure.com", "compute.azure.com/v1api20230101"},
	{"Extension", "extensions.kubernetesconfiguration.azure.com", "kubernetesconfiguration.azure.com/v1api20230101"},
	{"UserAssignedIdentity", "userassignedidentities.managedidentity.azure.com", "managedidentity.azure.com/v1api20230101"},
	{"ManagedCluster", "managedclusters.containerservice.azure.com", "containerservice.azure.com/v1api20230101"},
	{"Registry", "registries.containerregistry.azure.com", "containerregistry.azure.com/v1api20230101"},
	{"RoleAssignment", "roleassignments.authorization.azure.com", "authorization.azure.com/v1api20230101"},
	{"StorageAccount", "storageaccounts.storage.azure.com", "storage.azure.com/v1api20230101"},
	{"Vault", "vaults.keyvault.azure.com", "keyvault.azure.com/v1api20230101"},
	{"Machine", "machines.cluster.k8s.io", "cluster.k8s.io/v1alpha1"},
	{"Machine", "machines.machine.sapcloud.io", "machine.sapcloud.io/v1alpha1"},
}

// load puts the objects of a backup into etcd, and the definitions of their kinds.
func (e *etcd) load(t *testing.T, tarball string) {
	t.Helper()
	defined := map[string]bool{}
	define := func(resource, kind, apiVersion, scope string) {
		if !defined[resource] {
			defined[resource] = true
			e.put(t, definitionKey(resource), definition(resource, kind, path.Base(apiVersion), scope))
		}
	}
	each(t, tarball, func(resource, scope string, o map[string]any) {
		name, group, _ := strings.Cut(resource, ".")
		if !custom(group) && slices.Contains(made, name) {
			return
		}
		key := name
		if custom(group) {
			key = group + "/" + name
			define(resource, o["kind"].(string), o["apiVersion"].(string), scope)
		} else if other, ok := stored[name]; ok {
			key = other
		}
		meta := o["metadata"].(map[string]any)
		if namespace, ok := meta["namespace"].(string); ok {
			key += "/" + namespace
		}
		delete(meta, "resourceVersion")
		e.put(t, key+"/"+meta["name"].(string), o)
	})
	for _, k := range kinds {
		define(k.resource, k.kind, k.apiVersion, "Namespaced")
	}
}

// each reads the objects of a backup, as Velero lays them out.
func each(t *testing.T, tarball string, see func(resource, scope string, o map[string]any)) {
	t.Helper()
	f, err := os.Open(tarball)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		scope := map[string]string{"namespaces": "Namespaced", "cluster": "Cluster"}
		parts := strings.Split(h.Name, "/")
		if h.Typeflag != tar.TypeReg || len(parts) < 4 || parts[0] != "resources" || scope[parts[2]] == "" {
			continue
		}
		var o map[string]any
		if err := json.NewDecoder(r).Decode(&o); err != nil {
			t.Fatal(err)
		}
		see(parts[1], scope[parts[2]], o)
		n++
	}
	if n == 0 {
		t.Fatalf("%s holds no objects", tarball)
	}
}

func definitionKey(resource string) string {
	return "apiextensions.k8s.io/customresourcedefinitions/" + resource
}

// definition returns a CustomResourceDefinition that takes everything.
func definition(resource, kind, version, scope string) map[string]any {
	name, group, _ := strings.Cut(resource, ".")
	names := map[string]any{"plural": name, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"}
	yes := func(condition, reason string) map[string]any {
		return map[string]any{"type": condition, "status": "True", "reason": reason, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": resource, "uid": "crd-" + resource, "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": []any{"customresourcecleanup.apiextensions.k8s.io"}},
		"spec": map[string]any{
			"group": group, "scope": scope, "names": names, "conversion": map[string]any{"strategy": "None"},
			"versions": []any{served(version, true)},
		},
		"status": map[string]any{
			"acceptedNames": names, "storedVersions": []any{version},
			"conditions": []any{yes("NamesAccepted", "NoConflicts"), yes("Established", "InitialNamesAccepted")},
		},
	}
}

// served returns a version of a definition.
func served(version string, storage bool) map[string]any {
	return map[string]any{
		"name": version, "served": true, "storage": storage, "subresources": map[string]any{"status": map[string]any{}},
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	}
}

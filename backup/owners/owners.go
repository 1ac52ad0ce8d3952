// Package owners is the table of the kinds that own Machines of a control plane: how each
// finds its Machines after a restore, which has taken their ownerReferences away, which
// Secrets it needs, and how it replaces machines.
//
// Read at: Cluster API v1.14.0; cluster-api-provider-rke2 v0.25.0; cluster-api-k3s v0.3.1;
// k0smotron v2.1.0 and v1.10.9; Talos control plane v0.5.12; MicroK8s v0.6.11; Kamaji
// provider v0.20.0; CAPA v2.13.0. A kind that is not here is not known.
package owners

import (
	"slices"
	"strings"
)

// Finds is how an owner finds its Machines after a restore.
type Finds string

// Ways in which owners find Machines.
const (
	Adopts  Finds = "adopts"  // by label, and takes those over that nobody owns
	ByLabel Finds = "byLabel" // by label, whoever owns them
	ByOwner Finds = "byOwner" // by ownerReference alone: it stands still while one has none
	Pods    Finds = "pods"    // it has none: its replicas are pods of the management cluster
	Hosted  Finds = "hosted"  // it has none: the infrastructure runs the control plane
)

// Kind is one kind of control plane.
type Kind struct {
	Name   string
	Finds  Finds
	Source string // where Finds is written
	// Authorities are the Secrets of which it makes new ones where they are absent, by the
	// ends of their names; Secrets are those without which no machine joins.
	Authorities, Secrets []string
	// InPlace are the values of its strategy with which a new version is brought to the
	// machines that run, the empty one if that is its default; OnDelete those with which it
	// replaces a machine only when somebody deletes it.
	InPlace, OnDelete []string
	// Fewer are those with which it does so while it has fewer than three machines.
	Fewer []string
	// Minor says that it compares major and minor versions alone.
	Minor bool
	// Builds says that a Machine whose version has no build behind it is one of each build of its
	// release; Build is the build that it specifies by a version without one.
	Builds bool
	Build  string
	// Cloned says that a Machine whose infrastructure object does not name its template is none
	// of the template that it specifies.
	Cloned bool
	// Audits says that it removes every etcd member that has no Machine.
	Audits bool
	// Nodeless says that its Machines may run no kubelet: one that had no Node gets none.
	Nodeless bool
	// LateTemplate says that it reads its infrastructure template only to create a Machine; the others
	// make it the Cluster's before anything else.
	LateTemplate bool
	// Cached says that it sees only Secrets with label cluster.x-k8s.io/cluster-name.
	Cached bool
	// NeedsInfrastructure says that it deletes a Machine whose infrastructure object is absent.
	NeedsInfrastructure bool
}

// kinds are all that are known.
var kinds = []Kind{
	{
		Name: "KubeadmControlPlane", Finds: Adopts, Source: "adoptMachines: controlplane/kubeadm/internal/controllers/controller.go of Cluster API",
		Authorities: []string{"ca", "etcd", "proxy", "sa"}, Audits: true, Cached: true,
	},
	{
		Name: "RKE2ControlPlane", Finds: ByOwner, Source: "reconcileNormal: controlplane/internal/controllers/rke2controlplane_controller.go v0.1.1 to v0.25.0",
		Authorities: []string{"ca", "cca", "etcd", "peer-etcd"}, Secrets: []string{"token"}, Builds: true,
	},
	{
		Name: "KThreesControlPlane", Finds: ByOwner, Source: "reconcile: controlplane/controllers/kthreescontrolplane_controller.go v0.1.5 to v0.3.1",
		Authorities: []string{"ca", "cca", "etcd"}, Secrets: []string{"token"},
	},
	{
		Name: "K0sControlPlane", Finds: ByLabel, Source: "retrieveControlPlaneState, reconcileManualDeletions: internal/controller/controlplane/k0s_controlplane_controller.go v1.5.0 to v2.1.0 of k0smotron",
		Authorities: []string{"ca", "etcd", "proxy", "sa"}, InPlace: []string{"", "InPlace"}, NeedsInfrastructure: true,
		Builds: true, Build: "k0s.0", Cloned: true, Nodeless: true, LateTemplate: true, Cached: true,
	},
	{
		Name: "TalosControlPlane", Finds: ByLabel, Source: "getControlPlaneMachinesForCluster, auditEtcd: controllers of cluster-api-control-plane-provider-talos v0.5.12",
		Authorities: []string{"talos"}, Secrets: []string{"ca"}, OnDelete: []string{"OnDelete"}, Audits: true,
	},
	{
		Name: "MicroK8sControlPlane", Finds: ByLabel, Source: "reconcileMachines: controllers/reconcile.go v0.6.11 of cluster-api-control-plane-provider-microk8s",
		Authorities: []string{"ca"}, Secrets: []string{"jointoken"}, InPlace: []string{"InPlaceUpgrade"}, Fewer: []string{"", "SmartUpgrade"}, Minor: true,
	},
	{Name: "K0smotronControlPlane", Finds: Pods, Source: "k0smotron_controlplane_controller.go v2.1.0", Authorities: []string{"ca", "etcd", "proxy", "sa"}},
	{Name: "KamajiControlPlane", Finds: Pods, Source: "cluster-api-control-plane-provider-kamaji v0.20.0"},
	{Name: "HostedControlPlane", Finds: Pods, Source: "hypershift"},
	{Name: "AWSManagedControlPlane", Finds: Hosted, Source: "CAPA controlplane/eks/controllers v2.13.0"},
	{Name: "ROSAControlPlane", Finds: Hosted},
	{Name: "AzureManagedControlPlane", Finds: Hosted},
	{Name: "AzureASOManagedControlPlane", Finds: Hosted},
	{Name: "GCPManagedControlPlane", Finds: Hosted},
	{Name: "OCIManagedControlPlane", Finds: Hosted},
}

// Of returns what is known of a kind, and false when nothing is.
func Of(kind string) (Kind, bool) {
	for _, k := range kinds {
		if k.Name == kind {
			return k, true
		}
	}
	return Kind{}, false
}

// Runs reports whether a Machine of a version is one of the version that its control plane
// specifies (matchesKubernetesOrRKE2Version: pkg/rke2/machine_filters.go v0.25.0, versionMatches:
// internal/controller/controlplane/status.go v2.1.0 of k0smotron; the others compare texts).
func (k *Kind) Runs(machine, specified string) bool {
	release, _, built := strings.Cut(specified, "+")
	if !built && k.Build != "" {
		specified += "+" + k.Build
	}
	return machine == specified || k.Builds && machine == release
}

// Labelled reports whether control planes of a kind have Machines, of which they see none without
// label cluster.x-k8s.io/control-plane.
func Labelled(kind string) bool {
	k, known := Of(kind)
	return known && k.Finds != Pods && k.Finds != Hosted
}

// SecretNames returns the ends of the names of all Secrets that any of them needs.
func SecretNames() []string {
	var out []string
	for _, k := range kinds {
		for _, part := range slices.Concat(k.Authorities, k.Secrets) {
			if !slices.Contains(out, part) {
				out = append(out, part)
			}
		}
	}
	return out
}

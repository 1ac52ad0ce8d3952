package oracle

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ownable returns the kinds that controllers write: all that can change, and have owners.
func ownable() []client.ObjectList {
	return []client.ObjectList{
		&clusterv1.MachineList{}, &clusterv1.MachineSetList{}, &clusterv1.MachineDeploymentList{}, &clusterv1.MachinePoolList{},
		&clusterv1.MachineHealthCheckList{}, &clusterv1.ClusterList{}, &clusterv1.ClusterClassList{},
		&controlplanev1.KubeadmControlPlaneList{}, &controlplanev1.KubeadmControlPlaneTemplateList{},
		&bootstrapv1.KubeadmConfigList{}, &bootstrapv1.KubeadmConfigTemplateList{},
		infraList("VSphereCluster"), infraList("VSphereMachine"), infraList("VSphereVM"), infraList("VSphereMachineTemplate"),
		infraList("VSphereClusterTemplate"), &corev1.SecretList{},
	}
}

// all returns the objects that controllers write, as they are now.
func (e *Engine) all() []client.Object {
	var all []client.Object
	for _, l := range ownable() {
		if err := e.client.List(e.ctx, l); err != nil {
			panic(err)
		}
		items, err := meta.ExtractList(l)
		if err != nil {
			panic(err)
		}
		for _, o := range items {
			all = append(all, o.(client.Object))
		}
	}
	return all
}

// collectGarbage deletes each object all of whose owners are gone. Owners that are not
// objects of this world do not count as gone.
func (e *Engine) collectGarbage() {
	all := e.all()
	uids := sets.New[types.UID]()
	for _, o := range all {
		uids.Insert(o.GetUID())
	}
	for _, o := range all {
		refs := o.GetOwnerReferences()
		if len(refs) == 0 || !o.GetDeletionTimestamp().IsZero() {
			continue
		}
		owned := false
		for _, r := range refs {
			owned = owned || uids.Has(r.UID) || r.Kind == "VSphereClusterIdentity" || r.Kind == "ClusterResourceSet"
		}
		if !owned {
			e.trace("no owner is left of %s", named(o))
			if err := e.client.Delete(e.ctx, o); err != nil {
				e.errs["garbage "+o.GetName()] = err.Error()
			}
		}
	}
}

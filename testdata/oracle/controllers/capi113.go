//go:build !capi112

package oracle

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/secret"
)

// Minor is that of Cluster API.
const Minor = "v1.13"

// managementFields are the fields by which a KubeadmControlPlaneReconciler sees its clusters.
var managementFields = []string{"managementCluster"}

// planeCache returns what the cache of KubeadmControlPlane holds (ManagerCacheOptions in
// controlplane/kubeadm/internal/setup v1.13.6, a package that v1.12 does not have, so that no
// module for both may import it).
func planeCache() map[client.Object]cache.ByObject {
	plane, err := labels.NewRequirement(clusterv1.MachineControlPlaneLabel, selection.Exists, nil)
	if err != nil {
		panic(err)
	}
	out := map[client.Object]cache.ByObject{
		&bootstrapv1.KubeadmConfig{}: {Label: labels.NewSelector().Add(*plane)},
		&clusterv1.Machine{}: {Transform: func(in any) (any, error) {
			if m, is := in.(*clusterv1.Machine); is && !util.IsControlPlaneMachine(m) {
				m.Spec, m.Status = clusterv1.MachineSpec{}, clusterv1.MachineStatus{}
			}
			return in, nil
		}},
	}
	for o, by := range secretsOfClusters() {
		by.Transform = func(in any) (any, error) {
			if s, is := in.(*corev1.Secret); is && !secret.HasPurposeSuffix(s.Name) {
				s.Data = nil
			}
			return in, nil
		}
		out[o] = by
	}
	return out
}

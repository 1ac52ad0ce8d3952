//go:build !capi112

package oracle

import (
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kcpsetup "sigs.k8s.io/cluster-api/controlplane/kubeadm/internal/setup"
)

// Minor is that of Cluster API.
const Minor = "v1.13"

// managementFields are the fields by which a KubeadmControlPlaneReconciler sees its clusters.
var managementFields = []string{"managementCluster"}

// planeCache is what the cache of KubeadmControlPlane holds.
func planeCache() map[client.Object]cache.ByObject {
	return kcpsetup.ManagerCacheOptions("", 0).ByObject
}

//go:build !capi112

package oracle

// Minor is that of Cluster API.
const Minor = "v1.13"

// managementFields are the fields by which a KubeadmControlPlaneReconciler sees its clusters.
var managementFields = []string{"managementCluster"}

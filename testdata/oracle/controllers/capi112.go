//go:build capi112

package oracle

import (
	"context"
	"crypto/rsa"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Minor is that of Cluster API.
const Minor = "v1.12"

// managementFields are the fields by which a KubeadmControlPlaneReconciler sees its clusters.
var managementFields = []string{"managementCluster", "managementClusterUncached"}

// GetClientCertificatePrivateKey fails: etcd is dialled in another way here.
func (*clusterCache) GetClientCertificatePrivateKey(context.Context, client.ObjectKey) (*rsa.PrivateKey, error) {
	return nil, errors.New("no private key is needed")
}

// planeCache returns what the cache of KubeadmControlPlane holds (controlplane/kubeadm/main.go).
func planeCache() map[client.Object]cache.ByObject { return secretsOfClusters() }

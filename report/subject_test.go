package report

import (
	"strings"
	"testing"
)

// Of a kind that could not be read nothing is said to be absent; of others it is.
func TestUnreadIsNotAbsent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no credential for vCenter vc: Secret a/b with username and password is not in the backup":     "no credential for vCenter vc: Secret a/b with username and password could not be read",
		"no credential for vCenter vc: the Secret of VSphereClusterIdentity x is not in the backup":    "no credential for vCenter vc: the Secret of VSphereClusterIdentity x could not be read",
		"the backup holds no Secret a/b-kubeconfig with a kubeconfig":                                  "Secret a/b-kubeconfig could not be read",
		"VSphereCluster a/b is not in the backup, so nothing says which credential it uses":            "VSphereCluster a/b is not in the management cluster, so nothing says which credential it uses",
		"Secret a/b is there; VSphereCluster a/b is not in the backup":                                 "Secret a/b is there; VSphereCluster a/b is not in the management cluster",
		"AWSClusterStaticIdentity x is not in the backup":                                              "AWSClusterStaticIdentity x could not be read",
		"AWSMachinePool x, which says what it is called, is not in the backup":                         "AWSMachinePool x, which says what it is called, is not in the management cluster",
		"Secret a/b is not in the backup; OpenStackCluster a/b is not in the backup; Secret c is, too": "Secret a/b could not be read; OpenStackCluster a/b is not in the management cluster; Secret c is, too",
	} {
		unread := []string{"secrets", "awsclusterstaticidentities.infrastructure.cluster.x-k8s.io"}
		if got := Unread(unread, OfCluster(text)); got != want {
			t.Errorf("%s\n%s\nwant\n%s", text, got, want)
		}
		if got := Unread(nil, OfCluster(text)); strings.Contains(got, "could not be read") {
			t.Errorf("%s", got)
		}
	}
}

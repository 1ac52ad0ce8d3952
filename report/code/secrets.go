package code

import "strings"

// Ends of the names of a cluster's own Secrets, behind its name: the kubeconfig, the authorities of
// the cluster, of its etcd and of what is in front, the keys of its service accounts, and the
// certificate with which API servers speak to etcd (Cluster API util/secret/consts.go v1.14.0).
const (
	KubeconfigSecret = "-kubeconfig"
	AuthoritySecret  = "-ca"
	EtcdSecret       = "-etcd"
	ProxySecret      = "-proxy"
	AccountSecret    = "-sa"
	EtcdClientSecret = "-apiserver-etcd-client"
)

// SecretsOf returns the names of a cluster's own Secrets.
func SecretsOf(cluster string) []string {
	all := []string{KubeconfigSecret, AuthoritySecret, EtcdSecret, ProxySecret, AccountSecret, EtcdClientSecret}
	for i := range all {
		all[i] = cluster + all[i]
	}
	return all
}

// OfSecret returns the cluster that a Secret is of by its name; empty where that is of none
// (ParseSecretName in util/secret v1.14.2).
func OfSecret(name string) string {
	for _, end := range SecretsOf("") {
		if cluster, is := strings.CutSuffix(name, end); is {
			return cluster
		}
	}
	return ""
}

package rehearsal

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Secrets is what a rehearsal needs to know of the backup's Secrets, which are dropped
// before the infrastructure is compared. It holds no secret.
type Secrets struct {
	// Missing are the bootstrap Secrets that Machines name and the backup lacks, as
	// namespace/name, by the uid of the Machine.
	Missing map[string]string
	// Labelled says of the kubeconfig Secret of each cluster that has one whether it has the
	// label cluster.x-k8s.io/cluster-name with the cluster's name.
	Labelled map[backup.ClusterID]bool
	// Pools are the bootstrap Secrets that MachinePools name and the backup holds.
	Pools map[infra.SecretAt]bool
	// Empty are the clusters whose kubeconfig Secret holds no kubeconfig.
	Empty map[backup.ClusterID]bool
	// Lacking is a Secret that a control plane needs for an etcd outside of its cluster, by
	// name, which the backup lacks, or which holds no certificate.
	Lacking map[backup.ClusterID]string
	// Keyless are the clusters whose etcd is their own, and whose Secret with the authority of
	// etcd has a certificate and no key.
	Keyless map[backup.ClusterID]bool
}

// ReadSecrets looks at the Secrets of a Snapshot that was loaded with [Want].
func ReadSecrets(s *backup.Snapshot, secrets *backup.Secrets) Secrets {
	out := Secrets{Missing: map[string]string{}, Labelled: map[backup.ClusterID]bool{}, Pools: map[infra.SecretAt]bool{}, Lacking: map[backup.ClusterID]string{}, Keyless: map[backup.ClusterID]bool{}, Empty: map[backup.ClusterID]bool{}}
	for i := range s.Machines {
		m := &s.Machines[i]
		// Of data that somebody made by hand it is not known what its Secret looks like.
		if m.BootstrapSecret != "" && !m.Bootstrap.IsZero() && secrets.Named(m.Backup, m.Namespace, m.BootstrapSecret) == nil {
			out.Missing[m.UID] = m.Namespace + "/" + m.BootstrapSecret
		}
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		if g.Kind == "MachinePool" && g.BootstrapSecret != "" && secrets.Named(g.Backup, g.Namespace, g.BootstrapSecret) != nil {
			out.Pools[infra.SecretAt{Backup: g.Backup, Namespace: g.Namespace, Name: g.BootstrapSecret}] = true
		}
	}
	for i := range s.ControlPlanes {
		if p := &s.ControlPlanes[i]; p.Kind == kubeadm && !p.ExternalEtcd {
			etcd := secrets.Named(p.Backup, p.Namespace, p.Cluster.Name+etcdSuffix)
			out.Keyless[p.Cluster] = etcd != nil && holds(etcd, "tls.crt") && !holds(etcd, "tls.key")
		}
		if p := &s.ControlPlanes[i]; p.Kind == kubeadm && p.ExternalEtcd {
			for _, suffix := range []string{etcdClientSuffix, etcdSuffix} {
				if s := secrets.Named(p.Backup, p.Namespace, p.Cluster.Name+suffix); s == nil || !holds(s, "tls.crt") {
					out.Lacking[p.Cluster] = p.Cluster.Name + suffix
				}
			}
		}
	}
	for i := range s.Clusters {
		id := s.Clusters[i].ID()
		if k := secrets.Named(id.Backup, id.Namespace, id.Name+kubeconfigSuffix); k != nil {
			out.Labelled[id], out.Empty[id] = k.ClusterName == id.Name, !holds(k, "value")
		}
	}
	return out
}

// Ends of the names of Secrets: a cluster's kubeconfig, the authority of its etcd, and the
// certificate with which API servers speak to that (Cluster API util/secret/consts.go v1.14.0).
const (
	kubeconfigSuffix = "-kubeconfig"
	etcdSuffix       = "-etcd"
	etcdClientSuffix = "-apiserver-etcd-client"
)

func holds(s *backup.Secret, key string) bool {
	return slices.ContainsFunc(s.Values, func(v backup.SecretValue) bool { return v.Key == key })
}

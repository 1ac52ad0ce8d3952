package rehearsal

import (
	"drift-detector/backup"
	"drift-detector/infra"
)

// Secrets is what a rehearsal needs to know of the backup's Secrets, which are dropped
// before the infrastructure is compared. It holds no secret.
type Secrets struct {
	// Labelled says of the kubeconfig Secret of each cluster that has one whether it has the
	// label cluster.x-k8s.io/cluster-name with the cluster's name.
	Labelled map[backup.ClusterID]bool
	// Pools are the bootstrap Secrets that MachinePools name and the backup holds.
	Pools map[infra.SecretAt]bool
}

// ReadSecrets looks at the Secrets of a Snapshot that was loaded with forecast.Want.
func ReadSecrets(s *backup.Snapshot, secrets *backup.Secrets) Secrets {
	out := Secrets{Labelled: map[backup.ClusterID]bool{}, Pools: map[infra.SecretAt]bool{}}
	for i := range s.Groups {
		g := &s.Groups[i]
		if g.Kind == "MachinePool" && g.BootstrapSecret != "" && secrets.Named(g.Backup, g.Namespace, g.BootstrapSecret) != nil {
			out.Pools[infra.SecretAt{Backup: g.Backup, Namespace: g.Namespace, Name: g.BootstrapSecret}] = true
		}
	}
	for i := range s.Clusters {
		id := s.Clusters[i].ID()
		if k := secrets.Named(id.Backup, id.Namespace, id.Name+kubeconfigSuffix); k != nil {
			out.Labelled[id] = k.ClusterName == id.Name
		}
	}
	return out
}

// kubeconfigSuffix ends the name of the Secret with a cluster's kubeconfig (Cluster
// API util/secret/consts.go v1.14.0).
const kubeconfigSuffix = "-kubeconfig"

package rehearsal

import "drift-detector/backup"

// Secrets is what a rehearsal needs to know of the backup's Secrets, which are dropped
// before the infrastructure is compared. It holds no secret.
type Secrets struct {
	// Labelled says of the kubeconfig Secret of each cluster that has one whether it has the
	// label cluster.x-k8s.io/cluster-name with the cluster's name.
	Labelled map[backup.ClusterID]bool
}

// ReadSecrets looks at the Secrets of a Snapshot that was loaded with forecast.Want.
func ReadSecrets(s *backup.Snapshot, secrets *backup.Secrets) Secrets {
	out := Secrets{Labelled: map[backup.ClusterID]bool{}}
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

package forecast

import (
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
)

// Inputs are what a restore is forecast from.
type Inputs struct {
	Snapshot  *backup.Snapshot
	Expected  infra.Expected  // made from the Snapshot
	Inventory infra.Inventory // the one that Result was decided from
	Result    detector.Result
	// Controllers are those of the providers, by the providers' names.
	Controllers map[string]infra.Controller
	Secrets     Secrets
	Trace       rehearsal.Trace // of the same restore
	Now         time.Time       // the clock: certificates expire, and rollouts become due
}

// absent is what the backup lacks, by the Snapshot and by the providers.
func (in *Inputs) absent() []backup.Absence {
	return slices.Concat(in.Snapshot.Absent, in.Expected.Absent)
}

// Secrets is what a forecast needs to know of the backup's Secrets, which are
// dropped before the infrastructure is compared. It holds no secret.
type Secrets struct {
	// Missing are the bootstrap Secrets that Machines name and the backup lacks, as
	// namespace/name, by the uid of the Machine.
	Missing map[string]string
	// Kubeconfigs are the clusters of which the backup holds the kubeconfig Secret.
	Kubeconfigs map[backup.ClusterID]bool
}

// ReadSecrets looks at the Secrets of a Snapshot that was loaded with [Want].
func ReadSecrets(s *backup.Snapshot, secrets *backup.Secrets) Secrets {
	out := Secrets{Missing: map[string]string{}, Kubeconfigs: map[backup.ClusterID]bool{}}
	for i := range s.Machines {
		m := &s.Machines[i]
		// Of data that somebody made by hand it is not known what its Secret looks like.
		if m.BootstrapSecret != "" && !m.Bootstrap.IsZero() && secrets.Named(m.Backup, m.Namespace, m.BootstrapSecret) == nil {
			out.Missing[m.UID] = m.Namespace + "/" + m.BootstrapSecret
		}
	}
	for i := range s.Clusters {
		id := s.Clusters[i].ID()
		if secrets.Named(id.Backup, id.Namespace, id.Name+kubeconfigSuffix) != nil {
			out.Kubeconfigs[id] = true
		}
	}
	return out
}

// kubeconfigSuffix ends the name of the Secret with a cluster's kubeconfig (Cluster
// API util/secret/consts.go v1.14.0).
const kubeconfigSuffix = "-kubeconfig"

// Want is what forecasts need from a backup beside the core objects, rehearsals included.
func Want() backup.Want {
	return backup.Want{
		Kinds:   append(rehearsal.Want().Kinds, healthChecks, topologies, classes, extensions, servers, webhookKinds[0], webhookKinds[1]),
		Secrets: append(rehearsal.Want().Secrets, backup.SecretRule{Type: "cluster.x-k8s.io/secret"}),
	}
}

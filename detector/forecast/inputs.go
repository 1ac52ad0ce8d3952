package forecast

import (
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/infra/walk"
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
	// byPlan forecasts what follows once the plan's steps are done that come before a cluster
	// is unpaused: objects that the backup lacks are created, and what keeps controllers from
	// a cluster or a machine is mended.
	byPlan bool
}

// absent is what the backup lacks, by the Snapshot and by the providers. What the plan
// creates leads to the infrastructure, or says how one machine is made. An owner, or what a
// topology rests on, may do anything once it was created by hand.
func (in *Inputs) absent() []backup.Absence {
	all := slices.Concat(in.Snapshot.Absent, in.Expected.Absent)
	if !in.byPlan {
		return all
	}
	return slices.DeleteFunc(all, func(a backup.Absence) bool {
		return !a.HaltsTopology && (a.HaltsMachines || strings.HasSuffix(a.Kind, "Template") || strings.HasSuffix(a.Kind, "Identity"))
	})
}

// waits reports whether the controllers wait for a step of the walk: one that halts a cluster
// or keeps a machine, unless it is mended by the plan.
func (in *Inputs) waits(s *walk.Step, effect walk.Effect) bool {
	return s.Does().Effect == effect && (!in.byPlan || s.Until == "")
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

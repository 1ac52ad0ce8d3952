package azure

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of machine pools.
var (
	rowP4 = &walk.Row{
		ID: "azure.P4", Of: poolKind,
		Asks:   "the bootstrap Secret of its MachinePool, which a KubeadmConfig writes again",
		None:   walk.OwnerHalts.Says("CAPZ does nothing for the pool, and makes it again if it is gone only once the Secret exists"),
		Source: "InitMachinePoolCache, GetBootstrapData: azure/scope/machinepool.go v1.13.0 to v1.26.0",
	}
	rowP8 = &walk.Row{
		ID: "azure.P8", Of: memberKind,
		Asks:   "the AzureMachinePool that owns it, by an ownerReference, which a restore takes away",
		None:   walk.Waits.Says("CAPZ takes off its finalizer and leaves it alone: the instance runs on, its Machine stays Provisioned. Once it is deleted CAPZ creates it again under its name, and deletes nothing in Azure"),
		Source: "Reconcile: exp/controllers/azuremachinepoolmachine_controller.go v1.13.0 to v1.26.0; seen with v1.26.0",
	}
	rowP9 = &walk.Row{
		ID: "azure.P9", Of: memberKind,
		Asks:   "its instance, among those of its scale set",
		None:   walk.Waits.Says("CAPZ deletes the AzureMachinePoolMachine, and nobody the Machine, which has no owner: it stays Provisioned until it is deleted by hand"),
		Source: "applyAzureMachinePoolMachines, DeleteMachine: azure/scope/machinepool.go v1.13.0 to v1.26.0; seen with v1.26.0",
	}
	poolRows = []*walk.Row{rowP4, rowP8, rowP9}
)

// Rows of AKS.
var (
	rowK1 = &walk.Row{
		ID: "azure.K1", Of: planeKind,
		Asks:    "the cluster of AKS and its agent pools, which ASO creates again if they are gone, and sets to the words of the backup",
		Refused: "what CAPZ and ASO make of AKS after a restore: it is not known here",
		Source:  "azure/services/managedclusters, agentpools v1.13.0 to v1.26.0; nothing of it was run",
	}
	planeRows = []*walk.Row{rowK1}
)

// askManaged says of clusters of AKS that nobody knows what becomes of them.
func (q *questions) askManaged(id backup.ClusterID, l *location) {
	if l.kind == clusterKind || l.kind == "" { // of one without an object others say it
		q.Note(rowK1, id, pass)
		return
	}
	object := l.kind + " of " + infra.ClusterTitle(id)
	q.Note(rowK1, id, walk.Answer{Found: walk.Unread, Why: object + " is of AKS: what its controllers do to a cluster that was restored was seen nowhere", Objects: []string{object}})
}

// writesData are the bootstrap objects that write the Secret of a MachinePool again.
var writesData = []string{"KubeadmConfig"}

// askPool asks of a scale set of CAPZ's own.
func (q *questions) askPool(p *pool) {
	if p.kind != poolKind || p.record == nil || p.record.Paused {
		return
	}
	title := fmt.Sprintf("%s %s/%s", machinePoolKind, p.cluster.Namespace, p.name)
	q.askBootstrap(p, title)
	q.askSet(p, title)
}

// askBootstrap asks P4.
func (q *questions) askBootstrap(p *pool, title string) {
	i := slices.IndexFunc(q.objs.snapshot.Groups, func(g backup.Group) bool {
		return g.Kind == machinePoolKind && g.Cluster == p.cluster && g.Name == p.name
	})
	if i < 0 {
		return
	}
	g, s := &q.objs.snapshot.Groups[i], of(rowP4, p.cluster, title)
	if slices.Contains(writesData, g.Bootstrap.Kind) {
		s.Answer = pass
		q.Keep(s)
		return
	}
	at := &infra.SecretAt{Backup: p.cluster.Backup, Namespace: p.cluster.Namespace, Name: g.BootstrapSecret}
	object := fmt.Sprintf("Secret %s/%s", at.Namespace, at.Name)
	s.Answer = answer(walk.None, object, object+", of type cluster.x-k8s.io/secret, is not in the backup", "exists")
	q.Steps = append(q.Steps, infra.Step{Step: s, Secret: at})
}

// askPoolMember asks P8 of a member that runs, and P9 of one that is gone from a scale set that is
// there: with the scale set its members' Machines go.
func (q *questions) askPoolMember(m *member, step func(*walk.Row) walk.Step) {
	vm, _, _, _ := q.objs.arm(m)
	set := q.objs.poolOf(m)
	if vm == "" || set.Kind != KeyPool {
		return
	}
	key := infra.Key{Kind: keyVM, Value: vm}
	subject := step(rowP9).Subject
	q.look(step(rowP9), func(l *infra.Lookup) walk.Answer {
		there := l.Finds(set)
		if !there || l.State != code.ScopeComplete || l.Holds(key) {
			return pass
		}
		// Nothing that is done before the restore ends it.
		return walk.Answer{Found: walk.None, Why: "its instance is gone from its scale set", Objects: []string{subject}}
	})
	if m.record == nil {
		q.Keep(walk.Step{Row: rowP8, Cluster: m.cluster, Machine: m.index, Answer: pass}) // CAPZ creates it
		return
	}
	object := fmt.Sprintf("%s %s/%s", memberKind, m.record.Namespace, m.record.Name)
	q.look(step(rowP8), func(l *infra.Lookup) walk.Answer {
		if !l.Holds(key) {
			return walk.Answer{} // P9 says it, or nobody knows
		}
		return answer(walk.None, object, "a restore takes the owner of "+object+" away", "is deleted")
	})
}

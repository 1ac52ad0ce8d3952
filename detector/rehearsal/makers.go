package rehearsal

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// makerRows are those of controllers that make Clusters by themselves: they act before
// Velero has restored the Clusters, or against the restore.
var makerRows = []row[*world]{
	{walk.Row{
		ID: "owners.6", Of: "Cluster of EKS Anywhere",
		Asks:    "the Cluster API objects of its cluster, unless annotation anywhere.eks.amazonaws.com/paused is true: it is restored long before they are",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.CreatedFirst, What: "it creates the Cluster with all its objects before Velero restores them, unpaused"},
		Source:  "Reconcile: controllers/cluster_controller.go; ReconcileControlPlane: pkg/controller/clusters/controlplane.go v0.26 of EKS Anywhere",
	}, anywherePaused},
	{walk.Row{
		ID: "owners.7", Of: "other makers of Clusters",
		Asks:    "what they create Clusters or machines of: Rancher's provisioning, Tanzu Kubernetes Grid, HyperShift, and the machine controllers of Gardener, of OpenShift and of Kubermatic",
		Differs: walk.Does{Effect: walk.OwnerHalts, Code: code.OutcomeUnknown, What: "what their controllers do to what is restored is not known here"},
		Source:  "planner.go of Rancher; the supervisor of Tanzu is closed; of HyperShift and of the machine controllers nothing was read",
	}, makersKnown},
	{walk.Row{
		ID: "owners.9", Of: "Workflow of Tinkerbell",
		Asks:    "its state, which a restore takes away: it is taken for a new one, with provisioned Hardware too, and in a paused Cluster too",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.LivingReplaced, What: "it switches the host off and boots it into an agent that writes the running node over"},
		None:    walk.Does{Effect: walk.NotReady, Code: code.CannotReplace, What: "the host is allowed to boot from the network, and its node is written over at its next reboot"},
		Source:  "Reconcile, processNewWorkflow: tink/controller/internal/workflow of Tinkerbell; prepareWorkflow: pre.go",
	}, workflowsDone},
}

var anywhereClusters = backup.NewKind("clusters.anywhere.eks.amazonaws.com",
	backup.Text(func(a *anywhere) *string { return &a.Paused }, "annotation:anywhere.eks.amazonaws.com/paused"),
)

// anywhere is a Cluster of EKS Anywhere.
type anywhere struct{ Paused string }

// otherMakers are objects from which somebody else makes Clusters or machines, by what they are
// called.
var otherMakers = map[string]*backup.Kind[struct{}]{
	"Cluster.provisioning.cattle.io":        backup.NewKind[struct{}]("clusters.provisioning.cattle.io"),
	"TanzuKubernetesCluster":                backup.NewKind[struct{}]("tanzukubernetesclusters.run.tanzu.vmware.com"),
	"HostedCluster.hypershift.openshift.io": backup.NewKind[struct{}]("hostedclusters.hypershift.openshift.io"),
	"Machine.machine.sapcloud.io":           backup.NewKind[struct{}]("machines.machine.sapcloud.io"),
	"Machine.machine.openshift.io":          backup.NewKind[struct{}]("machines.machine.openshift.io"),
	"Machine.cluster.k8s.io":                backup.NewKind[struct{}]("machines.cluster.k8s.io"),
}

// anywherePaused asks owners.6.
func anywherePaused(w *world) walk.Answer {
	found := notAsked
	var objects []string
	for r := range anywhereClusters.In(w.in.Snapshot).All() {
		found = passed
		if r.Data.Paused != "true" {
			objects = append(objects, named("Cluster.anywhere.eks.amazonaws.com", r.Namespace, r.Name))
		}
	}
	if objects != nil {
		return differs(objects[0]+" is not paused", "it has the annotation anywhere.eks.amazonaws.com/paused=true", objects...)
	}
	return found
}

// makersKnown asks owners.7.
func makersKnown(w *world) walk.Answer {
	var objects []string
	for kind, of := range otherMakers {
		for r := range of.In(w.in.Snapshot).All() {
			objects = append(objects, named(kind, r.Namespace, r.Name))
		}
	}
	if slices.Sort(objects); objects == nil {
		return passed
	}
	return differs("the backup holds "+objects[0], "", objects...)
}

// workflow is a Workflow of Tinkerbell.
type workflow struct{ BootMode string }

var workflows = backup.NewKind("workflows.tinkerbell.org",
	backup.Text(func(f *workflow) *string { return &f.BootMode }, "spec.bootOptions.bootMode"),
)

// workflowsDone asks owners.9.
func workflowsDone(w *world) walk.Answer {
	found := passed
	for r := range workflows.In(w.in.Snapshot).All() {
		title := named("Workflow", r.Namespace, r.Name)
		until := "it is left out of the restore"
		if r.Data.BootMode != "" {
			return differs(title+" has spec.bootOptions.bootMode "+r.Data.BootMode, until, title)
		}
		found = none(title+" is in the backup", until, title)
	}
	return found
}

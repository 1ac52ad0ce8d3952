package rehearsal

import (
	"cmp"
	"encoding/json"
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
		ID: "owners.9", Of: "orders that are carried out once: Workflow, Job and Task of Tinkerbell, ETCDSnapshotRestore of Rancher Turtles, upgrades of EKS Anywhere",
		Asks:    "their state, which a restore takes away: they are taken for new ones, in a paused Cluster too",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.CarriedOutAgain, What: "it is carried out again on what runs: a host is switched off or written over, etcd is set back to a snapshot, or a Node is upgraded"},
		None:    walk.Does{Effect: walk.NotReady, Code: code.CannotReplace, What: "the host is allowed to boot from the network, and its node is written over at its next reboot"},
		Source: "Reconcile, processNewWorkflow: tink/controller/internal/workflow of Tinkerbell; prepareWorkflow: pre.go; doReconcile: rufio/internal/controller/job.go and task.go; " +
			"reconcileNormal: exp/day2/controllers/etcdsnapshotrestore_controller.go v0.15.0 to v0.24.0 of Rancher Turtles; reconcile: controllers/nodeupgrade_controller.go v0.26 of EKS Anywhere",
	}, ordersDone},
	{walk.Row{
		ID: "owners.13", Of: "Karpenter",
		Asks:   "condition Launched of each NodeClaim, which a restore takes away",
		None:   walk.Makes.Says("it launches another instance for the NodeClaim"),
		Source: "Launch.Reconcile: pkg/controllers/nodeclaim/lifecycle/launch.go v1.14.1 of Karpenter; Create, which resumes with an annotation: pkg/cloudprovider/cloudprovider.go of karpenter-provider-cluster-api 2e0fec7",
	}, claimsLaunched},
}

var anywhereClusters = backup.NewKind("clusters."+anywhereGroup,
	backup.Text(func(a *anywhere) *string { return &a.Paused }, "annotation:anywhere.eks.amazonaws.com/paused"),
)

// anywhere is a Cluster of EKS Anywhere.
type anywhere struct{ Paused string }

// otherMakers are objects from which somebody else makes Clusters or machines, by what they are
// called.
var otherMakers = map[string]*backup.Kind[maker]{
	"Cluster.provisioning.cattle.io": backup.NewKind("clusters.provisioning.cattle.io",
		backup.Present(func(m *maker) *bool { return &m.Makes }, "spec.rkeConfig")), // it imports the others
	"TanzuKubernetesCluster":                newMakerKind("tanzukubernetesclusters.run.tanzu.vmware.com"),
	"HostedCluster.hypershift.openshift.io": newMakerKind("hostedclusters.hypershift.openshift.io"),
	"Machine.machine.sapcloud.io":           newMakerKind("machines.machine.sapcloud.io"),
	"Machine.machine.openshift.io":          newMakerKind("machines.machine.openshift.io"),
	"Machine.cluster.k8s.io":                newMakerKind("machines.cluster.k8s.io"),
}

type maker struct{ Makes bool }

func newMakerKind(resource string) *backup.Kind[maker] {
	return backup.NewKind(resource, backup.Present(func(m *maker) *bool { return &m.Makes }, "metadata.name"))
}

// anywherePaused asks owners.6.
func anywherePaused(w *world) walk.Answer {
	found := notAsked
	var objects []string
	for r := range anywhereClusters.In(w.in.Snapshot).All() {
		found = passed
		if r.Data.Paused != "true" {
			objects = append(objects, named("Cluster."+anywhereGroup, r.Namespace, r.Name))
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
			if r.Data.Makes {
				objects = append(objects, named(kind, r.Namespace, r.Name))
			}
		}
	}
	if slices.Sort(objects); objects == nil {
		return passed
	}
	return differs("the backup holds "+objects[0], "", objects...)
}

// order is an object that its controller carries out once. What it does is in one of these.
type order struct {
	BootMode    string // of a Workflow
	Task, Tasks string // of a Task and of a Job, in JSON
}

const (
	bmcGroup      = "bmc.tinkerbell.org"
	anywhereGroup = "anywhere.eks.amazonaws.com"
)

// orders are all kinds of them, with what one does to what runs, in words that follow its title.
var orders = []struct {
	*backup.Kind[order]
	title string
	does  func(*order) string
}{
	{backup.NewKind("workflows.tinkerbell.org", backup.Text(func(o *order) *string { return &o.BootMode }, "spec.bootOptions.bootMode")), "Workflow", (*order).boots},
	{backup.NewKind("tasks."+bmcGroup, backup.Raw(func(o *order) *string { return &o.Task }, "spec.task")), "Task." + bmcGroup, (*order).powers},
	{backup.NewKind("jobs."+bmcGroup, backup.Raw(func(o *order) *string { return &o.Tasks }, "spec.tasks")), "Job." + bmcGroup, (*order).powers},
	{backup.NewKind[order]("etcdsnapshotrestores.turtles-capi.cattle.io"), "ETCDSnapshotRestore", always("stops RKE2 on all machines of a control plane, and restores its etcd")},
	{backup.NewKind[order]("nodeupgrades." + anywhereGroup), "NodeUpgrade", always("upgrades a Node as it runs")},
	{backup.NewKind[order]("controlplaneupgrades." + anywhereGroup), "ControlPlaneUpgrade", always("upgrades Nodes as they run")},
	{backup.NewKind[order]("machinedeploymentupgrades." + anywhereGroup), "MachineDeploymentUpgrade", always("upgrades Nodes as they run")},
}

func always(does string) func(*order) string { return func(*order) string { return does } }

// boots says how a Workflow has a host boot at once.
func (o *order) boots() string {
	if o.BootMode == "" {
		return ""
	}
	return "has spec.bootOptions.bootMode " + o.BootMode
}

// powers says what a Task or a Job does to the power of a host that runs.
func (o *order) powers() string {
	var tasks []struct{ PowerAction string }
	if json.Unmarshal([]byte(cmp.Or(o.Tasks, "["+o.Task+"]")), &tasks) != nil {
		return "cannot be read"
	}
	for _, t := range tasks {
		if t.PowerAction != "" && t.PowerAction != "on" && t.PowerAction != "status" {
			return "has powerAction " + t.PowerAction
		}
	}
	return ""
}

// ordersDone asks owners.9.
func ordersDone(w *world) walk.Answer {
	const until = "it is left out of the restore"
	var why string
	var now, later []string
	for _, of := range orders {
		for r := range of.In(w.in.Snapshot).All() {
			title := named(of.title, r.Namespace, r.Name)
			if does := of.does(&r.Data); does == "" {
				later = append(later, title)
			} else {
				now, why = append(now, title), cmp.Or(why, title+" "+does)
			}
		}
	}
	switch {
	case now != nil:
		return differs(why, until, now...)
	case later != nil:
		return none(later[0]+" is in the backup", until, later...)
	}
	return passed
}

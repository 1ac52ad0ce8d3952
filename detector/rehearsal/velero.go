package rehearsal

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// restoreRows are asked once of the whole restore.
var restoreRows = slices.Concat(veleroRows, operatorRows, makerRows)

// veleroRows are those of Velero (pkg/restore/restore.go), and of what all controllers ask
// before anything else.
var veleroRows = []row[*world]{
	{walk.Row{
		ID: "core.V1", Of: "Velero",
		Asks:    "the order of resources: its own default restores Clusters last from v1.9.3 on",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.ClustersFirst, What: "it restores Clusters before their machines: while controllers run, each MachineDeployment then creates a new MachineSet and deletes every running worker of the restored one"},
		Source:  "defaultRestorePriorities: pkg/cmd/server/server.go v1.7.2 to v1.9.2; LowPriorities from v1.9.3 on",
	}, veleroOrder},
	{walk.Row{
		ID: "core.V5", Of: "Velero",
		Asks:    "annotation velero.io/restore-status: the status of an object that has it comes back, of all but MachineDeployments, MachineSets and MachineHealthChecks, whose controllers do not go by theirs",
		Differs: walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "it brings back a status, so that controllers take for done, for failed or for gone what was so when the backup was taken"},
		Source: "determineRestoreStatus: pkg/restore/restore.go v1.16.0 to v1.18.1; what goes by a status, beside the Ready of all: deleteRetiredNodes: machinepool_controller_noderef.go v1.8.0 to v1.13.4 of Cluster API, which deletes a Node of a name of that time that another instance has now; " +
			"reconcileNodegroupVersion: pkg/cloud/services/eks/nodegroup.go v2.11.1 of CAPA, which sets a node group to the launch template of that time; getFailedMachines: azure/scope/strategies/machinepool_deployments v1.26.0 of CAPZ, which deletes what had failed then; " +
			"reconcileInFlightTask: pkg/services/govmomi/util.go v1.5.8 to v1.16.1 of CAPV, which waits for a task of that time",
	}, statusRestored},
	{walk.Row{
		ID: "core.X1", Of: "Cluster",
		Asks:      "label cluster.x-k8s.io/watch-filter, if its controllers run with a watch filter",
		Condition: code.WatchFilter,
		Source:    "ResourceHasFilterLabel: util/predicates v1.5.8 to v1.14.0",
	}, watchFilter},
}

// lastPriorities is the first Velero that restores Clusters last by itself.
var lastPriorities = version.MustParseGeneric("1.9.3")

// veleroOrder asks core.V1.
func veleroOrder(w *world) walk.Answer {
	found := notAsked
	for r := range servers.In(w.in.Snapshot).All() {
		for _, image := range r.Data.Images {
			repository, tag, tagged := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
			tag, _, _ = strings.Cut(tag, "@")
			v, err := version.ParseGeneric(strings.TrimPrefix(tag, "v"))
			if !tagged || err != nil || !strings.HasPrefix(repository, "velero") || strings.Contains(repository, "plugin") {
				continue
			}
			if v.LessThan(lastPriorities) {
				return differs("the Velero in the backup is "+tag, "Velero from v1.9.3 on restores it", "Deployment "+r.Namespace+"/"+r.Name)
			}
			found = passed
		}
	}
	return found
}

// watchFilter asks core.X1.
func watchFilter(w *world) walk.Answer {
	var objects []string
	for r := range clusterKinds.In(w.in.Snapshot).All() {
		if r.Data.WatchFilter != "" {
			objects = append(objects, named("Cluster", r.Namespace, r.Name)+" ("+r.Data.WatchFilter+")")
		}
	}
	for r := range planeStatuses.In(w.in.Snapshot).All() {
		if r.Data.WatchFilter != "" {
			objects = append(objects, named(kubeadm, r.Namespace, r.Name)+" ("+r.Data.WatchFilter+")")
		}
	}
	if objects == nil {
		return passed
	}
	return unseen(objects...)
}

// statusRestored asks core.V5. Whether the command of the restore asks for it is not in the backup.
func statusRestored(w *world) walk.Answer {
	if w.moved() {
		return notAsked
	}
	if objects := w.in.Snapshot.Restored; len(objects) > 0 {
		return differs(objects[0]+" has it", "it is taken away", objects...)
	}
	return passed
}

package rehearsal

import (
	"cmp"
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// topologyRows are those of the topology controller (topology/cluster) and of ClusterClass.
var topologyRows = []row[*cluster]{
	{walk.Row{
		ID: "core.C1", Of: "Cluster",
		Asks:     "the ClusterClass of its topology, before anything else",
		None:     walk.Halts.Says("its own controller does nothing, and all others wait for what it says of the infrastructure"),
		Versions: "from v1.10.0; before, the topology alone is not reconciled",
		Source:   "Reconcile: internal/controllers/cluster/cluster_controller.go v1.10.0 to v1.13.6; core/reconcilers/cluster v1.14.0",
	}, classThere},
	{walk.Row{
		ID: "core.T3", Of: "topology",
		Asks:    "its label on the control plane, and the MachineDeployments that have its labels, one for each name",
		None:    walk.OwnerHalts.Says("it fails, because the control plane is not its own: nothing that the topology wants is done"),
		Several: walk.OwnerHalts.Says("it fails before it compares anything: nothing that the topology wants is done"),
		Source:  "getCurrentControlPlaneState, getCurrentMachineDeploymentState: topology/cluster/current_state.go v1.5.8 to v1.14.0",
	}, deploymentNames},
	{walk.Row{
		ID: "core.T4", Of: "topology",
		Asks:    "what the Cluster and its ClusterClass want together, which it compares with every object",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.SpecUnseen, What: "what has changed is carried out, and may roll machines"},
		Source:  "desiredstate.Generate, reconcileState: topology/cluster v1.9.0 to v1.14.0; generations: cluster_controller.go",
	}, topologySeen},
	{walk.Row{
		ID: "core.T5", Of: "topology",
		Asks:      "annotation runtime.cluster.x-k8s.io/pending-hooks: the extensions that it calls again",
		Condition: code.PendingHooks,
		Source:    "callAfterHooks: topology/cluster v1.4.0 to v1.14.0",
	}, pendingHooks},
}

// classThere asks core.C1.
func classThere(c *cluster) walk.Answer {
	o := c.object
	if o == nil || o.Class == "" {
		return notAsked
	}
	namespace := cmp.Or(o.ClassNamespace, c.ID.Namespace)
	if classKinds.In(c.world.in.Snapshot).Named(c.ID.Backup, namespace, o.Class) == nil {
		title := named("ClusterClass", namespace, o.Class)
		return none(title+" is not in the backup", title+" exists", title)
	}
	return passed
}

// deploymentNames asks core.T3.
func deploymentNames(c *cluster) walk.Answer {
	if c.object == nil || c.object.Class == "" {
		return notAsked
	}
	if c.is(kubeadm) {
		if p := planeStatuses.In(c.world.in.Snapshot).Named(c.ID.Backup, c.ID.Namespace, c.plane.Name); p != nil && !p.Data.Owned {
			return none(c.planeTitle()+" lacks label topology.cluster.x-k8s.io/owned", c.planeTitle()+" has it", c.planeTitle())
		}
	}
	names := map[string]*backup.Group{}
	for _, g := range c.world.groupsOf(c.ID) {
		name := g.Topology()
		if g.Kind != "MachineDeployment" || name == "" {
			continue
		}
		if other := names[name]; other != nil {
			first, second := named(g.Kind, g.Namespace, other.Name), named(g.Kind, g.Namespace, g.Name)
			return several(first+" and "+second+" are both "+name+" of the topology", "one alone is", first, second)
		}
		names[name] = g
	}
	return passed
}

// topologySeen asks core.T4: a change that the controller had not seen when the backup was
// taken is carried out by the restored one. Of a topology that was paused its controller had
// seen nothing: that is a condition of its own.
func topologySeen(c *cluster) walk.Answer {
	o := c.object
	if o == nil || o.Class == "" || c.Paused {
		return notAsked
	}
	if behind(o.Generation, o.Observed) {
		return differs(fmt.Sprintf("%s has generation %d, and its controller had seen %d", c.title(), o.Generation.N, o.Observed.N), "", c.title())
	}
	namespace := cmp.Or(o.ClassNamespace, c.ID.Namespace)
	class := classKinds.In(c.world.in.Snapshot).Named(c.ID.Backup, namespace, o.Class)
	switch {
	case class == nil:
		return notAsked
	case behind(class.Data.Generation, class.Data.Observed):
		title := named("ClusterClass", namespace, o.Class)
		return differs(fmt.Sprintf("%s has generation %d, and its controller had seen %d", title, class.Data.Generation.N, class.Data.Observed.N), "", title)
	}
	return passed
}

// behind reports whether a controller had not seen the last change of an object.
func behind(generation, observed backup.Number) bool {
	return generation.Known && observed.Known && observed.N < generation.N
}

// pendingHooks asks core.T5.
func pendingHooks(c *cluster) walk.Answer {
	switch o := c.object; {
	case o == nil || o.Class == "":
		return notAsked
	case o.PendingHooks != "":
		return unseen(c.title() + " (" + o.PendingHooks + ")")
	}
	return passed
}

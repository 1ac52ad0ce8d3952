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

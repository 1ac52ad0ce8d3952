package rehearsal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

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
		Asks:    "its label on the infrastructure cluster, the control plane and their templates, and the MachineDeployments that have its labels, one for each name",
		None:    walk.OwnerHalts.Says("it fails on an object that is not its own: nothing that the topology specifies is done"),
		Several: walk.OwnerHalts.Says("it fails before it compares anything: nothing that the topology specifies is done"),
		Source:  "getCurrentControlPlaneState, getCurrentMachineDeploymentState: topology/cluster/current_state.go v1.5.8 to v1.14.0",
	}, topologyOwns},
	{walk.Row{
		ID: "core.T4", Of: "topology",
		Asks:      "what the Cluster and its ClusterClass specify together, which it compares with every object",
		Differs:   walk.Does{Effect: walk.Replaces, Code: code.SpecUnseen, What: "what has changed is carried out, and may roll machines"},
		Condition: code.ClassesUnchanged,
		Source:    "desiredstate.Generate, reconcileState: topology/cluster v1.9.0 to v1.14.0; generations: cluster_controller.go",
	}, topologySeen},
	{walk.Row{
		ID: "core.T5", Of: "topology",
		Asks:      "annotation runtime.cluster.x-k8s.io/pending-hooks: the extensions that it calls again",
		Condition: code.PendingHooks,
		Source:    "callAfterHooks: topology/cluster v1.4.0 to v1.14.0",
	}, pendingHooks},
	{walk.Row{
		ID: "core.T8", Of: "topology",
		Asks:      "what its patches read of objects, from which it computes the templates again: a restore gives the Cluster another uid, and Velero adds labels to all objects",
		Differs:   walk.Does{Effect: walk.Replaces, Code: code.SpecUnseen, What: "it computes other templates than there are, and rolls all machines of those"},
		Condition: code.ClassesUnchanged,
		Source:    "Global, ControlPlane, MachineDeployment: internal/controllers/topology/cluster/patches/variables/variables.go v1.9.0 to v1.14.0; reconcileReferencedTemplate: topology/cluster/reconcile_state.go",
	}, patchesRead},
}

// topologyDeeds are those of the topology that rest on what there is.
var topologyDeeds = []deed[*cluster]{
	{walk.Row{
		ID: "core.T2", Of: "topology",
		Asks:    "variables and patches, from which it computes what it specifies: it could not when the backup was taken",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.SpecUnseen, What: "what it specifies then is carried out once it can, and may roll machines"},
		Source:  "DefaultAndValidateVariables, desiredstate.Generate: topology/cluster v1.9.0 to v1.14.0",
	}, topologyReconciled},
	{walk.Row{
		ID: "core.T7", Of: "topology",
		Asks:   "the MachineDeployments and MachinePools that it specifies",
		None:   walk.Makes.Says("it creates what is absent, with its machines"),
		Source: "reconcileMachineDeployments, reconcileMachinePools: topology/cluster/reconcile_state.go v1.9.0 to v1.14.0",
	}, topologyThere},
}

// unwantedDeed is asked of each group of workers.
var unwantedDeed = deed[*set]{walk.Row{
	ID: "core.T7b", Of: "topology",
	Asks:    "the MachineDeployments and MachinePools that have its label",
	Several: walk.Deletes.Says("it deletes one that it does not specify, with all its machines"),
	Source:  "reconcileMachineDeployments, reconcileMachinePools: topology/cluster/reconcile_state.go v1.9.0 to v1.14.0",
}, topologyWants}

// topologyReconciled asks core.T2. Of a paused Cluster it says no more than that.
func topologyReconciled(p *actions, c *cluster) bool {
	t := c.topology
	if t != nil && t.Unreconciled.Status == "False" && !((c.Paused || c.moved()) && strings.Contains(t.Unreconciled.Reason, "Paused")) {
		p.finds(walk.Differs, "The topology was not reconciled when the backup was taken: what is still to be done is not known here ("+oneLine(cmp.Or(t.Unreconciled.Message, t.Unreconciled.Reason))+")")
	}
	return t != nil
}

// topologyThere asks core.T7.
func topologyThere(p *actions, c *cluster) bool {
	t := c.topology
	if !t.works() {
		return false
	}
	there := make(map[owner]bool, len(c.groups))
	for _, s := range c.groups {
		there[owner{s.Kind, s.topology()}] = true
	}
	absent := func(kind, named string, n backup.Number) {
		if !there[owner{kind, named}] {
			p.finds(walk.None, fmt.Sprintf("%s %s of the topology is not in the backup: it is created again, with %s", kind, named, machinesOf(n)))
		}
	}
	for i, deployment := range t.Names {
		absent(machineDeployment, deployment, t.replicas(i))
	}
	for i, pool := range t.PoolNames {
		absent(machinePool, pool, t.poolReplicas(i))
	}
	return true
}

// machinesOf returns a number of machines in words.
func machinesOf(n backup.Number) string {
	if !n.Known {
		return "its machines"
	}
	return plural(int(n.N), "machine", "machines")
}

// topologyWants asks core.T7b. Of a MachineDeployment the outcomes of its machines say it.
func topologyWants(p *actions, s *set) bool {
	switch {
	case s.removed == "":
	case s.Kind == machinePool:
		p.finds(walk.Several, s.removed+": it is deleted with its pool and all instances of that")
	default:
		p.notes(walk.Several, s.removed)
	}
	return s.topology() != ""
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

// topologyOwns asks core.T3.
func topologyOwns(c *cluster) walk.Answer {
	if c.object == nil || c.object.Class == "" || c.own == nil || c.Paused {
		return notAsked
	}
	refs := []backup.Ref{c.own.Infrastructure}
	if c.plane != nil {
		refs = append(refs, backup.Ref{Group: planeGroup, Kind: c.plane.Kind, Namespace: c.ID.Namespace, Name: c.plane.Name}, c.plane.Infrastructure)
	}
	names := map[string]*backup.Group{}
	for _, g := range c.world.groupsOf(c.ID) {
		key := topologyNames[g.Kind]
		if _, owned := g.Labels.Lookup(clusterv1.ClusterTopologyOwnedLabel); key == "" || !owned {
			continue
		}
		title, name := named(g.Kind, g.Namespace, g.Name), g.Labels.Get(key)
		if name == "" {
			return none(title+" lacks label "+key, title+" has it", title)
		}
		if other := names[g.Kind+name]; other != nil {
			first := named(g.Kind, g.Namespace, other.Name)
			return several(first+" and "+title+" are both "+name+" of the topology", "one alone is", first, title)
		}
		names[g.Kind+name] = g
		refs = append(refs, g.Bootstrap, g.Infrastructure)
	}
	for _, r := range refs {
		title := named(r.Kind, r.Namespace, r.Name)
		switch there, owned := c.world.ofTopology(c.ID.Backup, r); {
		case !there:
			return none(title+" is not in the backup", title+" exists", title)
		case !owned:
			return none(title+" lacks label "+clusterv1.ClusterTopologyOwnedLabel, title+" has it", title)
		}
	}
	return passed
}

// topologyNames are the labels with the names of the topology's workers, by their kinds.
var topologyNames = map[string]string{
	"MachineDeployment": clusterv1.ClusterTopologyMachineDeploymentNameLabel,
	"MachinePool":       clusterv1.ClusterTopologyMachinePoolNameLabel,
}

// ofTopology reports whether an object is in the backup, and has the label of a topology. Of a
// kind that is not read here both are taken for granted.
func (w *world) ofTopology(n int, ref backup.Ref) (there, owned bool) {
	kind := topologyKinds[ref.Kind+"."+ref.Group]
	if kind == nil {
		return true, true
	}
	r := kind.In(w.in.Snapshot).Named(n, ref.Namespace, ref.Name)
	return r != nil, r != nil && r.Data.Owned
}

// topologySeen asks core.T4: a change that the controller had not seen when the backup was
// taken is carried out by the restored one, of a paused Cluster once it is unpaused. To pause it
// was a change of its own.
func topologySeen(c *cluster) walk.Answer {
	o := c.object
	if o == nil || o.Class == "" {
		return notAsked
	}
	seen := o.Observed
	if c.moved() || c.Paused { // clusterctl itself paused it
		seen.N++
	}
	if behind(o.Generation, seen) {
		return differs(fmt.Sprintf("%s has generation %d, and its controller had seen %d", c.title(), o.Generation.N, o.Observed.N), "", c.title())
	}
	namespace := cmp.Or(o.ClassNamespace, c.ID.Namespace)
	class := classKinds.In(c.world.in.Snapshot).Named(c.ID.Backup, namespace, o.Class)
	if class == nil {
		return notAsked
	}
	title := named("ClusterClass", namespace, o.Class)
	switch {
	case behind(class.Data.Generation, class.Data.Observed):
		return differs(fmt.Sprintf("%s has generation %d, and its controller had seen %d", title, class.Data.Generation.N, class.Data.Observed.N), "", title)
	case c.Paused && !c.moved():
		return unseen(title + " of " + c.title())
	}
	if template := c.editedTemplate(namespace); template != "" {
		return unseen(template + " of " + c.title())
	}
	return passed
}

// behind reports whether a controller had not seen the last change of an object. Where it says
// nothing of that, it had seen none.
func behind(generation, observed backup.Number) bool {
	return generation.Known && observed.N < generation.N
}

// patchesRead asks core.T8.
func patchesRead(c *cluster) walk.Answer {
	switch t := c.topology; {
	case t == nil || t.class == nil:
		return notAsked
	case t.class.patches.reads != "":
		p := &t.class.patches
		return differs("patch "+p.name+" of "+t.classTitle(c)+" reads "+p.reads, "", c.title(), t.classTitle(c))
	case t.class.patches.external != "":
		return unseen(t.classTitle(c) + " of " + c.title() + " (patch " + t.class.patches.external + ")")
	}
	return passed
}

// editedTemplate returns a template of a cluster's topology, or in the namespace of its ClusterClass,
// that was edited after it was created, or "". The controllers of neither watch templates (SetupWithManager:
// internal/controllers/topology/cluster, clusterclass v1.9.0 to v1.13.6).
func (c *cluster) editedTemplate(namespace string) string {
	w := c.world
	if w.edited == nil {
		w.edited = map[backup.ClusterID]string{}
		for _, name := range slices.Sorted(maps.Keys(topologyKinds)) {
			kind, _, _ := strings.Cut(name, ".")
			if !strings.HasSuffix(kind, clusterv1.TemplateSuffix) {
				continue
			}
			for r := range topologyKinds[name].In(w.in.Snapshot).All() {
				of := backup.ClusterID{Backup: r.Backup, Namespace: r.Namespace}
				if r.Data.Owned {
					of.Name = r.ClusterName
				}
				if r.Data.Generation.N > 1 && w.edited[of] == "" {
					w.edited[of] = named(kind, r.Namespace, r.Name)
				}
			}
		}
	}
	return cmp.Or(w.edited[c.ID], w.edited[backup.ClusterID{Backup: c.ID.Backup, Namespace: namespace}])
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

// classWholeDeed is of the controller of ClusterClass, for which the topology waits.
var classWholeDeed = deed[*cluster]{walk.Row{
	ID: "core.L1", Of: "topology",
	Asks:    "the templates and extensions of its ClusterClass, and that the controller of that has seen it since the restore",
	None:    walk.OwnerHalts.Says("it fails before it compares anything: nothing that it specifies is done"),
	Differs: walk.OwnerHalts.Says("it fails before it compares anything, while the variables of the ClusterClass are not ready, or it is paused and nobody writes its status: nothing that it specifies is done"),
	Source:  "reconcileExternalReferences, reconcileVariables: internal/controllers/clusterclass v1.5.8 to v1.14.0; reconcile: topology/cluster/cluster_controller.go v1.9.0 to v1.14.0",
}, classWhole}

// classWhole asks core.L1.
func classWhole(p *actions, c *cluster) bool {
	halts := func(found walk.Found, until string) {
		p.finds(found, "Nothing that the topology of the Cluster specifies is done until "+until)
	}
	switch t := c.topology; {
	case t.lacking(c) != "":
		halts(walk.None, t.lacking(c)+" exists, which the backup lacks")
	case t == nil || t.class == nil:
	case t.class.paused:
		halts(walk.Differs, t.classTitle(c)+" is unpaused")
	case t.class.Variables.Status == "False":
		halts(walk.Differs, "the variables of "+t.classTitle(c)+" are mended ("+oneLine(cmp.Or(t.class.Variables.Message, t.class.Variables.Reason))+")")
	}
	return c.topology != nil
}

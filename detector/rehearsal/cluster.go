package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// clusterRows are asked once for each cluster, in this order: by the controllers of
// Cluster, its topology and its control plane.
var clusterRows = slices.Concat(extensionRows, ownRows, topologyRows, ownerRows, planeRows, adoptionRows, nodeRows, addonRows, applierRows)

// ownRows are those of the controller of Cluster (internal/controllers/cluster;
// core/reconcilers/cluster from v1.14.0).
var ownRows = []row[*cluster]{
	{walk.Row{
		ID: "core.C2", Of: "Cluster",
		Asks:   "the references to infrastructure cluster and control plane that its topology wrote",
		None:   walk.Replaces.Says("its topology creates another infrastructure cluster or another control plane, with a template of its own, by which all machines of the control plane are to be replaced"),
		Source: "Reconcile: internal/controllers/cluster/cluster_controller.go; computeInfrastructureCluster, computeControlPlane: exp/topology/desiredstate/desired_state.go v1.5.8 to v1.13.6",
	}, referencesWritten},
	{walk.Row{
		ID: "core.C3", Of: "Cluster",
		Asks:    "its infrastructure cluster, by spec.infrastructureRef, which no other Cluster may name",
		None:    walk.Halts.Says("the infrastructure cluster gets no owner, and the controllers of its machines wait for one that the Cluster names"),
		Several: walk.Halts.Says("the infrastructure cluster is the first Cluster's that comes, and its label names now one and now the other: whose machines are served is left to chance"),
		Source:  "reconcileInfrastructure, ensureOwnerRefAndLabel: internal/controllers/cluster/cluster_controller_phases.go v1.5.8 to v1.13.6; FetchVSphereCluster: pkg/services/vimmachine.go of CAPV v1.16.1",
	}, infrastructureNamed},
	{walk.Row{
		ID: "core.C6", Of: "Cluster",
		Asks:    "its control plane, by spec.controlPlaneRef, which no other Cluster may name",
		Several: walk.Halts.Says("the control plane is the first Cluster's that comes, and takes the machines of that one for its own"),
		Source:  "reconcileControlPlane, ensureOwnerRefAndLabel: internal/controllers/cluster/cluster_controller_phases.go v1.5.8 to v1.13.6; GetOwnerCluster: util/util.go",
	}, controlPlaneNamed},
	{walk.Row{
		ID: "core.C5", Of: "Cluster",
		Asks:   "the endpoint of its API server, its own or that of its infrastructure",
		None:   walk.OwnerHalts.Says("KubeadmControlPlane waits for an endpoint before it does anything, and no machine joins"),
		Source: "reconcileInfrastructure: cluster_controller_phases.go v1.5.8 to v1.14.0; Reconcile of KubeadmControlPlane",
	}, endpoint},
	{walk.Row{
		ID: "core.G1", Of: "Cluster",
		Asks:    "the machines of the management cluster itself, which is a Cluster of the backup like the others: the new one takes its place, and none of them may run or be started",
		Several: walk.Does{Effect: walk.Doubles, Code: code.ManagementClusterRuns, What: "the old controllers and the restored ones manage the same VMs"},
		Differs: walk.Does{Effect: walk.Starts, Code: code.ManagementClusterActs, What: "the infrastructure controller starts them: the old etcd comes back, with the old controllers beside the new ones"},
		Source:  "reconcilePowerState: pkg/services/govmomi/service.go of CAPV v1.5.8 to v1.16.1",
	}, managementCluster},
}

// managed reports whether a topology manages the cluster, and whether it can be asked: its Cluster
// is in the backup.
func (c *cluster) managed() (topology, known bool) {
	if c.own == nil || c.Derived || c.object == nil {
		return false, false
	}
	return c.object.Class != "", true
}

// referencesWritten asks core.C2.
func referencesWritten(c *cluster) walk.Answer {
	if topology, _ := c.managed(); !topology || c.Paused || len(c.machines) == 0 {
		return notAsked
	}
	for name, ref := range map[string]backup.Ref{"infrastructureRef": c.own.Infrastructure, "controlPlaneRef": c.own.ControlPlane} {
		if ref.IsZero() {
			return none(c.title()+" has no spec."+name, "it has the one that it had", c.title())
		}
	}
	return passed
}

// infrastructureNamed asks core.C3. One that is absent is known to the forecast.
func infrastructureNamed(c *cluster) walk.Answer {
	topology, known := c.managed()
	switch {
	case !known || len(c.machines) == 0:
		return notAsked
	case c.own.Infrastructure.IsZero() && topology:
		return notAsked // its topology writes it
	case c.own.Infrastructure.IsZero():
		return none(c.title()+" has no spec.infrastructureRef", "names its infrastructure", c.title())
	}
	return c.namedOnce(c.own.Infrastructure)
}

// controlPlaneNamed asks core.C6. One that is absent is known to the forecast.
func controlPlaneNamed(c *cluster) walk.Answer {
	if _, known := c.managed(); !known || c.own.ControlPlane.IsZero() {
		return notAsked
	}
	return c.namedOnce(c.own.ControlPlane)
}

// namedOnce answers whether another Cluster refers to what this one does.
func (c *cluster) namedOnce(ref backup.Ref) walk.Answer {
	if n := c.world.naming(c.ID.Backup, ref); n > 1 {
		object := named(ref.Kind, ref.Namespace, ref.Name)
		return several(fmt.Sprintf("%d Clusters refer to %s", n, object), "is named by one alone", object)
	}
	return passed
}

// naming counts the Clusters that refer to an object.
func (w *world) naming(n int, ref backup.Ref) int {
	if w.refers == nil {
		w.refers = map[referred]int{}
		for i := range w.in.Snapshot.Clusters {
			c := &w.in.Snapshot.Clusters[i]
			w.refers[referred{c.Backup, c.Infrastructure}]++
			if c.ControlPlane != c.Infrastructure { // EKS has both in one object
				w.refers[referred{c.Backup, c.ControlPlane}]++
			}
		}
	}
	return w.refers[referred{n, ref}]
}

// referred is what a reference of a backup leads to.
type referred struct {
	backup int
	ref    backup.Ref
}

// managementCluster asks core.G1.
func managementCluster(c *cluster) walk.Answer {
	if !c.Self || c.Paused {
		return notAsked
	}
	var off, on []string
	for i := range c.machines {
		switch m := &c.machines[i]; {
		case m.verdict == nil || m.verdict.Status != code.Healthy || m.verdict.Instance == nil:
		case m.verdict.Instance.Runs():
			on = append(on, m.title())
		case c.world.in.Controllers[c.Provider].PowersOn:
			off = append(off, m.title())
		}
	}
	until := "it is left out of the restore, or its Cluster is paused"
	switch {
	case on != nil:
		return several(fmt.Sprintf("%d of its machines run, %s first", len(on), on[0]), until, on...)
	case off != nil:
		return differs(fmt.Sprintf("%d of its machines are off, %s first", len(off), off[0]), until, off...)
	}
	return passed
}

// endpoint asks core.C5.
func endpoint(c *cluster) walk.Answer {
	switch {
	case c.own == nil || c.Derived || !c.is(kubeadm):
		return notAsked
	case c.Endpoint == "":
		return none("neither "+c.title()+" nor its infrastructure has a control plane endpoint", "one of them has it", c.title())
	}
	return passed
}

// planeThereDeed is of the controller of Cluster, and asked once it is known what is there.
var planeThereDeed = deed[*cluster]{walk.Row{
	ID: "core.C6b", Of: "Cluster",
	Asks:   "the object of its control plane, which it makes its own",
	None:   walk.OwnerHalts.Says("nobody manages the control plane, and nothing says that it is initialised"),
	Source: "reconcileControlPlane: cluster_controller_phases.go v1.5.8 to v1.14.0",
}, planeThere}

// planeThere asks core.C6b.
func planeThere(p *actions, c *cluster) bool {
	if lost := c.lostPlane(); lost != "" {
		p.finds(walk.None, fmt.Sprintf("Nobody manages the control plane until %s exists, which the backup lacks", lost))
	}
	return c.own != nil && !c.own.ControlPlane.IsZero()
}

// lostPlane names the control plane if the backup lacks its object; without one that the
// provider runs, no controller acts on the cluster at all.
func (c *cluster) lostPlane() string {
	own := c.own
	if own == nil || own.Derived || !c.lacks(own.ControlPlane) || own.ControlPlane.Kind == c.controller.OwnsKubeconfig {
		return ""
	}
	return objectOf(own.ControlPlane)
}

// planeAnswersDeed is asked once it is known what becomes of the control plane.
var planeAnswersDeed = deed[*cluster]{walk.Row{
	ID: "core.C7", Of: "Cluster",
	Asks:    "a control plane that answers, and whose etcd has a majority",
	None:    walk.Does{Effect: walk.OwnerHalts, Code: code.ControlPlaneDown, What: "its API server does not answer: no Machine gets its Node, no worker joins"},
	Differs: walk.Does{Effect: walk.OwnerHalts, Code: code.HostedControlPlane, What: "its control plane was pods of the management cluster: what is left of them is not known here"},
	Source:  "reconcileControlPlane: cluster_controller_phases.go v1.5.8 to v1.14.0; setControlPlaneInitialized of KubeadmControlPlane",
}, planeAnswers}

// planeAnswers asks core.C7.
func planeAnswers(p *actions, c *cluster) bool {
	switch harm := c.harm(); {
	case harm != "":
		p.finds(walk.None, fmt.Sprintf("Of the control plane %s stopped (%s), and %s: %s", plural(c.stopped, "machine is", "machines are"), c.stoppedNames(), c.nobodyStarts(), harm))
	case c.lostControlPlane():
		p.finds(walk.None, "No machine of the control plane was found: its API server does not answer, and no controller brings etcd back")
	case c.ControlPlane.Reason == code.ControlPlaneLost && c.Nodes.State != "read": // a list is read from a majority of etcd
		p.finds(walk.None, "Of the machines of the control plane that the backup records no majority exists: whether etcd has one is not known here")
	}
	if c.ControlPlane.Reason == code.HostedInManagementCluster {
		p.finds(walk.Differs, "Its control plane ran as pods inside the management cluster: what is left of it is not known here")
	}
	return true
}

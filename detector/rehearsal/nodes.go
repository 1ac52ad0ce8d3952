package rehearsal

import (
	"fmt"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// nodeRows are what the controllers of Cluster API see through the API server of a workload
// cluster, which they all ask with the kubeconfig of the backup.
var nodeRows = []row[*cluster]{
	{walk.Row{
		ID: "core.M8", Of: "Cluster",
		Asks:      "the API server of the cluster, with the kubeconfig in the backup",
		Condition: code.APIServersAnswer,
		Source:    "reconcileNode: internal/controllers/machine/machine_controller_noderef.go; setControlPlaneInitialized: controlplane/kubeadm/internal/controllers v1.5.8 to v1.14.0",
	}, apiServer},
	{walk.Row{
		ID: "core.M10", Of: "Machine",
		Asks:    "the annotations of its Node, which it writes: they name the Machine's cluster and namespace",
		Differs: walk.Does{Effect: walk.Doubles, Code: code.ManagedElsewhere, What: "another management cluster manages the machines, and both would act on them"},
		Source:  "patchNode: internal/controllers/machine/machine_controller_noderef.go v1.4.0 to v1.14.0",
	}, annotations},
	{walk.Row{
		ID: "core.K14", Of: kubeadm,
		Asks:   "a Machine for each etcd member, by the names of the Nodes with the role of the control plane",
		None:   walk.RemovesMember.Says("it removes the etcd member that has no Machine as soon as all its Machines have Nodes"),
		Source: "reconcileEtcdMembers: controlplane/kubeadm/internal/controllers/controller.go v1.5.8 to v1.14.0",
	}, membersHaveMachines},
}

// apiServer asks core.M8. Where it did not answer from here, it may answer from the new
// management cluster.
func apiServer(c *cluster) walk.Answer {
	switch c.Nodes.State {
	case "", "noKubeconfig":
		return notAsked // nobody knows its address, or a check says that the Secret is absent
	case "read":
		return passed
	}
	return unseen(c.title())
}

// annotations asks core.M10.
func annotations(c *cluster) walk.Answer {
	if !c.nodesRead() {
		return notAsked
	}
	for i := range c.machines {
		m := &c.machines[i]
		for _, n := range c.byID[m.ProviderID] {
			if m.ProviderID != "" && n.ClusterName != "" && (n.ClusterName != c.ID.Name || n.ClusterNamespace != "" && n.ClusterNamespace != c.ID.Namespace) {
				return differs(fmt.Sprintf("Node %s is annotated as one of cluster %s/%s", n.Name, n.ClusterNamespace, n.ClusterName), "", m.title())
			}
		}
	}
	return passed
}

// membersHaveMachines asks core.K14. Instances without a Machine have an outcome of their own, so
// that only Nodes count of which no instance is known; and nothing is removed while one of the
// Machines has no Node.
func membersHaveMachines(c *cluster) walk.Answer {
	if !c.is(kubeadm) || c.plane.ExternalEtcd || !c.nodesRead() || c.plane.Paused {
		return notAsked
	}
	known := map[string]bool{}
	for _, v := range c.ControlPlane.Machines {
		known[v.ProviderID], known[v.Node], known[v.Name] = true, true, true
	}
	planes := 0
	for i := range c.machines {
		if m := &c.machines[i]; m.ControlPlane {
			planes++
			if m.Paused || len(c.byID[m.ProviderID]) != 1 {
				return notAsked
			}
		}
	}
	var left []string
	for _, n := range c.nodes {
		if n.ControlPlane && !known[n.ProviderID] && !known[n.Name] {
			left = append(left, "Node "+n.Name)
		}
	}
	switch {
	case planes == 0:
		return notAsked
	case left != nil:
		return none(left[0]+" has the role of the control plane and no Machine in the backup", "", left...)
	}
	return passed
}

package match

import (
	"cmp"

	"drift-detector/infra"
)

// Node is a Node of a workload cluster, with what it says of its life.
type Node struct {
	*infra.Node
	fresh bool // its kubelet reports, with a heartbeat that is neither old nor from the future
	// mute says that the answer lacks what would tell whether it is alive: its condition, or
	// its heartbeat where other Nodes of the list have one. Where none has, Nodes show that
	// they are there, and nothing about their life.
	mute bool
}

// Agrees reports whether Cluster API's annotations are there and name the cluster that
// the Node is a member of.
func (n *Node) Agrees() bool {
	return n.Machine != "" && n.ClusterName == n.Cluster.Name && n.ClusterNamespace == n.Cluster.Namespace
}

// compareMachine compares the machine that a Node names.
func (n *Node) compareMachine(namespace, name string) int {
	return cmp.Or(cmp.Compare(n.ClusterNamespace, namespace), cmp.Compare(n.Machine, name))
}

func compareNodes(a, b *Node) int {
	return cmp.Or(CompareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ProviderID, b.ProviderID),
		cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.ClusterName, b.ClusterName), cmp.Compare(a.ClusterNamespace, b.ClusterNamespace),
		cmp.Compare(a.OwnerKind, b.OwnerKind), cmp.Compare(a.OwnerName, b.OwnerName), a.Heartbeat.Compare(b.Heartbeat), compareBool(a.NoReady, b.NoReady),
		compareBool(a.Ready, b.Ready), compareBool(a.Unready, b.Unready), compareBool(a.ControlPlane, b.ControlPlane),
		cmp.Compare(a.Conditions, b.Conditions))
}

package detector

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// heartbeatAge is how old the heartbeat of a Node may be that counts as alive
// (kubelets report every 5 minutes at the latest).
const heartbeatAge = 10 * time.Minute

// nodes are the Nodes of all workload clusters that could be asked.
type nodes struct {
	byKey     map[infra.Key][]*node
	byMachine map[machineName][]*node
	byName    map[nodeName][]*node // of those that name no machine
	of        map[backup.ClusterID][]*node
	lists     map[backup.ClusterID]NodeList
}

type node struct {
	*infra.Node
	fresh bool // its kubelet reports, with a heartbeat that is neither old nor from the future
	// mute says that the answer lacks what would tell whether it is alive: its condition, or
	// its heartbeat where other Nodes of the list have one. Where none has, Nodes show that
	// they are there, and nothing about their life.
	mute bool
}

// nodeName is a Node by its cluster and name.
type nodeName struct {
	cluster backup.ClusterID
	name    string
}

// machineName is what a Node's annotations name.
type machineName struct {
	cluster         backup.ClusterID
	namespace, name string
}

func indexNodes(listings []infra.Listing, now time.Time) nodes {
	count := 0
	for i := range listings {
		count += len(listings[i].Nodes)
	}
	n := nodes{
		byKey: make(map[infra.Key][]*node, count), byMachine: make(map[machineName][]*node, count),
		byName: map[nodeName][]*node{}, of: map[backup.ClusterID][]*node{}, lists: map[backup.ClusterID]NodeList{},
	}
	for i := range listings {
		l := &listings[i]
		if isNodeList(l) {
			n.note(l)
		}
		at := l.ListedAt
		if at.IsZero() {
			at = now
		}
		dated := slices.ContainsFunc(l.Nodes, func(one infra.Node) bool { return !one.Heartbeat.IsZero() })
		for j := range l.Nodes {
			n.add(&l.Nodes[j], at, dated)
		}
	}
	for _, all := range n.byKey {
		slices.SortFunc(all, compareNodes)
	}
	for _, all := range n.byMachine {
		slices.SortFunc(all, compareNodes)
	}
	for _, all := range n.byName {
		slices.SortFunc(all, compareNodes)
	}
	return n
}

// note records the state of the Node lists that a listing stands for.
func (n *nodes) note(l *infra.Listing) {
	count := map[backup.ClusterID]int{}
	for i := range l.Nodes {
		count[l.Nodes[i].Cluster]++
	}
	for _, id := range l.Clusters {
		list := NodeList{State: l.NodeState, Count: count[id]}
		if l.Fault != nil {
			list.Error = l.Fault.Message
		}
		n.lists[id] = list
	}
}

func (n *nodes) add(one *infra.Node, at time.Time, dated bool) {
	age, reports := at.Sub(one.Heartbeat), one.Ready || one.Unready
	it := &node{one, reports && age < heartbeatAge && age >= -heartbeatAge, one.NoReady || reports && dated && one.Heartbeat.IsZero()}
	for _, k := range one.Keys {
		n.byKey[k] = append(n.byKey[k], it)
	}
	n.of[one.Cluster] = append(n.of[one.Cluster], it)
	if one.Machine == "" {
		name := nodeName{one.Cluster, one.Name}
		n.byName[name] = append(n.byName[name], it)
	} else {
		name := machineName{one.Cluster, one.ClusterNamespace, one.Machine}
		n.byMachine[name] = append(n.byMachine[name], it)
	}
}

func compareNodes(a, b *node) int {
	return cmp.Or(compareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ProviderID, b.ProviderID),
		cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.ClusterName, b.ClusterName), cmp.Compare(a.ClusterNamespace, b.ClusterNamespace),
		cmp.Compare(a.OwnerKind, b.OwnerKind), cmp.Compare(a.OwnerName, b.OwnerName), a.Heartbeat.Compare(b.Heartbeat), compareBool(a.NoReady, b.NoReady),
		compareBool(a.Ready, b.Ready), compareBool(a.Unready, b.Unready), compareBool(a.ControlPlane, b.ControlPlane))
}

// alive returns a living Node that is the machine.
func (n *nodes) alive(c *expectedMachine) *infra.Node {
	return n.ofMachine(c, func(one *node) bool { return one.fresh })
}

// unclear says that a Node which is the machine may be alive, if nothing of the list tells
// whether it is.
func (n *nodes) unclear(c *expectedMachine) string {
	if one := n.ofMachine(c, func(one *node) bool { return one.mute }); one != nil {
		return fmt.Sprintf("the Node list of cluster %s/%s does not say whether Node %s is ready, or since when", c.cluster.Namespace, c.cluster.Name, one.Name)
	}
	return ""
}

// undated names a Node that is the machine and that reports, in a list in which no Node
// says when it did.
func (n *nodes) undated(c *expectedMachine) string {
	one := n.ofMachine(c, func(one *node) bool { return (one.Ready || one.Unready) && one.Heartbeat.IsZero() && !one.mute })
	if one == nil {
		return ""
	}
	return one.Name
}

// ofMachine returns a Node of the machine's own cluster that is the machine: by
// the strong key, by its annotation, or by the name that the machine's Node had when
// the backup was written, whatever its id is now.
func (n *nodes) ofMachine(c *expectedMachine, like func(*node) bool) *infra.Node {
	first := func(all []*node) *infra.Node {
		for _, one := range all {
			if like(one) && one.Cluster == c.cluster {
				return one.Node
			}
		}
		return nil
	}
	if !c.Strong.IsZero() {
		if found := first(n.byKey[c.Strong]); found != nil {
			return found
		}
	}
	if found := first(n.byMachine[machineName{c.cluster, c.namespace, c.name}]); found != nil || c.machine == nil || c.machine.Node == "" {
		return found
	}
	return first(n.byName[nodeName{c.cluster, c.machine.Node}])
}

// condition returns the state of a living Node in words.
func condition(n *infra.Node) string {
	if n.Ready {
		return "ready"
	}
	return "not ready, as only a kubelet that runs does"
}

// on lists the Nodes that run on an instance, by any of its keys.
func (n *nodes) on(v *vm) []*node {
	if len(n.byKey) == 0 {
		return nil
	}
	var out []*node
	for _, k := range v.Keys {
		out = append(out, n.byKey[k]...)
	}
	if len(out) > 1 {
		slices.SortFunc(out, compareNodes)
		out = slices.Compact(out)
	}
	return out
}

// agrees reports whether Cluster API's annotations are there and name the cluster that
// the Node is a member of.
func (n *node) agrees() bool {
	return n.Machine != "" && n.ClusterName == n.Cluster.Name && n.ClusterNamespace == n.Cluster.Namespace
}

package detector

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
)

// heartbeatAge is how old the heartbeat of a Node may be that counts as alive
// (kubelets report every 5 minutes at the latest).
const heartbeatAge = 10 * time.Minute

// nodes are the Nodes of all workload clusters that could be asked.
type nodes struct {
	byKey  map[infra.Key][]*node
	kinds  []infra.KeyKind              // of the keys in byKey
	of     map[backup.ClusterID][]*node // that name a machine, in the order of those
	byName map[nodeName][]*node         // of those that name none
	lists  map[backup.ClusterID]report.Nodes
	// foreign are the lists whose Nodes name another cluster, that is, and none their own.
	foreign map[backup.ClusterID]string
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

func indexNodes(listings []infra.Listing, now time.Time) nodes {
	count := 0
	for i := range listings {
		count += len(listings[i].Nodes)
	}
	n := nodes{
		byKey: make(map[infra.Key][]*node, count), byName: map[nodeName][]*node{},
		of: make(map[backup.ClusterID][]*node, len(listings)), lists: make(map[backup.ClusterID]report.Nodes, len(listings)),
		foreign: map[backup.ClusterID]string{},
	}
	all := make([]node, 0, count)
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
			all = append(all, nodeAt(&l.Nodes[j], at, dated))
			n.add(&all[len(all)-1])
		}
	}
	for _, all := range n.byKey {
		slices.SortFunc(all, compareNodes)
	}
	for _, all := range n.of {
		slices.SortFunc(all, func(a, b *node) int {
			if c := a.compareMachine(b.ClusterNamespace, b.Machine); c != 0 {
				return c
			}
			return compareNodes(a, b)
		})
	}
	for _, all := range n.byName {
		slices.SortFunc(all, compareNodes)
	}
	return n
}

// note records the state of the Node lists that a listing stands for.
func (n *nodes) note(l *infra.Listing) {
	count, own, other := map[backup.ClusterID]int{}, map[backup.ClusterID]bool{}, map[backup.ClusterID]string{}
	for i := range l.Nodes {
		one := &l.Nodes[i]
		id := one.Cluster
		count[id]++
		if one.ClusterName == id.Name && one.ClusterNamespace == id.Namespace {
			own[id] = true
		} else if one.ClusterName != "" {
			other[id] = cmp.Or(other[id], one.ClusterNamespace+"/"+one.ClusterName)
		}
	}
	for _, id := range l.Clusters {
		if delete(n.foreign, id); !own[id] && other[id] != "" {
			n.foreign[id] = other[id]
		}
		list := report.Nodes{State: l.NodeState, Count: count[id]}
		if l.Fault != nil {
			list.Error = l.Fault.Message
		}
		n.lists[id] = list
	}
}

// nodeAt returns a Node that was listed at a time, in a list in which some Node says when it reported.
func nodeAt(one *infra.Node, at time.Time, dated bool) node {
	age, reports := at.Sub(one.Heartbeat), one.Ready || one.Unready
	return node{one, reports && age < heartbeatAge && age >= -heartbeatAge, one.NoReady || reports && dated && one.Heartbeat.IsZero()}
}

func (n *nodes) add(one *node) {
	for _, k := range one.Keys {
		n.byKey[k] = append(n.byKey[k], one)
		if !slices.Contains(n.kinds, k.Kind) {
			n.kinds = append(n.kinds, k.Kind)
		}
	}
	if one.Machine == "" {
		name := nodeName{one.Cluster, one.Name}
		n.byName[name] = append(n.byName[name], one)
	} else {
		n.of[one.Cluster] = append(n.of[one.Cluster], one)
	}
}

// join gives each expected machine the Nodes that name it.
func (n *nodes) join(expected []*expectedMachine) {
	var of []*node
	for i, c := range expected {
		if i == 0 || c.of.Cluster != expected[i-1].of.Cluster {
			of = n.of[c.of.Cluster]
		}
		from, _ := slices.BinarySearchFunc(of, c, func(one *node, c *expectedMachine) int { return one.compareMachine(c.of.Namespace, c.of.Name) })
		to := from
		for to < len(of) && of[to].compareMachine(c.of.Namespace, c.of.Name) == 0 {
			to++
		}
		c.nodes = of[from:to]
	}
}

// compareMachine compares the machine that a Node names.
func (n *node) compareMachine(namespace, name string) int {
	return cmp.Or(cmp.Compare(n.ClusterNamespace, namespace), cmp.Compare(n.Machine, name))
}

func compareNodes(a, b *node) int {
	return cmp.Or(compareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ProviderID, b.ProviderID),
		cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.ClusterName, b.ClusterName), cmp.Compare(a.ClusterNamespace, b.ClusterNamespace),
		cmp.Compare(a.OwnerKind, b.OwnerKind), cmp.Compare(a.OwnerName, b.OwnerName), a.Heartbeat.Compare(b.Heartbeat), compareBool(a.NoReady, b.NoReady),
		compareBool(a.Ready, b.Ready), compareBool(a.Unready, b.Unready), compareBool(a.ControlPlane, b.ControlPlane),
		cmp.Compare(a.Conditions, b.Conditions))
}

// nodeFacts adds what the Nodes say that are the machine, of each the first that says it.
func (ix *index) nodeFacts(c *expectedMachine, f *factsOfMachine) {
	for one := range ix.nodes.ofMachine(c) {
		if one.fresh {
			f.node = cmp.Or(f.node, one.Node)
		}
		if one.mute && f.unclear == "" {
			f.unclear = fmt.Sprintf("the Node list of cluster %s/%s does not say whether Node %s is ready, or since when", c.of.Cluster.Namespace, c.of.Cluster.Name, one.Name)
		}
		if (one.Ready || one.Unready) && one.Heartbeat.IsZero() && !one.mute {
			f.undated = cmp.Or(f.undated, one.Name)
		}
	}
}

// ofMachine returns the Nodes of the machine's own cluster that are the machine: by
// the strong key, by their annotations, or by the name that the machine's Node had when
// the backup was written, whatever its id is now.
func (n *nodes) ofMachine(c *expectedMachine) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		lists := [3][]*node{1: c.nodes}
		if !c.Strong.IsZero() {
			lists[0] = n.byKey[c.Strong]
		}
		if c.machine != nil && c.machine.Node != "" && len(n.byName) > 0 {
			lists[2] = n.byName[nodeName{c.of.Cluster, c.machine.Node}]
		}
		for _, all := range lists {
			for _, one := range all {
				if one.Cluster == c.of.Cluster && !yield(one) {
					return
				}
			}
		}
	}
}

// on lists the Nodes that run on an instance, by any of its keys.
func (n *nodes) on(v *vm) []*node {
	if len(n.byKey) == 0 {
		return nil
	}
	var out []*node
	for _, k := range v.Keys {
		if slices.Contains(n.kinds, k.Kind) {
			out = append(out, n.byKey[k]...)
		}
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

package match

import (
	"cmp"
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
	all    []Node // in order
	byKey  *keyIndex
	kinds  []infra.KeyKind      // of the keys in byKey
	named  []*Node              // that name a machine, by their clusters and in the order of those
	byName map[nodeName][]*Node // of those that name none
	lists  map[backup.ClusterID]report.Nodes
	// foreign are the lists whose Nodes name another cluster, that is, and none their own.
	foreign map[backup.ClusterID]string
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
		all: make([]Node, 0, count), named: make([]*Node, 0, count), byName: map[nodeName][]*Node{},
		lists: make(map[backup.ClusterID]report.Nodes, len(listings)), foreign: map[backup.ClusterID]string{},
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
			n.all = append(n.all, nodeAt(&l.Nodes[j], at, dated))
		}
	}
	slices.SortStableFunc(n.all, func(a, b Node) int { return compareNodes(&a, &b) })
	for i := range n.all {
		n.add(&n.all[i])
	}
	slices.SortStableFunc(n.named, func(a, b *Node) int {
		return cmp.Or(CompareClusters(a.Cluster, b.Cluster), a.compareMachine(b.ClusterNamespace, b.Machine))
	})
	n.byKey = newKeyIndex(func(yield func(int32, infra.Key) bool) {
		for i := range n.all {
			for _, k := range n.all[i].Keys {
				if !yield(int32(i), k) {
					return
				}
			}
		}
	})
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
func nodeAt(one *infra.Node, at time.Time, dated bool) Node {
	age, reports := at.Sub(one.Heartbeat), one.Ready || one.Unready
	return Node{one, reports && age < heartbeatAge && age >= -heartbeatAge, one.NoReady || reports && dated && one.Heartbeat.IsZero()}
}

// add files a Node by what it says of itself.
func (n *nodes) add(one *Node) {
	for _, k := range one.Keys {
		if !slices.Contains(n.kinds, k.Kind) {
			n.kinds = append(n.kinds, k.Kind)
		}
	}
	if one.Machine == "" {
		name := nodeName{one.Cluster, one.Name}
		n.byName[name] = append(n.byName[name], one)
	} else {
		n.named = append(n.named, one)
	}
}

// having yields the Nodes that have a key, in order, none for the zero key.
func (n *nodes) having(k infra.Key) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if k.IsZero() || !slices.Contains(n.kinds, k.Kind) {
			return
		}
		for _, at := range n.byKey.find(k) {
			if one := &n.all[at.number]; slices.Contains(one.Keys, k) && !yield(one) {
				return
			}
		}
	}
}

// of returns the Nodes of a cluster that name a machine, in the order of those.
func (n *nodes) of(id backup.ClusterID) []*Node {
	return equalRange(n.named, func(one *Node) int { return CompareClusters(one.Cluster, id) })
}

// join gives each expected machine the Nodes that name it.
func (n *nodes) join(expected []*Machine) {
	var of []*Node
	for i, c := range expected {
		if i == 0 || c.Of.Cluster != expected[i-1].Of.Cluster {
			of = n.of(c.Of.Cluster)
		}
		from, _ := slices.BinarySearchFunc(of, c, func(one *Node, c *Machine) int { return one.compareMachine(c.Of.Namespace, c.Of.Name) })
		to := from
		for to < len(of) && of[to].compareMachine(c.Of.Namespace, c.Of.Name) == 0 {
			to++
		}
		c.nodes = of[from:to]
	}
}

// ofMachine returns the Nodes of the machine's own cluster that are the machine: by
// the strong key, by their annotations, or by the name that the machine's Node had when
// the backup was written, whatever its id is now.
func (n *nodes) ofMachine(c *Machine) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		is := func(one *Node) bool { return one.Cluster == c.Of.Cluster }
		for one := range n.having(c.Strong) {
			if is(one) && !yield(one) {
				return
			}
		}
		var byName []*Node
		if c.Recorded != nil && c.Recorded.Node != "" && len(n.byName) > 0 {
			byName = n.byName[nodeName{c.Of.Cluster, c.Recorded.Node}]
		}
		for _, all := range [][]*Node{c.nodes, byName} {
			for _, one := range all {
				if is(one) && !yield(one) {
					return
				}
			}
		}
	}
}

// on lists the Nodes that run on an instance, by any of its keys.
func (n *nodes) on(v *VM) []*Node {
	var out []*Node
	for _, k := range v.Keys {
		out = slices.AppendSeq(out, n.having(k))
	}
	if len(out) > 1 {
		slices.SortFunc(out, compareNodes)
		out = slices.Compact(out)
	}
	return out
}

// askedLists holds which clusters' API servers are expected to answer.
type askedLists struct {
	planes map[backup.ClusterID][]*Machine // control-plane machines
	joined map[backup.ClusterID]bool       // a machine had joined when the backup was written, or its status does not say that it had not; known for clusters with machines
	silent map[backup.ClusterID]bool       // answers so far
	ghosts map[backup.ClusterID]bool       // clusters of which a control-plane instance without a machine runs; nil: not looked yet
	last   struct {                        // answer of Index.unlisted: machines of a cluster come one after the other
		known   bool
		id      backup.ClusterID
		why     string
		unasked bool
	}
}

func newAskedLists(all []*Machine, clusters int) askedLists {
	n := askedLists{planes: make(map[backup.ClusterID][]*Machine, clusters), joined: make(map[backup.ClusterID]bool, clusters), silent: map[backup.ClusterID]bool{}}
	for from, to := 0, 0; from < len(all); from = to {
		id := all[from].Of.Cluster
		var planes []*Machine
		machines, joined := false, false
		for to = from; to < len(all) && all[to].Of.Cluster == id; to++ {
			c := all[to]
			if c.isPlane() {
				planes = append(planes, c)
			}
			if m := c.Recorded; m != nil {
				machines, joined = true, joined || m.Node != "" || !beforeJoining[m.Phase]
			}
		}
		if n.planes[id] = planes; machines {
			n.joined[id] = joined
		}
	}
	return n
}

// beforeJoining are the phases of Machines that have no Node yet (Cluster API
// api/core/v1beta2/machine_phase_types.go v1.14.2).
var beforeJoining = map[string]bool{"Pending": true, "Provisioning": true, "Provisioned": true}

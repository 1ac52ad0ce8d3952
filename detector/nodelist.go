package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// This file is the eighth law for Node lists: one that was asked for and not read
// would have contradicted absence, so that nothing is concluded without it.

// nodesUnreachable is the state of a list in which an answer is missing.
const nodesUnreachable = "unreachable"

// askedLists holds which clusters' API servers are expected to answer.
type askedLists struct {
	planes map[backup.ClusterID][]*expectedMachine // control-plane machines
	joined map[backup.ClusterID]bool               // a machine had joined when the backup was written, or its status does not say that it had not; known for clusters with machines
	silent map[backup.ClusterID]bool               // answers so far
	ghosts map[backup.ClusterID]bool               // clusters of which a control-plane instance without a machine runs; nil: not looked yet
}

func (ix *index) newAskedLists() askedLists {
	n := askedLists{map[backup.ClusterID][]*expectedMachine{}, map[backup.ClusterID]bool{}, map[backup.ClusterID]bool{}, nil}
	for from, to := 0, 0; from < len(ix.expected); from = to {
		id := ix.expected[from].of.Cluster
		var planes []*expectedMachine
		machines, joined := false, false
		for to = from; to < len(ix.expected) && ix.expected[to].of.Cluster == id; to++ {
			c := ix.expected[to]
			if c.isPlane() {
				planes = append(planes, c)
			}
			if m := c.machine; m != nil {
				machines, joined = true, joined || m.Node != "" || !beforeJoining[m.Phase]
			}
		}
		if n.planes[id] = planes; machines {
			n.joined[id] = joined
		}
	}
	return n
}

// unlisted returns why a Node list that was asked for was not read, if it might
// contradict absence; empty when the list was read, or when no API server of the
// cluster is expected to answer. unasked is true when nobody asked for the list.
func (ix *index) unlisted(id backup.ClusterID) (why string, unasked bool) {
	list, known := ix.nodes.lists[id]
	switch {
	case !known || list.State == report.NodesSkipped:
		return "", true
	case list.State == report.NodesRead || ix.silent(id):
		return "", false
	}
	return fmt.Sprintf("the Node list of cluster %s/%s was not read: %s", id.Namespace, id.Name, cmp.Or(list.Error, list.State)), false
}

// doubtLists takes Node lists for unread that name no Node at all, or only Nodes of
// another cluster, which took over the address, where a control-plane machine runs that
// had a Node when the backup was written: that Node should be in the list, so that what
// else is missing from it proves nothing.
func (ix *index) doubtLists() {
	for id, list := range ix.nodes.lists {
		says := "names no Node at all"
		if other := ix.nodes.foreign[id]; other != "" {
			says = "is that of cluster " + other
		} else if list.Count > 0 {
			continue
		}
		if list.State != report.NodesRead {
			continue
		}
		for _, c := range ix.asked.planes[id] {
			if c.machine != nil && c.machine.Node != "" && ix.runs(c) {
				list.State, list.Error = nodesUnreachable, fmt.Sprintf("it %s, although the instance of control-plane machine %s runs", says, c.of.Name)
				ix.nodes.lists[id] = list
				break
			}
		}
	}
}

// nodeLists returns the states of the Node lists of clusters.
func (ix *index) nodeLists() map[backup.ClusterID]report.Nodes { return ix.nodes.lists }

// beforeJoining are the phases of Machines that have no Node yet (Cluster API
// api/core/v1beta2/machine_phase_types.go v1.14.2).
var beforeJoining = map[string]bool{"Pending": true, "Provisioning": true, "Provisioned": true}

// silent reports whether it is to be expected that the API server of a cluster does
// not answer: its whole control plane is gone or off, or not one of its machines had
// joined when the backup was written.
func (ix *index) silent(id backup.ClusterID) bool {
	s, known := ix.asked.silent[id]
	if !known {
		joined, machines := ix.asked.joined[id]
		s = machines && !joined || len(ix.asked.planes[id]) > 0 && !ix.mayServe(id)
		ix.asked.silent[id] = s
	}
	return s
}

// mayServe reports whether a control-plane machine of a cluster may run: one of the
// backup, one that the backup lacks, or one that was made since.
func (ix *index) mayServe(id backup.ClusterID) bool {
	recorded := int64(0)
	for _, c := range ix.asked.planes[id] {
		if ix.mayRun(c) {
			return true
		}
		if c.machine != nil {
			recorded++
		}
	}
	for _, p := range ix.owners.planes[id] {
		if ix.owners.machineless(p.Kind) || p.Replicas.Known && p.Replicas.N > recorded {
			return true
		}
	}
	for i := range ix.hints.locations[id] {
		if l := &ix.scopes.listings[i]; !isNodeList(l) && l.State != code.ScopeComplete {
			return true
		}
	}
	if ix.asked.ghosts == nil {
		ix.asked.ghosts = ix.servingGhosts()
	}
	return ix.asked.ghosts[id]
}

// runs reports whether the instance that a machine of the backup recorded runs.
func (ix *index) runs(c *expectedMachine) bool {
	return slices.ContainsFunc(c.byID, runs)
}

// mayRun reports whether a machine of the backup is known to run, or not known to
// be gone.
func (ix *index) mayRun(c *expectedMachine) bool {
	keys := append([]infra.Key{c.Strong, c.Identity}, c.Doubted...)
	if c.Strong.IsZero() {
		keys = append(keys, c.Weak...)
	}
	if ix.byKey.has(func(v *vm) bool { return runs(v) || v.Unreadable }, append(keys, c.Witness...)...) {
		return true
	}
	return c.Provider == "" || !c.home.complete || len(ix.unread(c)) > 0
}

// servingGhosts returns the clusters of which a control-plane instance that no machine
// records runs.
func (ix *index) servingGhosts() map[backup.ClusterID]bool {
	out, seen := map[backup.ClusterID]bool{}, map[*link]bool{}
	for i := range ix.vms {
		v := &ix.vms[i]
		if v.byStrong.first != nil || !v.Runs() {
			continue
		}
		l := ix.clusterLinks(v)
		own, common := l.names.mostSpecific()
		for _, all := range [][]link{l.strong, l.medium, own, common} {
			if len(all) > 0 && seen[&all[0]] {
				continue // of an instance like it, see gradeHints
			} else if len(all) > many {
				seen[&all[0]] = true
			}
			for _, b := range all {
				if b.controlPlane && ix.hints.isInLocation(b.cluster(), v) {
					out[b.cluster()] = true
				}
			}
		}
	}
	return out
}

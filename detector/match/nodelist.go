package match

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

// unlisted returns why a Node list that was asked for was not read, if it might
// contradict absence; empty when the list was read, or when no API server of the
// cluster is expected to answer. unasked is true when nobody asked for the list.
func (ix *Index) unlisted(id backup.ClusterID) (why string, unasked bool) {
	last := &ix.asked.last
	if last.known && last.id == id {
		return last.why, last.unasked
	}
	list, known := ix.nodes.lists[id]
	last.known, last.id, last.why, last.unasked = true, id, "", !known || list.State == report.NodesSkipped
	if !last.unasked && list.State != report.NodesRead && !ix.silent(id) {
		last.why = fmt.Sprintf("the Node list of cluster %s/%s was not read: %s", id.Namespace, id.Name, cmp.Or(list.Error, list.State))
	}
	return last.why, last.unasked
}

// doubtLists takes Node lists for unread that name no Node at all, or only Nodes of
// another cluster, which took over the address, where a control-plane machine runs that
// had a Node when the backup was written: that Node should be in the list, so that what
// else is missing from it proves nothing.
func (ix *Index) doubtLists() {
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
			if c.Recorded != nil && c.Recorded.Node != "" && ix.runs(c) {
				list.State, list.Error = nodesUnreachable, fmt.Sprintf("it %s, although the instance of control-plane machine %s runs", says, c.Of.Name)
				ix.nodes.lists[id] = list
				break
			}
		}
	}
}

// NodeLists returns the states of the Node lists of clusters.
func (ix *Index) NodeLists() map[backup.ClusterID]report.Nodes { return ix.nodes.lists }

// silent reports whether it is to be expected that the API server of a cluster does
// not answer: its whole control plane is gone or off, or not one of its machines had
// joined when the backup was written.
func (ix *Index) silent(id backup.ClusterID) bool {
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
func (ix *Index) mayServe(id backup.ClusterID) bool {
	recorded := int64(0)
	for _, c := range ix.asked.planes[id] {
		if ix.mayRun(c) {
			return true
		}
		if c.Recorded != nil {
			recorded++
		}
	}
	for _, p := range ix.Owners.planes[id] {
		if ix.Owners.Machineless(p.Kind) || p.Replicas.Known && p.Replicas.N > recorded {
			return true
		}
	}
	for _, i := range ix.hints.locations[id] {
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
func (ix *Index) runs(c *Machine) bool {
	return slices.ContainsFunc(c.byID, runs)
}

// mayRun reports whether a machine of the backup is known to run, or not known to
// be gone.
func (ix *Index) mayRun(c *Machine) bool {
	keys := append([]infra.Key{c.Strong, c.Identity}, c.Doubted...)
	if c.Strong.IsZero() {
		keys = append(keys, c.Weak...)
	}
	if ix.byKey.has(func(v *VM) bool { return runs(v) || v.Unreadable }, append(keys, c.Witness...)...) {
		return true
	}
	return c.Provider == "" || !c.home.Complete || len(ix.unread(c)) > 0
}

// servingGhosts returns the clusters of which a control-plane instance that no machine
// records runs.
func (ix *Index) servingGhosts() map[backup.ClusterID]bool {
	out, seen := map[backup.ClusterID]bool{}, map[*Link]bool{}
	for i := range ix.vms {
		v := &ix.vms[i]
		if v.byStrong.any() || !v.Runs() {
			continue
		}
		l := ix.linksOf(v)
		own, common := l.names.mostSpecific()
		for _, all := range [][]Link{l.Strong, l.Medium, own, common} {
			if len(all) > 0 && seen[&all[0]] {
				continue // of an instance like it, see gradeHints
			} else if len(all) > Many {
				seen[&all[0]] = true
			}
			for _, b := range all {
				if b.ControlPlane && ix.hints.isInLocation(b.Cluster(), v) {
					out[b.Cluster()] = true
				}
			}
		}
	}
	return out
}

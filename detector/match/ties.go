package match

import (
	"cmp"
	"slices"

	"drift-detector/infra"
)

// linksOf returns what ties an instance to clusters. They are found once, and must not be
// changed.
func (ix *Index) linksOf(v *VM) *Links {
	if v.links == nil {
		found := ix.findLinks(v)
		v.links = &found
	}
	return v.links
}

func (ix *Index) findLinks(v *VM) Links {
	strong, medium := ix.hints.tied(infra.Strong, v), ix.hints.tied(infra.Medium, v)
	location, names := ix.hints.tied(infra.LocationOnly, v), ix.hints.tied(infra.NameOnly, v)
	f := Links{Medium: medium.join(), Location: location.join(), names: names}
	var joined []Link
	for _, n := range ix.nodes.on(v) {
		// Whoever administers a workload cluster can make a Node that names any VM.
		// It counts for instances that are placed or named like the cluster's machines.
		isRelated := strong.to(n.Cluster) || medium.to(n.Cluster) || location.to(n.Cluster) || names.to(n.Cluster)
		if n.Agrees() && isRelated {
			joined = append(joined, linkOfNode(n))
		} else {
			f.Foreign, f.ForeignCluster = append(f.Foreign, n), cmp.Or(f.ForeignCluster, ix.outside(n))
		}
	}
	switch {
	case v.Unreadable: // it may have ended: its own marks do not prove that it runs
		f.Medium = strongest(slices.Concat(strong.join(), f.Medium))
		f.Strong = strongest(joined)
	case len(joined) > 0:
		f.Strong = strongest(joined)
	default:
		f.Strong = strong.join()
	}
	return f
}

// outside names the cluster of a Node's annotations when the backup lacks it: an
// endpoint that another cluster took over.
func (ix *Index) outside(n *Node) string {
	if ix.inBackup == nil {
		ix.inBackup = map[[2]string]bool{}
		for i := range ix.snap.Clusters {
			c := &ix.snap.Clusters[i].Meta
			ix.inBackup[[2]string{c.Namespace, c.Name}] = true
		}
	}
	if n.ClusterName == "" || ix.inBackup[[2]string{n.ClusterNamespace, n.ClusterName}] {
		return ""
	}
	return n.ClusterNamespace + "/" + n.ClusterName
}

// findShared finds the keys of the kinds that hints ask for on the living instances of
// recorded machines.
func (ix *Index) findShared(hints []infra.OwnershipHint) {
	kinds := map[infra.KeyKind]bool{}
	for i := range hints {
		if kind := hints[i].Shares; !kind.IsZero() {
			kinds[kind] = true
		}
	}
	if len(kinds) == 0 {
		return
	}
	ix.hints.shared = map[clusterKey]bool{}
	for _, c := range ix.Machines {
		for _, v := range keep(c.byID, func(v *VM) bool { return alive(v) && ix.atHome(c, v) }) {
			for _, k := range v.Keys {
				if kinds[k.Kind] {
					ix.hints.shared[clusterKey{c.Of.Cluster, k}] = true
				}
			}
		}
	}
}

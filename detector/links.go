package detector

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// clusterLinks are what ties an instance to clusters.
type clusterLinks struct {
	strong   []link // the most specific of the grade, of one or several clusters
	medium   []link
	location []link
	names    *tied   // by a name alone
	foreign  []*node // Nodes on it that alone tie it to no cluster
	// foreignCluster is the cluster outside the backup that the Node names.
	foreignCluster string
}

// clusterLinks returns what ties an instance to clusters. They are found once, and must not be
// changed.
func (ix *index) clusterLinks(v *vm) *clusterLinks {
	if v.clusterLinks == nil {
		found := ix.findLinks(v)
		v.clusterLinks = &found
	}
	return v.clusterLinks
}

func (ix *index) findLinks(v *vm) clusterLinks {
	strong, medium := ix.hints.tied(infra.Strong, v), ix.hints.tied(infra.Medium, v)
	location, names := ix.hints.tied(infra.LocationOnly, v), ix.hints.tied(infra.NameOnly, v)
	f := clusterLinks{medium: medium.join(), location: location.join(), names: names}
	var joined []link
	for _, n := range ix.nodes.on(v) {
		// Whoever administers a workload cluster can make a Node that names any VM.
		// It counts for instances that are placed or named like the cluster's machines.
		isRelated := strong.to(n.Cluster) || medium.to(n.Cluster) || location.to(n.Cluster) || names.to(n.Cluster)
		if n.agrees() && isRelated {
			joined = append(joined, linkOfNode(n))
		} else {
			f.foreign, f.foreignCluster = append(f.foreign, n), cmp.Or(f.foreignCluster, ix.outside(n))
		}
	}
	switch {
	case v.Unreadable: // it may have ended: its own marks do not prove that it runs
		f.medium = strongest(slices.Concat(strong.join(), f.medium))
		f.strong = strongest(joined)
	case len(joined) > 0:
		f.strong = strongest(joined)
	default:
		f.strong = strong.join()
	}
	return f
}

// named reports whether the instance has a name of a cluster, wherever it is.
func (l *clusterLinks) named() bool { return l.names.found() }

// byName returns what its name ties the instance to. It must not be changed.
func (l *clusterLinks) byName() []link { return l.names.join() }

// clusters returns the clusters that the instance is tied to by more than its place.
func (l *clusterLinks) clusters() []backup.ClusterID {
	return slices.Concat(clustersOf(l.strong), clustersOf(l.medium), l.foreignTo())
}

// outside names the cluster of a Node's annotations when the backup lacks it: an
// endpoint that another cluster took over.
func (ix *index) outside(n *node) string {
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

// foreignTo returns the clusters whose Nodes run on the instance although Cluster
// API did not make them.
func (f *clusterLinks) foreignTo() []backup.ClusterID {
	ids := make([]backup.ClusterID, len(f.foreign))
	for i := range f.foreign {
		ids[i] = f.foreign[i].Cluster
	}
	return ids
}

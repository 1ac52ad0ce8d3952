package detector

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// leads are what ties an instance to clusters.
type leads struct {
	strong   []bond // the most specific of the grade, of one or several clusters
	medium   []bond
	location []bond
	named    []bond
	foreign  []*node // Nodes on it that alone tie it to no cluster
	// foreignCluster is the cluster outside the backup that the Node names.
	foreignCluster string
}

// leads are what ties an instance to clusters. They are found once, and must not be
// changed.
func (ix *index) leads(v *vm) *leads {
	if v.leads == nil {
		found := ix.findLeads(v)
		v.leads = &found
	}
	return v.leads
}

func (ix *index) findLeads(v *vm) leads {
	strong, medium := ix.hints.tied(infra.Strong, v), ix.hints.tied(infra.Medium, v)
	location, named := ix.hints.tied(infra.LocationOnly, v), ix.hints.tied(infra.NameOnly, v)
	f := leads{medium: medium.bonds, location: location.bonds, named: named.bonds}
	var joined []bond
	for _, n := range ix.nodes.on(v) {
		// Whoever administers a workload cluster can make a Node that names any VM.
		// It counts for instances that are placed or named like the cluster's machines.
		isRelated := strong.to(n.Cluster) || medium.to(n.Cluster) || location.to(n.Cluster) || named.to(n.Cluster)
		if n.agrees() && isRelated {
			joined = append(joined, bondOfNode(n))
		} else {
			f.foreign, f.foreignCluster = append(f.foreign, n), cmp.Or(f.foreignCluster, ix.outside(n))
		}
	}
	if v.Unreadable { // it may have ended: its own marks do not prove that it runs
		f.medium = strongest(slices.Concat(strong.bonds, medium.bonds))
		f.strong = strongest(joined)
	} else {
		f.strong = strongest(slices.Concat(joined, strong.bonds))
	}
	return f
}

// clusters returns the clusters that the instance is tied to by more than its place.
func (l *leads) clusters() []backup.ClusterID {
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

func (f *leads) foreignEvidence() []Evidence {
	if len(f.foreign) == 0 {
		return nil
	}
	return []Evidence{{"node", "Node " + f.foreign[0].Name + " has its provider id", StrengthStrong}}
}

// foreignTo are the clusters whose Nodes run on the instance although Cluster
// API did not make them.
func (f *leads) foreignTo() []backup.ClusterID {
	ids := make([]backup.ClusterID, len(f.foreign))
	for i := range f.foreign {
		ids[i] = f.foreign[i].Cluster
	}
	return ids
}

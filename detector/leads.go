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

// leads gathers what ties an instance to clusters.
func (ix *index) leads(v *vm) leads {
	var f leads
	var strong, medium, location, named []bond
	hints := ix.hints.fitting(v)
	for _, n := range ix.nodes.on(v) {
		// Whoever administers a workload cluster can make a Node that names any VM.
		// It counts for instances that are placed or named like the cluster's machines.
		isRelated := slices.ContainsFunc(hints, func(t *infra.OwnershipHint) bool { return t.Cluster == n.Cluster })
		if n.agrees() && isRelated {
			strong = append(strong, bondOfNode(n))
		} else {
			f.foreign, f.foreignCluster = append(f.foreign, n), cmp.Or(f.foreignCluster, ix.outside(n))
		}
	}
	for _, t := range hints {
		switch b := bondOfHint(t); t.Grade {
		case infra.Strong:
			if v.Unreadable { // it may have ended: its own marks do not prove that it runs
				medium = append(medium, b)
			} else {
				strong = append(strong, b)
			}
		case infra.Medium:
			medium = append(medium, b)
		case infra.LocationOnly:
			b.specificity = 0 // a place suggests, it does not compete
			location = append(location, b)
		case infra.NameOnly:
			named = append(named, b)
		}
	}
	f.strong, f.medium, f.location, f.named = strongest(strong), strongest(medium), strongest(location), strongest(named)
	return f
}

// clusters returns the clusters that the instance is tied to by more than its place.
func (l *leads) clusters() []backup.ClusterID {
	return slices.Concat(clustersOf(l.strong), clustersOf(l.medium), l.foreignTo())
}

// outside names the cluster of a Node's annotations when the backup lacks it: an
// endpoint that another cluster took over.
func (ix *index) outside(n *node) string {
	known := slices.ContainsFunc(ix.snap.Clusters, func(c backup.Cluster) bool {
		return c.Namespace == n.ClusterNamespace && c.Meta.Name == n.ClusterName
	})
	if known || n.ClusterName == "" {
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

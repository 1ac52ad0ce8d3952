package report

import (
	"slices"
	"strings"
	"time"
)

// What tells a new management cluster from the clusters of a report, and from a management cluster
// of others that lives: its Nodes are of no machine of the report, and before the restore it holds
// no Cluster.

// A Machine's Node says of which Cluster it is (ClusterNameAnnotation and
// ClusterNamespaceAnnotation in Cluster API api/core/v1beta2/common_types.go v1.13.6).
const (
	nodeCluster   = "cluster.x-k8s.io/cluster-name"
	nodeNamespace = "cluster.x-k8s.io/cluster-namespace"
)

// SeenNode is what is read of a Node.
type SeenNode struct {
	Name, ProviderID string
	Annotations      map[string]string
}

// Cluster returns of which Cluster it says to be, empty where it says nothing.
func (n *SeenNode) Cluster() string {
	if n.Annotations[nodeCluster] == "" {
		return ""
	}
	return n.Annotations[nodeNamespace] + "/" + n.Annotations[nodeCluster]
}

// ClusterOf returns of which cluster of the report some Nodes are, and by what that shows; empty
// where they are of none. An id in another place may be the same by chance, which is no way to
// begin a restore either. The name of a Node counts where it has no id. What a Node says of its
// Cluster does not count of the management cluster itself: a new one may have its name.
func (r *Report) ClusterOf(nodes []SeenNode) (cluster, why string) {
	ids, names, clusters := map[string]string{}, map[string]string{}, map[string]bool{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		clusters[c.Title()] = !c.Self
		for _, s := range c.Sets() {
			for k := range s.Machines {
				m := &s.Machines[k]
				if m.Node != "" {
					names[m.Node] = c.Title()
				}
				ids[InstanceID(m.ProviderID)] = c.Title()
				if m.Instance != nil {
					ids[strings.ToLower(m.Instance.ID)] = c.Title()
				}
				for j := range m.Others {
					ids[strings.ToLower(m.Others[j].ID)] = c.Title()
				}
			}
		}
	}
	delete(ids, "")
	for i := range nodes {
		n := &nodes[i]
		said := n.Cluster()
		switch {
		case ids[InstanceID(n.ProviderID)] != "":
			return ids[InstanceID(n.ProviderID)], "Node " + n.Name + " is on its machine " + InstanceID(n.ProviderID)
		case n.ProviderID == "" && names[n.Name] != "":
			return names[n.Name], "Node " + n.Name + " has the name of its Node"
		case clusters[said]:
			return said, "Node " + n.Name + " says so"
		}
	}
	return "", ""
}

// InstanceID returns the id of an instance in a provider id: its last part, but in Azure, where ids are
// paths whose last part is a mere name.
func InstanceID(providerID string) string {
	id := strings.ToLower(providerID)
	if i := strings.Index(id, "/subscriptions/"); i >= 0 {
		return id[i:]
	}
	return id[strings.LastIndexByte(id, '/')+1:]
}

// HeldCluster is what is read of a Cluster of a management cluster.
type HeldCluster struct {
	Title   string
	Paused  bool
	Restore string // of Velero, which made it
	Created time.Time
}

// Held sorts the Clusters that a management cluster holds: those of the report, and others. Left
// out is what a restore has made before the next one, where the report is of several backups.
func (r *Report) Held(all []HeldCluster) (ours, others []string) {
	for i := range all {
		h := &all[i]
		switch {
		case !slices.ContainsFunc(r.Clusters, func(c Cluster) bool { return c.Title() == h.Title }):
			others = append(others, h.Title)
		case !r.isOfEarlierRestore(h):
			ours = append(ours, h.Title)
		}
	}
	return ours, others
}

// Before returns those of the report that no restore of its backup has made: they were created
// before it was written, as in a management cluster that lives, whose Clusters have these names; or
// do not say when. A report of several backups says of each cluster which it is of.
func (r *Report) Before(all []HeldCluster) (titles []string) {
	for i := range all {
		h := &all[i]
		ours := slices.IndexFunc(r.Clusters, func(c Cluster) bool { return c.Title() == h.Title })
		if ours < 0 {
			continue
		}
		if at := r.Clusters[ours].Backup; at >= 0 && at < len(r.Backups) && !h.Created.After(r.Backups[at].WrittenTo) {
			titles = append(titles, h.Title)
		}
	}
	return titles
}

// isOfEarlierRestore reports whether the restore of another backup of the report has made it.
// Velero labels all that it restores (pkg/restore/restore.go v1.18.3); the old one, which may have
// the label, too, is older than the backup.
func (r *Report) isOfEarlierRestore(h *HeldCluster) bool {
	return len(r.Backups) > 1 && h.Paused && h.Restore != "" &&
		!slices.ContainsFunc(r.Backups, func(b Backup) bool { return !h.Created.After(b.WrittenTo) })
}

package backup

import "drift-detector/backup/naming"

// ControlPlanesByCluster returns the Snapshot's control planes, those of a cluster in
// the Snapshot's order. They are the Snapshot's own values, not copies.
func (s *Snapshot) ControlPlanesByCluster() ControlPlanes {
	all := make(ControlPlanes, len(s.ControlPlanes))
	for i := range s.ControlPlanes {
		c := &s.ControlPlanes[i]
		all[c.Cluster] = append(all[c.Cluster], c)
	}
	return all
}

// Named returns the control plane of a cluster that a machine says it belongs to. label
// is the value of cluster.x-k8s.io/control-plane-name, or the name in an ownerReference;
// kind is empty where only a label is known. What names none of the cluster's control
// planes, as nothing at all does, means the only one; where there are several it means
// none of them, and Named returns nil.
func (p ControlPlanes) Named(cluster ClusterID, kind, label string) *ControlPlane {
	all := p[cluster]
	if len(all) == 1 {
		return all[0]
	}
	for _, c := range all {
		if (kind == "" || c.Kind == kind) && naming.Means(label, c.Name) {
			return c
		}
	}
	return nil
}

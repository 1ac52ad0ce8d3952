package backup

import "strings"

// Origin is what tells of which management cluster a backup is.
type Origin struct {
	KubeSystemUID string
	Namespaces    []string // of its clusters, in order

	uids      map[string]bool   // of what the API server of the management cluster made
	endpoints map[string]string // of clusters, by namespace/name; empty where it is not known
}

// Origin returns of which management cluster a backup of the Snapshot is.
func (s *Snapshot) Origin(backup int) *Origin {
	o := &Origin{KubeSystemUID: s.Backups[backup].KubeSystemUID, uids: map[string]bool{}, endpoints: map[string]string{}}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if c.Backup != backup {
			continue
		}
		o.uids[c.UID] = true
		o.endpoints[c.Namespace+"/"+c.Name] = strings.ToLower(c.Endpoint)
		if n := len(o.Namespaces); n == 0 || o.Namespaces[n-1] != c.Namespace {
			o.Namespaces = append(o.Namespaces, c.Namespace)
		}
	}
	for i := range s.ControlPlanes { // a cluster without a Cluster object has these
		if k := &s.ControlPlanes[i]; k.Backup == backup {
			o.uids[k.UID] = true
		}
	}
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Backup == backup && g.Kind == "MachineDeployment" {
			o.uids[g.UID] = true
		}
	}
	delete(o.uids, "")
	return o
}

// Has reports whether the backup has a cluster of that namespace/name.
func (o *Origin) Has(name string) bool {
	_, has := o.endpoints[name]
	return has
}

// UIDs returns those of Clusters, control planes and MachineDeployments.
func (o *Origin) UIDs() map[string]bool { return o.uids }

// shares reports whether one object is in both. An API server gives each object a uid of its
// own, and Velero and clusterctl move make objects anew: both are of one management cluster.
func (o *Origin) shares(other *Origin) bool {
	for uid := range o.uids {
		if other.uids[uid] {
			return true
		}
	}
	return false
}

// A Relation is what two backups are to each other.
type Relation int

// The relations.
const (
	Unclear Relation = iota // nothing in them says whether they are of one management cluster
	Same                    // they are of one management cluster
	Another                 // they are of two that have nothing in common
	// Moved are those of two management clusters that have a cluster in common: it was moved from
	// one to the other, or one was made again from a backup of the other.
	Moved
)

// Relation returns what a backup is to another one. The uid of Namespace kube-system decides, and
// without it a uid that both have. A cluster of the same name is another one where both say by
// which endpoint it is reached, and not the same: that of a Cluster never changes.
func (o *Origin) Relation(other *Origin) Relation {
	known := o.KubeSystemUID != "" && other.KubeSystemUID != ""
	switch {
	case known && o.KubeSystemUID == other.KubeSystemUID, !known && o.shares(other):
		return Same
	case !known:
		return Unclear
	}
	for name, at := range o.endpoints {
		if there, has := other.endpoints[name]; has && (at == "" || there == "" || at == there) {
			return Moved
		}
	}
	return Another
}

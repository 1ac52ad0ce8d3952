package backups

// ManagementCluster is one of several whose backups are in one place.
type ManagementCluster struct {
	KubeSystemUID string   `json:"kubeSystemUID,omitempty"` // empty for the backups that do not say it
	Backups       []string `json:"backups"`                 // their names, the newest first
	Choice
}

const noKubeSystem = "without Namespace kube-system nothing says which management cluster they are from"

// managementClusters sorts backups by the management cluster that they are of, and chooses
// one of each. It returns nothing where they are not known to be of several.
func managementClusters(compared []*Compared) []ManagementCluster {
	of, known := map[string][]*Compared{}, 0
	var uids []string
	for _, b := range compared {
		if b.Error != "" || b.Empty {
			continue
		}
		if of[b.KubeSystemUID] == nil {
			uids = append(uids, b.KubeSystemUID)
			known += min(len(b.KubeSystemUID), 1)
		}
		of[b.KubeSystemUID] = append(of[b.KubeSystemUID], b)
	}
	if known < 2 {
		return nil
	}
	var out []ManagementCluster
	for _, uid := range uids {
		m := ManagementCluster{KubeSystemUID: uid, Choice: Choice{Why: noKubeSystem, Clusters: []ClusterChoice{}}}
		if uid != "" {
			m.Choice = choose(of[uid])
		}
		for _, b := range of[uid] {
			m.Backups = append(m.Backups, b.Name)
		}
		out = append(out, m)
	}
	return out
}

package vsphere

import (
	"cmp"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// proofs says what a listing must show before absence may be concluded from it:
// the folders that the cluster's VSphereVMs name. A datacenter's own VM folder
// is in every vCenter, so clusters that use nothing else need one of their VMs.
func (e *estate) proofs(claims []infra.Claim) []infra.Proof {
	type scope struct {
		cluster backup.ClusterID
		target  string
	}
	type marks struct{ folders, strong map[infra.Key]bool }
	of := map[scope]*marks{}
	for i := range e.members {
		m := &e.members[i]
		s := scope{m.cluster, m.target}
		if of[s] == nil {
			of[s] = &marks{map[infra.Key]bool{}, map[infra.Key]bool{}}
		}
		if m.vm != nil && !m.at.Root {
			of[s].folders[m.at.folderKey()] = true
		}
		if k := claims[i].Strong; k != (infra.Key{}) {
			of[s].strong[k] = true
		}
	}
	var proofs []infra.Proof
	for s, m := range of {
		p := infra.Proof{Cluster: s.cluster, Target: s.target}
		if len(m.folders) > 0 {
			p.All = sortedKeys(m.folders)
			p.Hint = "give the account read access to the folders of the cluster's VMs, or check that this is the vCenter that the backup means"
		} else {
			p.Any = sortedKeys(m.strong)
			p.Hint = "the cluster's VMs are in no folder of their own and not one of them was seen: check that this is the vCenter that the backup means and that the account may read its VMs"
		}
		proofs = append(proofs, p)
	}
	slices.SortFunc(proofs, func(a, b infra.Proof) int {
		return cmp.Or(compareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Target, b.Target))
	})
	return proofs
}

func sortedKeys(set map[infra.Key]bool) []infra.Key {
	return slices.SortedFunc(maps.Keys(set), func(a, b infra.Key) int { return cmp.Compare(a.Value, b.Value) })
}

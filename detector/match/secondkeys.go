package match

import "drift-detector/backup"

// secondKeys counts how often the second keys of machines that were found by their
// recorded id are those that the backup says. A management cluster that was moved
// has given its VSphereVMs new uids, and a vCenter that was built again its VMs new
// managed object ids: a key that nothing confirms any more says nothing.
type secondKeys struct {
	clusters map[backup.ClusterID]*secondCount
	targets  map[string]*secondCount
}

type secondCount struct{ identity, ref, refOther int }

func countSecondKeys(all []*Machine) *secondKeys {
	s := &secondKeys{map[backup.ClusterID]*secondCount{}, map[string]*secondCount{}}
	for _, c := range all {
		for _, v := range c.byID {
			identity, ref, refOther := v.Has(c.Identity), v.Has(c.Ref), v.HasOther(c.Ref)
			for _, n := range [...]*secondCount{at(s.clusters, c.Of.Cluster), at(s.targets, c.Home.Target)} {
				n.identity += one(identity)
				n.ref += one(ref)
				n.refOther += one(refOther)
			}
		}
	}
	return s
}

// at returns the count of a place, a new one where there is none.
func at[K comparable](counts map[K]*secondCount, where K) *secondCount {
	n := counts[where]
	if n == nil {
		n = &secondCount{}
		counts[where] = n
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

package capi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/internal/sorting"
)

// WhyClusterScoped is why a default backup lacks what is cluster-scoped
// (Velero pkg/util/collections/includes_excludes.go v1.18.1).
const WhyClusterScoped = "Velero leaves cluster-scoped objects out unless --include-cluster-resources=true; "

// WhyHalted is why clusters are not reconciled without the identity that they name.
const WhyHalted = WhyClusterScoped + "after a restore its clusters are not reconciled until it is created again"

// Missing gathers the objects that others refer to and that the backup lacks. The zero
// Missing is empty and ready for use.
type Missing struct {
	referrers map[missing][]string
	clusters  map[missing]map[backup.ClusterID]bool
}

type missing struct {
	kind string
	at   Object
}

// Refer notes that a backup lacks an object that referrer, "Kind name", names.
func (m *Missing) Refer(kind string, at Object, referrer string) {
	if m.referrers == nil {
		m.referrers = map[missing][]string{}
	}
	k := missing{kind, at}
	m.referrers[k] = append(m.referrers[k], referrer)
}

// Concern notes clusters that an object matters to. It says nothing of whether the
// backup lacks the object.
func (m *Missing) Concern(kind string, at Object, clusters ...backup.ClusterID) {
	if m.clusters == nil {
		m.clusters = map[missing]map[backup.ClusterID]bool{}
	}
	k := missing{kind, at}
	if m.clusters[k] == nil {
		m.clusters[k] = map[backup.ClusterID]bool{}
	}
	for _, id := range clusters {
		m.clusters[k][id] = true
	}
}

// List returns each missing object once, ordered by backup, kind and name, with the
// first of its referrers and the clusters that it concerns. The rest is the caller's.
func (m *Missing) List() []backup.Absence {
	var list []backup.Absence
	for k, from := range m.referrers {
		by := from[0]
		if n := len(from) - 1; n > 0 {
			by += fmt.Sprintf(" and %d more", n)
		}
		list = append(list, backup.Absence{
			Backup: k.at.Backup, Kind: k.kind, Namespace: k.at.Namespace, Name: k.at.Name, ReferredBy: by,
			Clusters: slices.SortedFunc(maps.Keys(m.clusters[k]), CompareClusters),
		})
	}
	sorting.By(list, func(a, b backup.Absence) int {
		return cmp.Or(cmp.Compare(a.Backup, b.Backup), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// SortReferrers orders the referrers of each object by name, for a caller that notes
// them in no order of its own.
func (m *Missing) SortReferrers() {
	for _, from := range m.referrers {
		slices.Sort(from)
	}
}

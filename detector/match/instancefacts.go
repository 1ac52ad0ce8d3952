package match

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
)

// InstanceFacts are what decides about an instance without a machine.
type InstanceFacts struct {
	VM *VM
	*Links
	Duplicate    *VM                // another living instance with its id, or with that of a Node on it
	Suspects     []backup.ClusterID // where the instances of that id are tied to
	Contradicted bool               // more names than ids show that the server is not the one of the backup
	ForeignTag   string             // the cluster outside the backup that its tags name as owner

	index *Index // of what is only looked for where a row asks for it
}

// InstanceFacts collects everything that decides about an instance without a machine.
func (ix *Index) InstanceFacts(v *VM) InstanceFacts {
	f := InstanceFacts{VM: v, Links: ix.linksOf(v), ForeignTag: ix.foreignTag(v), index: ix}
	f.Contradicted = slices.ContainsFunc(v.seen, func(i int32) bool { return ix.ids[i].isContradicted() })
	f.Duplicate, f.Suspects = ix.findDuplicate(v)
	return f
}

// foreignTag returns the cluster outside the backup that an instance's tags name as its owner.
func (ix *Index) foreignTag(v *VM) (cluster string) {
	for _, k := range v.Keys {
		if k.Kind == infra.OwnerTag && !ix.ownTags[k] {
			cluster = k.Value
		}
	}
	return cluster
}

// Unlisted returns why the Node list of a cluster was not read, which may contradict.
func (f *InstanceFacts) Unlisted(id backup.ClusterID) string {
	why, _ := f.index.unlisted(id)
	return why
}

// Unproven reports whether no id shows that the place is where the machines are.
func (f *InstanceFacts) Unproven(all []Link) bool {
	return !slices.ContainsFunc(all, func(b Link) bool { return f.index.provenFor(b.Cluster(), f.VM) })
}

// HavePlaces reports whether the machines of any of the clusters have a place of their own.
func (f *InstanceFacts) HavePlaces(ids []backup.ClusterID) bool {
	return slices.ContainsFunc(ids, func(id backup.ClusterID) bool { return f.index.placed[id] })
}

// Linked returns the clusters of links. Many that several instances share, see
// gradeHints, are gone through once. They must not be changed.
func (f *InstanceFacts) Linked(all []Link) LinkedClusters {
	ix := f.index
	if len(all) == 0 {
		return LinkedClusters{}
	}
	if known, ok := ix.sharedLists.linked[&all[0]]; ok {
		return known
	}
	of := LinkedClusters{Clusters: ClustersOf(all)}
	of.Unlisted = slices.DeleteFunc(slices.Clone(of.Clusters), func(id backup.ClusterID) bool {
		why, _ := ix.unlisted(id)
		return why == ""
	})
	for i, id := range of.Clusters {
		if at := ix.dated(id); i == 0 || at.Before(of.written) {
			of.written = at
		}
	}
	of.listed = !slices.ContainsFunc(of.Clusters, func(id backup.ClusterID) bool { return ix.nodes.lists[id].State != report.NodesRead })
	if len(all) > Many {
		ix.sharedLists.linked[&all[0]] = of
	}
	return of
}

package detector

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// factsOfInstance are what decides about an instance without a machine.
type factsOfInstance struct {
	vm *vm
	*clusterLinks
	index     *index             // of what is only looked for where a row asks for it
	duplicate *vm                // another living instance with its id, or with that of a Node on it
	suspects  []backup.ClusterID // where the instances of that id are tied to
	// contradicted is true when more names than ids show that the server is not the one
	// of the backup.
	contradicted bool
	// foreignTag is the cluster outside the backup that its tags name as owner.
	foreignTag string
}

// instanceFacts collects everything that decides about an instance without a machine, and
// is used for the next one again.
func (ix *index) instanceFacts(v *vm) *factsOfInstance {
	f := &ix.other
	*f = factsOfInstance{vm: v, clusterLinks: ix.clusterLinks(v), foreignTag: ix.foreignTag(v), index: ix}
	f.contradicted = slices.ContainsFunc(v.seen, func(i int32) bool { return ix.ids[i].isContradicted() })
	ix.findDuplicate(f)
	return f
}

// foreignTag returns the cluster outside the backup that an instance's tags name as its owner.
func (ix *index) foreignTag(v *vm) (cluster string) {
	for _, k := range v.Keys {
		if k.Kind == infra.OwnerTag && !ix.ownTags[k] {
			cluster = k.Value
		}
	}
	return cluster
}

// unlisted returns why the Node list of a cluster was not read, which may contradict.
func (f *factsOfInstance) unlisted(id backup.ClusterID) string {
	why, _ := f.index.unlisted(id)
	return why
}

// unproven reports whether no id shows that the place is where the machines are.
func (f *factsOfInstance) unproven(all []link) bool {
	return !slices.ContainsFunc(all, func(b link) bool { return f.index.provenFor(b.cluster(), f.vm) })
}

// havePlaces reports whether the machines of any of the clusters have a place of their own.
func (f *factsOfInstance) havePlaces(ids []backup.ClusterID) bool {
	return slices.ContainsFunc(ids, func(id backup.ClusterID) bool { return f.index.placed[id] })
}

// linked returns the clusters of links. They must not be changed.
func (f *factsOfInstance) linked(all []link) linkedClusters { return f.index.linked(all) }

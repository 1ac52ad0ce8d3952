package backup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup/archive"
	"drift-detector/internal/sorting"
)

// absent gathers references that lead nowhere, by kind.
type absent struct {
	referred int
	first    string // who refers first
	entire   bool   // no object of the kind is in the backup
	resource string
	list     []Absence
	clusters []ClusterID // of those who refer
	classes  bool        // a ClusterClass refers
}

// why says of a management cluster that runs that an object, or a whole kind, is absent, and of a
// backup how that may have come.
func (s *Snapshot) why(entire bool) string {
	const object = "filtered out, or being deleted when the backup was taken: Velero leaves such objects out"
	const kind = "the backup holds no object of this kind: filtered out, or their API was not answering when the backup was taken"
	const gone = "deleted, or never made"
	of := s.Subject()
	if entire {
		return of.Or(kind, of.The()+" holds no object of this kind: "+gone)
	}
	return of.Or(object, gone)
}

// findAbsent follows the references of clusters and machines, and of what makes
// machines to the templates that it needs for the next one.
func (a *assembly) findAbsent() {
	s := a.snapshot
	gone := map[objectKey]*absent{} // by backup, kind and group
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if c.Derived {
			continue
		}
		a.follow(gone, []ClusterID{c.ID()}, c.ControlPlane, "Cluster", &c.Meta)
		a.follow(gone, []ClusterID{c.ID()}, c.Infrastructure, "Cluster", &c.Meta)
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		a.follow(gone, []ClusterID{m.Cluster}, m.Infrastructure, "Machine", &m.Meta)
		a.follow(gone, []ClusterID{m.Cluster}, m.Bootstrap, "Machine", &m.Meta)
	}
	for i := range s.ControlPlanes {
		c := &s.ControlPlanes[i]
		a.follow(gone, []ClusterID{c.Cluster}, c.Infrastructure, c.Kind, &c.Meta)
	}
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Kind != "MachineSet" || g.Deployment == "" { // else its MachineDeployment refers to the same
			a.follow(gone, []ClusterID{g.Cluster}, g.Infrastructure, g.Kind, &g.Meta)
			a.follow(gone, []ClusterID{g.Cluster}, g.Bootstrap, g.Kind, &g.Meta)
		}
	}
	a.followClasses(gone)
	for k, g := range gone {
		if !g.entire {
			s.Absent = append(s.Absent, g.list...)
			continue
		}
		by := g.first
		if g.referred > 1 {
			by = fmt.Sprintf("%d objects, first %s", g.referred, g.first)
		}
		s.Absent = append(s.Absent, Absence{
			Backup: k.backup, Kind: k.kind, Name: "*", Resource: g.resource, ReferredBy: by, Why: s.why(true), Clusters: inOrder(g.clusters), HaltsTopology: g.classes,
		})
	}
	sorting.By(s.Absent, func(x, y Absence) int {
		return cmp.Or(cmp.Compare(x.Backup, y.Backup), strings.Compare(x.Kind, y.Kind),
			strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name), strings.Compare(x.ReferredBy, y.ReferredBy))
	})
}

// maxOfClass is how many absent objects of one class are listed, each with all clusters of
// the class: what one of them halts stands still whatever else is absent.
const maxOfClass = 100

// followClasses follows the references of ClusterClasses that clusters have. The topology
// controller reads all templates of a class before it does anything, and calls the extensions
// of its patches whatever they change (Cluster API getBlueprint in
// internal/controllers/topology/cluster/blueprint.go, CallExtension in
// internal/runtime/client/client.go v1.10.0).
func (a *assembly) followClasses(gone map[objectKey]*absent) {
	of := map[objectKey][]ClusterID{}
	for c := range clusterKind.In(a.snapshot).All() {
		if c.Data.Class != "" {
			k := objectKey{backup: c.Backup, namespace: cmp.Or(c.Data.ClassNamespace, c.Namespace), name: c.Data.Class}
			of[k] = append(of[k], ClusterID{c.Backup, c.Namespace, c.Name})
		}
	}
	for c := range classKind.In(a.snapshot).All() {
		clusters := of[objectKey{backup: c.Backup, namespace: c.Namespace, name: c.Name}]
		if clusters == nil {
			continue
		}
		listed := 0
		follow := func(ref Ref) {
			if listed < maxOfClass && a.follow(gone, clusters, ref, "ClusterClass", &c.Meta) {
				listed++
			}
		}
		for _, text := range slices.Concat(c.Data.Templates[:]...) {
			var f struct{ APIVersion, Kind, Namespace, Name string }
			if json.Unmarshal([]byte(text), &f) == nil { // of a class without such a template there is no text
				follow(Ref{groupOf(f.APIVersion), f.Kind, f.Namespace, f.Name}.in(c.Namespace))
			}
		}
		configs := slices.Concat(c.Data.Extensions[:]...)
		for i, handler := range configs {
			_, configs[i], _ = strings.Cut(handler, ".")
		}
		slices.Sort(configs)
		for _, config := range slices.Compact(configs) {
			if config != "" { // as of a patch without such a handler
				follow(Ref{Group: runtimeGroup, Kind: "ExtensionConfig", Name: config})
			}
		}
	}
}

// follow notes a reference, from an object of a kind that clusters have, whose object is not
// in the backup, and reports whether it did. Of a kind that was not read, only the absence
// of all objects can be known.
func (a *assembly) follow(gone map[objectKey]*absent, clusters []ClusterID, ref Ref, kind string, from *Meta) bool {
	if ref.IsZero() {
		return false
	}
	backup := from.Backup
	id := Ref{Group: ref.Group, Kind: ref.Kind}
	resource, ok := a.resources[id]
	if !ok {
		resource = archive.ResourceOf(ref.Kind, ref.Group)
		a.resources[id] = resource
	}
	if _, unread := a.load.infos[backup].Unread[resource]; unread {
		return false
	}
	entire := a.load.holds[backup][resource] == 0
	if !entire {
		known, found := a.load.lookUp(resource, backup, ref)
		if found || !known {
			return false
		}
	}
	by := kind + " " + from.Namespace + "/" + from.Name
	k := objectKey{backup: backup, kind: ref.Kind, name: ref.Group}
	g := gone[k]
	if g == nil {
		g = &absent{first: by, entire: entire, resource: resource}
		gone[k] = g
	}
	g.referred++
	g.classes = g.classes || kind == "ClusterClass"
	if last := len(g.clusters) - 1; last < 0 || g.clusters[last] != clusters[len(clusters)-1] {
		g.clusters = append(g.clusters, clusters...)
	}
	if !entire {
		g.list = append(g.list, Absence{
			Backup: backup, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Resource: resource, ReferredBy: by, Why: a.snapshot.why(false),
			Clusters: inOrder(slices.Clone(clusters)), HaltsTopology: kind == "ClusterClass",
		})
	}
	return true
}

// inOrder sorts clusters and leaves each in once.
func inOrder(ids []ClusterID) []ClusterID {
	sorting.By(ids, func(x, y ClusterID) int {
		return cmp.Or(cmp.Compare(x.Backup, y.Backup), strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	return slices.Compact(ids)
}

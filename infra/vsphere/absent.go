package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
)

const whyClusterScoped = "Velero leaves cluster-scoped objects out unless --include-cluster-resources=true; "

// gaps gathers what vSphere objects refer to and the backup lacks.
type gaps struct {
	referrers map[gap][]string
	clusters  map[gap]map[backup.ClusterID]bool
}

type gap struct {
	kind   string
	object object
}

// note adds one reference, with the clusters that it concerns.
func (g *gaps) note(kind string, at object, referrer string, clusters ...backup.ClusterID) {
	k := gap{kind, at}
	if list := g.referrers[k]; len(list) == 0 || list[len(list)-1] != referrer {
		g.referrers[k] = append(list, referrer)
	}
	if g.clusters[k] == nil {
		g.clusters[k] = map[backup.ClusterID]bool{}
	}
	for _, id := range clusters {
		g.clusters[k][id] = true
	}
}

// CAPV takes the bare clone spec where it does not find the zone of a machine or the
// zone's domain (pkg/services/vimmachine.go generateOverrideFunc), and its own webhook
// refuses that change of a VSphereVM (internal/webhooks/vspherevm.go v1.16.1).
const whyPlacement = whyClusterScoped + "CAPV derives the place of its machines from it: each with a VSphereVM stands still after a restore, because another place is refused, and each without one is looked for and made elsewhere"

// absent lists what vSphere objects refer to and the backup lacks, each missing
// object once. Velero leaves cluster-scoped objects out of most backups
// (pkg/util/collections/includes_excludes.go v1.18.1).
func (e *estate) absent() []backup.Absence {
	g := &gaps{map[gap][]string{}, map[gap]map[backup.ClusterID]bool{}}
	of := e.byVSphereCluster()
	for c := range clusters.In(e.snapshot).All() {
		at := object{backup: c.Backup, name: c.Data.IdentityName}
		if c.Data.IdentityKind == identityKind && e.identities[at] == nil {
			g.note(identityKind, at, clusterKind+" "+c.Namespace+"/"+c.Name, of[c]...)
		}
	}
	e.placementGaps(g)
	var list []backup.Absence
	for k, from := range g.referrers {
		slices.Sort(from)
		by := from[0]
		if n := len(from) - 1; n > 0 {
			by += fmt.Sprintf(" and %d more", n)
		}
		a := backup.Absence{
			Backup: k.object.backup, Kind: k.kind, Name: k.object.name, ReferredBy: by, Why: whyPlacement,
			Clusters: slices.SortedFunc(maps.Keys(g.clusters[k]), compareClusters),
		}
		if a.HaltsMachines = len(a.Clusters) > 0; k.kind == identityKind {
			a.Why = whyClusterScoped + "after a restore its clusters stand still until it is created again"
			a.Halts, a.HaltsMachines = a.Clusters, false
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b backup.Absence) int {
		return cmp.Or(cmp.Compare(a.Backup, b.Backup), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// placementGaps notes zones of machines, and domains of zones. A zone that no machine
// is in concerns no cluster.
func (e *estate) placementGaps(g *gaps) {
	used := map[object]map[backup.ClusterID]bool{} // zones, by the clusters of their machines
	for i := range e.members {
		m := &e.members[i]
		if m.index < 0 {
			continue
		}
		machine := &e.snapshot.Machines[m.index]
		at := object{backup: machine.Backup, name: machine.FailureDomain}
		switch {
		case at.name == "":
		case e.zones[at] == nil:
			g.note(zoneKind, at, "Machine "+machine.Namespace+"/"+machine.Name, m.cluster)
		default:
			if used[at] == nil {
				used[at] = map[backup.ClusterID]bool{}
			}
			used[at][m.cluster] = true
		}
	}
	for k, z := range e.zones {
		at := object{backup: z.Backup, name: z.Data.Domain}
		if at.name != "" && e.domains[at] == nil {
			g.note(domainKind, at, zoneKind+" "+z.Name, slices.Collect(maps.Keys(used[k]))...)
		}
	}
}

// byVSphereCluster are the clusters of each VSphereCluster, in the order of the
// Snapshot.
func (e *estate) byVSphereCluster() map[*backup.Record[vsphereCluster]][]backup.ClusterID {
	out := map[*backup.Record[vsphereCluster]][]backup.ClusterID{}
	for i := range e.snapshot.Clusters {
		id := e.snapshot.Clusters[i].ID()
		if c := e.vsphereCluster(id); c != nil {
			out[c] = append(out[c], id)
		}
	}
	return out
}

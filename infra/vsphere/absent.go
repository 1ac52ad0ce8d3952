package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
)

const whyClusterScoped = "Velero leaves cluster-scoped objects out unless --include-cluster-resources=true; "

// absent lists what vSphere objects refer to and the backup lacks, each missing
// object once. Velero leaves cluster-scoped objects out of most backups
// (pkg/util/collections/includes_excludes.go v1.18.1).
func (e *estate) absent() []backup.Absence {
	type missing struct {
		kind   string
		object object
	}
	referrers := map[missing][]string{}
	concerned := map[missing]map[backup.ClusterID]bool{}
	note := func(kind string, at object, referrer string, clusters ...backup.ClusterID) {
		k := missing{kind, at}
		if list := referrers[k]; len(list) == 0 || list[len(list)-1] != referrer {
			referrers[k] = append(list, referrer)
		}
		if concerned[k] == nil {
			concerned[k] = map[backup.ClusterID]bool{}
		}
		for _, id := range clusters {
			concerned[k][id] = true
		}
	}
	halted := e.byVSphereCluster()
	halts := map[missing][]backup.ClusterID{}
	known := index(identities.In(e.snapshot))
	for c := range clusters.In(e.snapshot).All() {
		at := object{backup: c.Backup, name: c.Data.IdentityName}
		if c.Data.IdentityKind == identityKind && known[at] == nil {
			note(identityKind, at, clusterKind+" "+c.Namespace+"/"+c.Name, halted[c]...)
			k := missing{identityKind, at}
			halts[k] = append(halts[k], halted[c]...)
		}
	}
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
			note(zoneKind, at, "Machine "+machine.Namespace+"/"+machine.Name, m.cluster)
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
			note(domainKind, at, zoneKind+" "+z.Name, slices.Collect(maps.Keys(used[k]))...)
		}
	}
	// CAPV takes the bare clone spec where it does not find the zone or its domain
	// (pkg/services/vimmachine.go generateOverrideFunc), and its own webhook refuses
	// that change of a VSphereVM (internal/webhooks/vspherevm.go v1.16.1).
	const halting = "CAPV derives the place of its machines from it: each with a VSphereVM stands still after a restore, because another place is refused, and each without one is looked for and made elsewhere"
	why := map[string]string{
		identityKind: whyClusterScoped + "after a restore its clusters stand still until it is created again",
		zoneKind:     whyClusterScoped + halting,
		domainKind:   whyClusterScoped + halting,
	}
	var list []backup.Absence
	for k, from := range referrers {
		slices.Sort(from)
		by := from[0]
		if n := len(from) - 1; n > 0 {
			by += fmt.Sprintf(" and %d more", n)
		}
		list = append(list, backup.Absence{
			Backup: k.object.backup, Kind: k.kind, Name: k.object.name, ReferredBy: by, Why: why[k.kind],
			Clusters: slices.SortedFunc(maps.Keys(concerned[k]), compareClusters), Halts: halts[k], HaltsMachines: k.kind != identityKind && len(concerned[k]) > 0,
		})
	}
	slices.SortFunc(list, func(a, b backup.Absence) int {
		return cmp.Or(cmp.Compare(a.Backup, b.Backup), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
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

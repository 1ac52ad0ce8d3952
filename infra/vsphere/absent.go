package vsphere

import (
	"cmp"
	"fmt"
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
	note := func(kind string, at object, referrer string) {
		k := missing{kind, at}
		if list := referrers[k]; len(list) == 0 || list[len(list)-1] != referrer {
			referrers[k] = append(list, referrer)
		}
	}
	halted := e.byVSphereCluster()
	halts := map[missing][]backup.ClusterID{}
	known := index(identities.In(e.snapshot))
	for c := range clusters.In(e.snapshot).All() {
		at := object{backup: c.Backup, name: c.Data.IdentityName}
		if c.Data.IdentityKind == identityKind && known[at] == nil {
			note(identityKind, at, clusterKind+" "+c.Namespace+"/"+c.Name)
			k := missing{identityKind, at}
			halts[k] = append(halts[k], halted[c]...)
		}
	}
	for i := range e.members {
		m := &e.members[i]
		if m.index < 0 || m.vm != nil {
			continue // a VSphereVM holds all that the zone would say
		}
		machine := &e.snapshot.Machines[m.index]
		at := object{backup: machine.Backup, name: machine.FailureDomain}
		if at.name != "" && e.zones[at] == nil {
			note(zoneKind, at, "Machine "+machine.Namespace+"/"+machine.Name)
		}
	}
	for _, z := range e.zones {
		at := object{backup: z.Backup, name: z.Data.Domain}
		if at.name != "" && e.domains[at] == nil {
			note(domainKind, at, zoneKind+" "+z.Name)
		}
	}
	why := map[string]string{
		identityKind: whyClusterScoped + "after a restore its clusters stand still until it is created again",
		zoneKind:     whyClusterScoped + "a machine of it that is not seen and has no VSphereVM may be in any vCenter",
		domainKind:   whyClusterScoped + "a machine of it that is not seen and has no VSphereVM may be in any datacenter",
	}
	var list []backup.Absence
	for k, from := range referrers {
		slices.Sort(from)
		by := from[0]
		if n := len(from) - 1; n > 0 {
			by += fmt.Sprintf(" and %d more", n)
		}
		list = append(list, backup.Absence{Backup: k.object.backup, Kind: k.kind, Name: k.object.name, ReferredBy: by, Why: why[k.kind], Halts: halts[k]})
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

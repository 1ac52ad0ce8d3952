package vsphere

import (
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra/capi"
)

// CAPV takes the bare clone spec where it does not find the zone of a machine or the
// zone's domain (pkg/services/vimmachine.go generateOverrideFunc), and its own webhook
// refuses that change of a VSphereVM (internal/webhooks/vspherevm.go v1.16.1).
const whyPlacement = capi.WhyClusterScoped + "CAPV derives the place of its machines from it: each with a VSphereVM is not reconciled after a restore, because another place is refused, and each without one is looked for and created elsewhere"

// absent lists what vSphere objects refer to and the backup lacks, each missing
// object once.
func (objs *objects) absent() []backup.Absence {
	m := &capi.Missing{}
	var of map[*backup.Record[vsphereCluster]][]backup.ClusterID // once an identity is missing
	for c := range clusters.In(objs.snapshot).All() {
		at := capi.Object{Backup: c.Backup, Name: c.Data.IdentityName}
		if c.Data.IdentityKind == identityKind && objs.identities[at] == nil {
			if of == nil {
				of = objs.byVSphereCluster()
			}
			m.Refer(identityKind, at, clusterKind+" "+c.Namespace+"/"+c.Name)
			m.Concern(identityKind, at, of[c]...)
		}
	}
	objs.placement(m)
	m.SortReferrers()
	list := m.List()
	for i := range list {
		a := &list[i]
		if a.Kind == identityKind {
			a.Why, a.Halts = capi.WhyHalted, a.Clusters
			continue
		}
		a.Why, a.HaltsMachines = whyPlacement, len(a.Clusters) > 0
	}
	return list
}

// placement notes zones of machines, and domains of zones. A zone that no machine
// is in concerns no cluster.
func (objs *objects) placement(missing *capi.Missing) {
	used := map[capi.Object]map[backup.ClusterID]bool{} // zones, by the clusters of their machines
	for i := range objs.members {
		m := &objs.members[i]
		if m.index < 0 {
			continue
		}
		machine := &objs.snapshot.Machines[m.index]
		at := capi.Object{Backup: machine.Backup, Name: machine.FailureDomain}
		switch {
		case at.Name == "":
		case objs.zones[at] == nil:
			missing.Refer(zoneKind, at, "Machine "+machine.Namespace+"/"+machine.Name)
			missing.Concern(zoneKind, at, m.cluster)
		default:
			if used[at] == nil {
				used[at] = map[backup.ClusterID]bool{}
			}
			used[at][m.cluster] = true
		}
	}
	for k, z := range objs.zones {
		at := capi.Object{Backup: z.Backup, Name: z.Data.Domain}
		if at.Name != "" && objs.domains[at] == nil {
			missing.Refer(domainKind, at, zoneKind+" "+z.Name)
			missing.Concern(domainKind, at, slices.Collect(maps.Keys(used[k]))...)
		}
	}
}

// byVSphereCluster returns the clusters of each VSphereCluster, in the order of the
// Snapshot.
func (objs *objects) byVSphereCluster() map[*backup.Record[vsphereCluster]][]backup.ClusterID {
	out := map[*backup.Record[vsphereCluster]][]backup.ClusterID{}
	for i := range objs.snapshot.Clusters {
		id := objs.snapshot.Clusters[i].ID()
		if c := objs.vsphereCluster(id); c != nil {
			out[c] = append(out[c], id)
		}
	}
	return out
}

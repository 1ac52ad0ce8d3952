package aws

import (
	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// objects is what the AWS objects of a Snapshot say together.
type objects struct {
	snapshot *backup.Snapshot
	clusters map[capi.Object]*backup.Record[awsCluster]
	planes   map[capi.Object]*backup.Record[awsCluster]
	planeOf  map[backup.ClusterID]*backup.Record[awsCluster] // by label
	// Identities, and what says who may use them.
	roles       map[capi.Object]*backup.Record[Role]
	statics     map[capi.Object]*backup.Record[static]
	controllers map[capi.Object]*backup.Record[controller]
	namespaces  map[capi.Object]*backup.Record[namespace]
	pools       []pool
	poolNamed   map[poolName]*pool
	known       map[backup.ClusterID]*backup.Cluster
	members     []member
	locations   map[backup.ClusterID]*clusterLocation // of the clusters that are CAPA's
	// controlPlanes are those of Cluster API, of any kind.
	controlPlanes backup.ControlPlanes
}

// member is one machine that the backup expects: a Machine with the AWSMachine
// behind it, or an AWSMachine without its Machine.
type member struct {
	index   int // into Snapshot.Machines, -1 without Machine
	machine *backup.Record[awsMachine]
	cluster backup.ClusterID
}

func newObjects(s *backup.Snapshot) *objects {
	objs := &objects{
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), clusters: capi.Index(clusters.In(s)), planes: capi.Index(planes.In(s)),
		roles: capi.Index(roles.In(s)), statics: capi.Index(statics.In(s)),
		controllers: capi.Index(controllers.In(s)), namespaces: capi.Index(namespaces.In(s)), planeOf: map[backup.ClusterID]*backup.Record[awsCluster]{},
		known: capi.Clusters(s), locations: map[backup.ClusterID]*clusterLocation{},
	}
	for p := range planes.In(s).All() {
		if p.ClusterName != "" {
			objs.planeOf[capi.ClusterOf(&p.Meta)] = p
		}
	}
	objs.join()
	objs.joinPools()
	objs.namePools()
	objs.findClusters()
	return objs
}

// join makes a member of every Machine that is CAPA's, then of every AWSMachine
// that is left over.
func (objs *objects) join() {
	capi.EachMachine(objs.snapshot, infra.GroupKind{Group: group, Kind: machineKind}, machines.In(objs.snapshot),
		func(i int, id backup.ClusterID, _ capi.Object, r *backup.Record[awsMachine]) {
			objs.members = append(objs.members, member{index: i, machine: r, cluster: id})
		})
}

// name returns the Machine's name, or the AWSMachine's, which has the same since
// Cluster API 1.7 (internal/controllers/machineset v1.7.0).
func (objs *objects) name(m *member) string {
	if m.index >= 0 {
		return objs.snapshot.Machines[m.index].Name
	}
	return m.machine.Name
}

// providerIDs returns the provider ids that the backup records for a member.
func (objs *objects) providerIDs(m *member) []string {
	var ids []string
	if m.machine != nil {
		ids = append(ids, m.machine.Data.ProviderID)
	}
	if m.index >= 0 {
		ids = append(ids, objs.snapshot.Machines[m.index].ProviderID)
	}
	return ids
}

package aws

import (
	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// estate is what the AWS objects of a Snapshot say together.
type estate struct {
	snapshot *backup.Snapshot
	clusters map[capi.Object]*backup.Record[awsCluster]
	planes   map[capi.Object]*backup.Record[awsCluster]
	planeOf  map[backup.ClusterID]*backup.Record[awsCluster] // by label
	// Identities, and what says who may use them.
	roles       map[capi.Object]*backup.Record[role]
	statics     map[capi.Object]*backup.Record[static]
	controllers map[capi.Object]*backup.Record[controller]
	namespaces  map[capi.Object]*backup.Record[namespace]
	pools       []pool
	poolNamed   map[poolName]*pool
	known       map[backup.ClusterID]*backup.Cluster
	members     []member
	sites       map[backup.ClusterID]*site // of the clusters that are CAPA's
	// controlPlanes are those of Cluster API, of whichever kind.
	controlPlanes backup.ControlPlanes
}

// member is one machine that the backup expects: a Machine with the AWSMachine
// behind it, or an AWSMachine without its Machine.
type member struct {
	index   int // into Snapshot.Machines, -1 without Machine
	machine *backup.Record[awsMachine]
	cluster backup.ClusterID
}

func newEstate(s *backup.Snapshot) *estate {
	e := &estate{
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), clusters: capi.Index(clusters.In(s)), planes: capi.Index(planes.In(s)),
		roles: capi.Index(roles.In(s)), statics: capi.Index(statics.In(s)),
		controllers: capi.Index(controllers.In(s)), namespaces: capi.Index(namespaces.In(s)), planeOf: map[backup.ClusterID]*backup.Record[awsCluster]{},
		known: capi.Clusters(s), sites: map[backup.ClusterID]*site{},
	}
	for p := range planes.In(s).All() {
		if p.ClusterName != "" {
			e.planeOf[capi.ClusterOf(&p.Meta)] = p
		}
	}
	e.join()
	e.joinPools()
	e.namePools()
	e.findSites()
	return e
}

// join makes a member of every Machine that is CAPA's, then of every AWSMachine
// that is left over.
func (e *estate) join() {
	capi.EachMachine(e.snapshot, infra.GroupKind{Group: group, Kind: machineKind}, machines.In(e.snapshot),
		func(i int, id backup.ClusterID, _ capi.Object, r *backup.Record[awsMachine]) {
			e.members = append(e.members, member{index: i, machine: r, cluster: id})
		})
}

// name is the Machine's name, or the AWSMachine's, which has the same since
// Cluster API 1.7 (internal/controllers/machineset v1.7.0).
func (e *estate) name(m *member) string {
	if m.index >= 0 {
		return e.snapshot.Machines[m.index].Name
	}
	return m.machine.Name
}

// providerIDs are the provider ids that the backup records for a member.
func (e *estate) providerIDs(m *member) []string {
	var ids []string
	if m.machine != nil {
		ids = append(ids, m.machine.Data.ProviderID)
	}
	if m.index >= 0 {
		ids = append(ids, e.snapshot.Machines[m.index].ProviderID)
	}
	return ids
}

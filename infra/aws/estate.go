package aws

import (
	"drift-detector/backup"
)

// object names one object of a backup, within its kind.
type object struct {
	backup          int
	namespace, name string
}

// refersTo is the object that one of a namespace refers to, or none where the
// reference leads into another: Cluster API forbids that
// (internal/webhooks/cluster.go v1.13.3), and nobody may use another tenant's
// objects and credentials by it.
func refersTo(at int, namespace string, ref backup.Ref) object {
	if ref.Namespace != "" && ref.Namespace != namespace {
		return object{}
	}
	return object{at, namespace, ref.Name}
}

func objectOf(m *backup.Meta) object { return object{m.Backup, m.Namespace, m.Name} }

// estate is what the AWS objects of a Snapshot say together.
type estate struct {
	snapshot *backup.Snapshot
	clusters map[object]*backup.Record[awsCluster]
	planes   map[object]*backup.Record[awsCluster]
	planeOf  map[backup.ClusterID]*backup.Record[awsCluster] // by label
	machines map[object]*backup.Record[awsMachine]
	// Identities, and what says who may use them.
	roles       map[object]*backup.Record[role]
	statics     map[object]*backup.Record[static]
	controllers map[object]*backup.Record[controller]
	namespaces  map[object]*backup.Record[namespace]
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
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), clusters: index(clusters.In(s)), planes: index(planes.In(s)), machines: index(machines.In(s)),
		roles: index(roles.In(s)), statics: index(statics.In(s)),
		controllers: index(controllers.In(s)), namespaces: index(namespaces.In(s)), planeOf: map[backup.ClusterID]*backup.Record[awsCluster]{},
		known: map[backup.ClusterID]*backup.Cluster{}, sites: map[backup.ClusterID]*site{},
	}
	for i := range s.Clusters {
		e.known[s.Clusters[i].ID()] = &s.Clusters[i]
	}
	for p := range planes.In(s).All() {
		if p.ClusterName != "" {
			e.planeOf[clusterOf(&p.Meta)] = p
		}
	}
	e.join()
	e.joinPools()
	e.namePools()
	e.findSites()
	return e
}

func index[T any](t *backup.Table[T]) map[object]*backup.Record[T] {
	m := make(map[object]*backup.Record[T], t.Len())
	for r := range t.All() {
		m[objectOf(&r.Meta)] = r
	}
	return m
}

func ownerOf(m *backup.Meta, kind string) (string, bool) {
	for _, o := range m.Owners {
		if o.Kind == kind {
			return o.Name, true
		}
	}
	return "", false
}

func clusterOf(m *backup.Meta) backup.ClusterID {
	return backup.ClusterID{Backup: m.Backup, Namespace: m.Namespace, Name: m.ClusterName}
}

// join makes a member of every Machine that is CAPA's, then of every AWSMachine
// that is left over.
func (e *estate) join() {
	used := map[*backup.Record[awsMachine]]bool{}
	for i := range e.snapshot.Machines {
		m := &e.snapshot.Machines[i]
		if ref := m.Infrastructure; ref.Group == group && ref.Kind == machineKind {
			r := e.machines[refersTo(m.Backup, m.Namespace, ref)]
			used[r] = true
			e.members = append(e.members, member{index: i, machine: r, cluster: m.Cluster})
		}
	}
	for r := range machines.In(e.snapshot).All() {
		if !used[r] && r.ClusterName != "" {
			e.members = append(e.members, member{index: -1, machine: r, cluster: clusterOf(&r.Meta)})
		}
	}
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

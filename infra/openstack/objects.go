package openstack

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// objects is what the OpenStack objects of a Snapshot say together.
type objects struct {
	snapshot      *backup.Snapshot
	clusters      map[capi.Object]*backup.Record[osCluster]
	servers       map[capi.Object]*backup.Record[osServer]
	identities    map[capi.Object]*backup.Record[clusterIdentity]
	namespaces    map[capi.Object]*backup.Record[namespace]
	images        map[capi.Object]*backup.Record[referredImage]
	pools         map[capi.Object]*backup.Record[floatingPool]
	addresses     map[capi.Object]*backup.Record[floatingAddress]
	known         map[backup.ClusterID]*backup.Cluster
	controlPlanes backup.ControlPlanes
	members       []member
	locations     map[backup.ClusterID]*location // of the clusters that are CAPO's
	need          *needs                         // see needed
	alone         []string                       // OpenStackServers of no cluster
}

// member is one machine that the backup expects: a Machine with what is behind it, or
// what is left of one.
type member struct {
	index   int // into Snapshot.Machines, -1 without Machine
	cluster backup.ClusterID
	machine *backup.Record[osServer]
	server  *backup.Record[osServer] // CAPO makes it for the machine since v0.11
	home    string                   // id of the target where CAPO looks
}

func (objs *objects) titleOf(m *member) string {
	if m.index < 0 {
		return fmt.Sprintf("%s %s/%s", serverKind, m.meta().Namespace, m.meta().Name)
	}
	machine := &objs.snapshot.Machines[m.index]
	return fmt.Sprintf("Machine %s/%s", machine.Namespace, machine.Name)
}

// location is a cluster's own object, and where its machines are unless they say otherwise.
type location struct {
	record  *backup.Record[osCluster]
	home    string  // id of the target
	release release // of CAPO
	dated   bool    // the backup says which: what was installed is in it
	served  bool    // the backup holds OpenStackServers of it

	versions []*version.Version // of CAPO that were installed
}

// mayServe reports whether CAPO may have OpenStackServers: a backup without any may lack them.
func (l *location) mayServe() bool {
	return l.release >= withServers || l.release == withoutServers && !l.dated
}

func newObjects(s *backup.Snapshot) *objects {
	objs := &objects{
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), known: capi.Clusters(s),
		clusters: capi.Index(clusters.In(s)), servers: capi.Index(servers.In(s)),
		identities: capi.Index(identities.In(s)), namespaces: capi.Index(namespaces.In(s)), images: capi.Index(referredImages.In(s)),
		pools: capi.Index(floatingPools.In(s)), addresses: capi.Index(floatingAddresses.In(s)),
		locations: map[backup.ClusterID]*location{},
	}
	objs.join()
	objs.locate()
	objs.dateReleases()
	return objs
}

// join makes a member of every Machine that is CAPO's, of every OpenStackMachine that is
// left over, and of every OpenStackServer without either that is no bastion: CAPO looks
// for the server of each of them.
func (objs *objects) join() {
	used := map[*backup.Record[osServer]]bool{}
	capi.EachMachine(objs.snapshot, infra.GroupKind{Group: group, Kind: machineKind}, machines.In(objs.snapshot),
		func(i int, id backup.ClusterID, at capi.Object, r *backup.Record[osServer]) {
			m := member{index: i, cluster: id, machine: r, server: objs.servers[at]}
			used[m.server] = true
			objs.members = append(objs.members, m)
		})
	for r := range servers.In(objs.snapshot).All() {
		switch {
		case used[r] || isBastion(r):
		case r.ClusterName == "": // CAPO asks for no cluster (getClusterFromMetadata in controllers/openstackserver_controller.go v0.11.0 to v0.15.0-beta.0)
			objs.alone = append(objs.alone, fmt.Sprintf("%s %s/%s", serverKind, r.Namespace, r.Name))
		default:
			objs.members = append(objs.members, member{index: -1, cluster: capi.ClusterOf(&r.Meta), server: r})
		}
	}
}

// isBastion reports whether an OpenStackServer is a cluster's bastion, which the
// OpenStackCluster owns. A restore takes the owner away, and CAPO does not bring it back:
// later backups tell the bastion by its name (controllers/openstackcluster_controller.go
// v0.14.7).
func isBastion(r *backup.Record[osServer]) bool {
	if _, ok := capi.OwnerOf(&r.Meta, clusterKind); ok {
		return true
	}
	_, ok := capi.OwnerOf(&r.Meta, machineKind)
	return !ok && r.ClusterName != "" && r.Name == r.ClusterName+"-"+roleBastion
}

// locate finds the clusters that are CAPO's, and the home of each member.
func (objs *objects) locate() {
	at := func(id backup.ClusterID) *location {
		l := objs.locations[id]
		if l == nil {
			l = &location{}
			objs.locations[id] = l
		}
		return l
	}
	for id, c := range objs.known {
		if ref := c.Infrastructure; ref.Group == group && ref.Kind == clusterKind {
			at(id).record = objs.clusters[capi.Referred(c.Backup, c.Namespace, ref)]
		}
	}
	for i := range objs.members {
		at(objs.members[i].cluster)
	}
	labelled := map[backup.ClusterID]*backup.Record[osCluster]{} // by the label, the first of each
	for r := range clusters.In(objs.snapshot).All() {
		if id := capi.ClusterOf(&r.Meta); labelled[id] == nil {
			labelled[id] = r
		}
	}
	for id, l := range objs.locations {
		if c := objs.known[id]; l.record == nil && (c == nil || c.Infrastructure.IsZero()) {
			l.record = labelled[id]
		}
		l.home = objs.homeOf(id, nil, l).id()
	}
	for i := range objs.members {
		m := &objs.members[i]
		m.home = objs.homeOf(m.cluster, m, objs.locations[m.cluster]).id()
	}
}

// order returns the clusters that are CAPO's, sorted.
func (objs *objects) order() []backup.ClusterID {
	return slices.SortedFunc(maps.Keys(objs.locations), capi.CompareClusters)
}

// meta returns the metadata of the object that the server is made for.
func (m *member) meta() *backup.Meta {
	if m.machine != nil {
		return &m.machine.Meta
	}
	if m.server != nil {
		return &m.server.Meta
	}
	return nil
}

// resolved returns what CAPO makes ids of before it looks for the server, because a restore
// drops the status that held them; nil where it looks for the server first, as releases up
// to 0.9 do (ResolveMachineSpec in pkg/cloud/services/compute/referenced_resources.go
// v0.10.0, ResolveServerSpec v0.11.0 to v0.15.0-beta.0).
func (m *member) resolved() *wish {
	switch {
	case m.server != nil:
		return &m.server.Data.Wish
	case m.machine != nil && releaseOf(m.machine.Data.APIVersion, false) != byNameAlone:
		return &m.machine.Data.Wish
	}
	return nil
}

// serverName returns what CAPO calls the machine's server: as the OpenStackMachine, and the
// OpenStackServer has the same name (CAPO controllers/openstackmachine_controller.go v0.14.7).
func (objs *objects) serverName(m *member) string {
	if meta := m.meta(); meta != nil {
		return meta.Name
	}
	machine := &objs.snapshot.Machines[m.index]
	if name := machine.Infrastructure.Name; name != "" {
		return name
	}
	return machine.Name
}

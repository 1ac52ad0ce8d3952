package vsphere

import (
	"cmp"
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
)

// object names one object of a backup, within its kind.
type object struct {
	backup          int
	namespace, name string
}

func objectOf(m *backup.Meta) object { return object{m.Backup, m.Namespace, m.Name} }

// estate is what the vSphere objects of a Snapshot say together.
type estate struct {
	snapshot  *backup.Snapshot
	clusters  map[object]*backup.Record[vsphereCluster]
	machines  map[object]*backup.Record[vsphereMachine]
	templates map[object]*backup.Record[vsphereTemplate]
	zones     map[object]*backup.Record[vsphereZone]
	domains   map[object]*backup.Record[vsphereDomain]
	known     map[backup.ClusterID]*backup.Cluster
	// What says who may use which credential.
	identities    map[object]*backup.Record[vsphereIdentity]
	namespaces    map[object]*backup.Record[namespace]
	vmOf          map[object]*backup.Record[vsphereVM] // by the VSphereMachine that owns it
	vmNamed       map[object]*backup.Record[vsphereVM] // without such an owner, by its name and by its bootstrap data
	members       []member
	controlPlanes backup.ControlPlanes
	sets          map[object]bool // MachineSets
	// What is parsed and composed once per server and cluster, not per machine.
	servers map[string]string
	targets map[clusterServer]string
	need    *needed
}

type clusterServer struct {
	cluster backup.ClusterID
	server  string
}

// member is one machine that the backup expects: a Machine with what stands
// behind it, or a VSphereMachine or VSphereVM without its Machine.
type member struct {
	index   int // into Snapshot.Machines, -1 without Machine
	machine *backup.Record[vsphereMachine]
	vm      *backup.Record[vsphereVM]
	cluster backup.ClusterID
	spec    cloneSpec // merged, as the backup writes it
	at      place
	name    string // of the VM
	target  string // id of the home target
	// unplaced says why nobody knows where the VM is to be: at is then no more
	// than where it would be without what the backup lacks. Empty: at is right.
	unplaced string
	// unnamed says why nobody knows what the VM is called: name is the machine's then.
	unnamed string
}

func newEstate(s *backup.Snapshot) *estate {
	e := &estate{
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), clusters: index(clusters.In(s)), machines: index(machines.In(s)), templates: index(templates.In(s)),
		zones: index(zones.In(s)), domains: index(domains.In(s)),
		identities: index(identities.In(s)), namespaces: index(namespaces.In(s)), known: map[backup.ClusterID]*backup.Cluster{},
		vmOf: map[object]*backup.Record[vsphereVM]{}, vmNamed: map[object]*backup.Record[vsphereVM]{},
		servers: map[string]string{}, targets: map[clusterServer]string{}, sets: map[object]bool{},
	}
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Kind == "MachineSet" {
			e.sets[objectOf(&g.Meta)] = true
		}
	}
	for i := range s.Clusters {
		e.known[s.Clusters[i].ID()] = &s.Clusters[i]
	}
	for v := range vms.In(s).All() {
		if owner, ok := ownerOf(&v.Meta, machineKind); ok {
			putFirst(e.vmOf, object{v.Backup, v.Namespace, owner}, v)
			continue
		}
		// A restore takes ownerReferences away (lab/restore); names are left.
		putFirst(e.vmNamed, objectOf(&v.Meta), v)
		if v.Data.Bootstrap != "" {
			putFirst(e.vmNamed, object{v.Backup, v.Namespace, v.Data.Bootstrap}, v)
		}
	}
	e.join()
	return e
}

func index[T any](t *backup.Table[T]) map[object]*backup.Record[T] {
	m := make(map[object]*backup.Record[T], t.Len())
	for r := range t.All() {
		m[objectOf(&r.Meta)] = r
	}
	return m
}

func putFirst[V any](m map[object]V, k object, v V) {
	if _, taken := m[k]; !taken {
		m[k] = v
	}
}

func ownerOf(m *backup.Meta, kind string) (string, bool) {
	for _, o := range m.Owners {
		if o.Kind == kind {
			return o.Name, true
		}
	}
	return "", false
}

// join makes a member of every Machine that is CAPV's, then of every
// VSphereMachine and at last of every VSphereVM that is left over.
func (e *estate) join() {
	usedMachine := map[*backup.Record[vsphereMachine]]bool{}
	usedVM := map[*backup.Record[vsphereVM]]bool{}
	add := func(m member) {
		if m.machine != nil {
			usedMachine[m.machine] = true
		}
		if m.vm != nil {
			usedVM[m.vm] = true
		}
		e.place(&m)
		e.members = append(e.members, m)
	}
	for i := range e.snapshot.Machines {
		m := &e.snapshot.Machines[i]
		if ref := m.Infrastructure; ref.Group == group && ref.Kind == machineKind {
			own := member{index: i, cluster: m.Cluster}
			if !leadsAway(ref, m.Namespace) {
				at := object{m.Backup, m.Namespace, ref.Name}
				own.machine, own.vm = e.machines[at], e.findVM(at, m.Name)
			}
			add(own)
		}
	}
	for m := range machines.In(e.snapshot).All() {
		if !usedMachine[m] && m.ClusterName != "" {
			at := objectOf(&m.Meta)
			add(member{index: -1, machine: m, vm: e.findVM(at, m.Name), cluster: clusterOf(&m.Meta)})
		}
	}
	for v := range vms.In(e.snapshot).All() {
		if !usedVM[v] && v.ClusterName != "" {
			add(member{index: -1, vm: v, cluster: clusterOf(&v.Meta)})
		}
	}
}

func clusterOf(m *backup.Meta) backup.ClusterID {
	return backup.ClusterID{Backup: m.Backup, Namespace: m.Namespace, Name: m.ClusterName}
}

func (e *estate) findVM(machine object, other string) *backup.Record[vsphereVM] {
	return cmp.Or(e.vmOf[machine], e.vmNamed[machine], e.vmNamed[object{machine.backup, machine.namespace, other}])
}

// place fills in where the member's VM is to be and what it is called.
func (e *estate) place(m *member) {
	zone := ""
	name := ""
	if m.index >= 0 {
		zone, name = e.snapshot.Machines[m.index].FailureDomain, e.snapshot.Machines[m.index].Name
	}
	var spec cloneSpec
	if m.machine != nil {
		zone = cmp.Or(zone, m.machine.Data.FailureDomain)
		name = cmp.Or(name, m.machine.Name)
		spec = m.machine.Data.Spec
		named := false
		if m.name, named = concreteName(name, m.machine.Data.OS, m.machine.Data.Naming); !named {
			m.unnamed = fmt.Sprintf("naming template %q of VSphereMachine %s is not understood", infra.Brief(m.machine.Data.Naming), m.machine.Name)
		}
	}
	m.name = cmp.Or(m.name, name)
	spec = e.merge(m.cluster, zone, spec)
	if m.vm != nil {
		// CAPV has merged everything into the VSphereVM already
		// (pkg/services/vimmachine.go v1.16.1).
		merged := m.vm.Data.Spec
		if merged.Server == "" {
			merged.Server, merged.Thumbprint = spec.Server, spec.Thumbprint
		}
		spec, m.name, m.unnamed = merged, m.vm.Name, ""
	}
	m.spec, m.at = spec, e.placeOf(spec)
	m.target = e.targetID(m.cluster, m.at.Server)
	if m.unplaced = e.unplaced(m, zone); m.unplaced != "" {
		m.target += unplacedSuffix
	}
}

// unplacedSuffix ends the id of the place where machines are looked for whose
// place the backup does not tell. One that is found there is found, but one that
// is not may be anywhere.
const unplacedSuffix = "/unplaced"

// unplaced says what the backup lacks to tell where a member's VM is to be. The
// zone names vCenter, datacenter and folder, and CAPV puts them into the
// VSphereVM (pkg/services/vimmachine.go v1.16.1).
func (e *estate) unplaced(m *member, zone string) string {
	switch z := e.zones[object{backup: m.cluster.Backup, name: zone}]; {
	case m.vm != nil && m.vm.Data.Spec.Server != "":
		return ""
	case m.vm == nil && m.machine == nil:
		return "a machine's " + machineKind + " and " + vmKind + " are not in the backup"
	case zone == "":
		return ""
	case z == nil:
		return fmt.Sprintf("a machine's %s %s is not in the backup", zoneKind, zone)
	case e.domains[object{backup: m.cluster.Backup, name: z.Data.Domain}] == nil:
		return fmt.Sprintf("%s %s of a machine's %s is not in the backup", domainKind, z.Data.Domain, zoneKind)
	default:
		return ""
	}
}

// merge completes a clone spec as CAPV does: the zone overrides the machine,
// and the cluster gives the server that neither names.
func (e *estate) merge(cluster backup.ClusterID, zone string, spec cloneSpec) cloneSpec {
	if z := e.zones[object{backup: cluster.Backup, name: zone}]; zone != "" && z != nil {
		spec.Server = cmp.Or(z.Data.Server, spec.Server)
		spec.Folder = cmp.Or(z.Data.Folder, spec.Folder)
		if d := e.domains[object{backup: cluster.Backup, name: z.Data.Domain}]; d != nil {
			spec.Datacenter = cmp.Or(d.Data.Datacenter, spec.Datacenter)
		}
	}
	if c := e.vsphereCluster(cluster); c != nil {
		spec.Server = cmp.Or(spec.Server, c.Data.Server)
	}
	return spec
}

func (e *estate) placeOf(spec cloneSpec) place {
	p := place{Server: e.server(spec.Server), Datacenter: datacenterOf(spec.Datacenter)}
	p.Folder, p.Root = folderOf(p.Server, p.Datacenter, spec.Folder)
	return p
}

// server is serverOf, which is asked for every machine.
func (e *estate) server(raw string) string {
	s, ok := e.servers[raw]
	if !ok {
		s, _ = serverOf(raw)
		e.servers[raw] = s
	}
	return s
}

// leadsAway says that a reference names another namespace than the one of the
// object that refers. Cluster API forbids it (internal/webhooks/cluster.go
// v1.13.3), and nobody may use another tenant's objects and credentials by it.
func leadsAway(ref backup.Ref, namespace string) bool {
	return ref.Namespace != "" && ref.Namespace != namespace
}

// vsphereCluster is the VSphereCluster of a cluster, or nil when the backup
// does not hold it.
func (e *estate) vsphereCluster(id backup.ClusterID) *backup.Record[vsphereCluster] {
	if c := e.known[id]; c != nil && c.Infrastructure.Kind == clusterKind && c.Infrastructure.Name != "" {
		if leadsAway(c.Infrastructure, id.Namespace) {
			return nil
		}
		return e.clusters[object{id.Backup, id.Namespace, c.Infrastructure.Name}]
	}
	return e.clusters[object{id.Backup, id.Namespace, id.Name}]
}

// providers names the clusters that are CAPV's.
func (e *estate) providers() map[backup.ClusterID]string {
	ours := map[backup.ClusterID]string{}
	for id, c := range e.known {
		if c.Infrastructure.Group == group && c.Infrastructure.Kind == clusterKind {
			ours[id] = Name
		}
	}
	for i := range e.members {
		ours[e.members[i].cluster] = Name
	}
	return ours
}

package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// objects is what the vSphere objects of a Snapshot say together.
type objects struct {
	snapshot *backup.Snapshot
	clusters map[capi.Object]*backup.Record[vsphereCluster]
	zones    map[capi.Object]*backup.Record[vsphereZone]
	claims   map[capi.Object]bool // whether what the claim has been given is there, too
	domains  map[capi.Object]*backup.Record[vsphereDomain]
	known    map[backup.ClusterID]*backup.Cluster
	// What says who may use which credential.
	identities map[capi.Object]*backup.Record[vsphereIdentity]
	// Of the VSphereVMs, until members have them:
	vmOf          []*backup.Record[vsphereVM]               // in the order of the VSphereMachines that own them
	nextVM        int                                       // in vmOf, behind the last that was found
	vmNamed       map[capi.Object]*backup.Record[vsphereVM] // without such an owner, by its name and by its bootstrap data
	members       []member
	places        []*place // of the members, in the order of the first that is at each
	controlPlanes backup.ControlPlanes
	sets          map[capi.Object]bool // MachineSets, once they are asked for
	// What is parsed and composed once per server and cluster, not per machine.
	servers   map[string]string
	locations map[cloneSpec]location
	targets   map[clusterServer]string
	placed    map[placing]*place
	owning    []owner                       // once they are asked for
	owned     map[backup.ClusterID][]*owner // likewise
	ours      map[backup.ClusterID]string   // likewise, see providers
	sorted    []backup.ClusterID            // those of ours in order, likewise
	// Of the walk, what is read once.
	secretOwners map[capi.Object][]string
	parsed       map[string][]device   // by their JSON
	merged       map[[2]string]string  // by that, and the networks of a failure domain
	rests        map[string]*cloneRest // by their JSON
	lastRestore  *infra.Restore        // of machines one after the other most are equal
}

type clusterServer struct {
	cluster backup.ClusterID
	server  string
}

// member is one machine that the backup expects: a Machine with what is
// behind it, or a VSphereMachine or VSphereVM without its Machine.
type member struct {
	index   int // into Snapshot.Machines, -1 without Machine
	machine *backup.Record[vsphereMachine]
	vm      *backup.Record[vsphereVM]
	infra   *backup.Record[vsphereCluster] // of its cluster; nil when the backup lacks it
	modular bool                           // that has modules
	*place
	name string // of the VM
	// unnamed is why it is not known what the VM is called: name is the machine's then.
	unnamed string
	// strong is the BIOS UUID that the backup records, source where, see [infra.Agreed].
	strong           infra.Key
	source, conflict string
	doubted          []infra.Key
}

// readsID is where CAPV reads the id of a VM after a restore.
const readsID = "VSphereVM.spec.biosUUID"

// place is where the VMs of machines are to be. Most machines of a cluster share one.
type place struct {
	placing
	at     location
	target string    // id of the home target
	pins   *[]string // thumbprints of the session that CAPV has for VMs, see sessions
	// unplaced is why it is not known where the VM is to be: at is then only where
	// it would be without what the backup lacks. Empty: at is right.
	unplaced string
}

// placing is what makes a place.
type placing struct {
	cluster backup.ClusterID
	zone    string    // that may still change it
	spec    cloneSpec // merged, as the backup writes it
	unknown bool      // the machine has neither VSphereMachine nor VSphereVM
}

func newObjects(s *backup.Snapshot) *objects {
	objs := &objects{
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), clusters: capi.Index(clusters.In(s)),
		zones: capi.Index(zones.In(s)), domains: capi.Index(domains.In(s)), claims: claims(s),
		identities: capi.Index(identities.In(s)), known: capi.Clusters(s),
		vmOf: make([]*backup.Record[vsphereVM], 0, vms.In(s).Len()), vmNamed: map[capi.Object]*backup.Record[vsphereVM]{},
		servers: map[string]string{}, locations: make(map[cloneSpec]location, len(s.Clusters)), targets: make(map[clusterServer]string, len(s.Clusters)), placed: make(map[placing]*place, len(s.Clusters)),
	}
	for v := range vms.In(s).All() {
		if _, ok := capi.OwnerOf(&v.Meta, machineKind); ok {
			objs.vmOf = append(objs.vmOf, v)
			continue
		}
		// A restore takes ownerReferences away (lab/restore); names are left.
		putFirst(objs.vmNamed, capi.ObjectOf(&v.Meta), v)
		if v.Data.Bootstrap != "" {
			putFirst(objs.vmNamed, capi.Object{Backup: v.Backup, Namespace: v.Namespace, Name: v.Data.Bootstrap}, v)
		}
	}
	if ordered := func(a, b *backup.Record[vsphereVM]) int { return capi.CompareObjects(machineOf(a), machineOf(b)) }; !slices.IsSortedFunc(objs.vmOf, ordered) {
		slices.SortStableFunc(objs.vmOf, ordered)
	}
	objs.join()
	objs.vmOf, objs.vmNamed, objs.placed = nil, nil, nil
	return objs
}

// isSet reports whether the backup holds a MachineSet.
func (objs *objects) isSet(at capi.Object) bool {
	if objs.sets == nil {
		objs.sets = map[capi.Object]bool{}
		for i := range objs.snapshot.Groups {
			if g := &objs.snapshot.Groups[i]; g.Kind == "MachineSet" {
				objs.sets[capi.ObjectOf(&g.Meta)] = true
			}
		}
	}
	return objs.sets[at]
}

func putFirst[V any](m map[capi.Object]V, k capi.Object, v V) {
	if _, taken := m[k]; !taken {
		m[k] = v
	}
}

// join makes a member of every Machine that is CAPV's, then of every
// VSphereMachine and at last of every VSphereVM that is left over.
func (objs *objects) join() {
	used := make([]*backup.Record[vsphereVM], 0, len(objs.snapshot.Machines))
	objs.members = make([]member, 0, len(objs.snapshot.Machines))
	add := func(m member, cluster backup.ClusterID) {
		if m.vm != nil {
			used = append(used, m.vm)
		}
		if n := len(objs.members); n > 0 && objs.members[n-1].cluster == cluster {
			m.infra, m.modular = objs.members[n-1].infra, objs.members[n-1].modular
		} else if m.infra = objs.vsphereCluster(cluster); m.infra != nil {
			m.modular = len(m.infra.Data.modules()) > 0
		}
		objs.locate(&m, cluster)
		objs.identify(&m)
		objs.members = append(objs.members, m)
	}
	capi.EachMachine(objs.snapshot, infra.GroupKind{Group: group, Kind: machineKind}, machines.In(objs.snapshot),
		func(i int, id backup.ClusterID, at capi.Object, r *backup.Record[vsphereMachine]) {
			m := member{index: i, machine: r}
			if at != (capi.Object{}) {
				name := at.Name
				if i >= 0 {
					name = objs.snapshot.Machines[i].Name
				}
				m.vm = objs.findVM(at, name)
			}
			add(m, id)
		})
	byName := func(a, b *backup.Record[vsphereVM]) int {
		return capi.CompareObjects(capi.ObjectOf(&a.Meta), capi.ObjectOf(&b.Meta))
	}
	if !slices.IsSortedFunc(used, byName) {
		slices.SortFunc(used, byName)
	}
	for v := range vms.In(objs.snapshot).All() {
		for len(used) > 0 && byName(used[0], v) < 0 {
			used = used[1:]
		}
		if (len(used) == 0 || used[0] != v) && v.ClusterName != "" {
			add(member{index: -1, vm: v}, capi.ClusterOf(&v.Meta))
		}
	}
}

// machineOf returns the VSphereMachine that owns a VSphereVM, of those that have one.
func machineOf(v *backup.Record[vsphereVM]) capi.Object {
	name, _ := capi.OwnerOf(&v.Meta, machineKind)
	return capi.Object{Backup: v.Backup, Namespace: v.Namespace, Name: name}
}

// vmOwned returns the first VSphereVM that a VSphereMachine owns, or nil. It is looked for behind
// the last one that was found, and then everywhere.
func (objs *objects) vmOwned(machine capi.Object) *backup.Record[vsphereVM] {
	next := objs.nextVM
	if next >= len(objs.vmOf) || machineOf(objs.vmOf[next]) != machine || next > 0 && machineOf(objs.vmOf[next-1]) == machine {
		var found bool
		if next, found = slices.BinarySearchFunc(objs.vmOf, machine, func(v *backup.Record[vsphereVM], at capi.Object) int { return capi.CompareObjects(machineOf(v), at) }); !found {
			return nil
		}
	}
	objs.nextVM = next + 1
	return objs.vmOf[next]
}

func (objs *objects) findVM(machine capi.Object, other string) *backup.Record[vsphereVM] {
	return cmp.Or(objs.vmOwned(machine), objs.vmNamed[machine], objs.vmNamed[capi.Object{Backup: machine.Backup, Namespace: machine.Namespace, Name: other}])
}

// locate fills in where the member's VM is to be and what it is called.
func (objs *objects) locate(m *member, cluster backup.ClusterID) {
	a := placing{cluster: cluster, unknown: m.vm == nil && m.machine == nil}
	switch {
	case m.vm != nil && m.vm.Data.Spec.Server != "":
		// CAPV has merged everything into the VSphereVM already
		// (pkg/services/vimmachine.go v1.16.1).
		a.spec = m.vm.Data.Spec
	default:
		if m.machine != nil {
			a.spec = m.machine.Data.Spec
		}
		a.zone = objs.zoneOf(m)
		a.spec = objs.merge(m.infra, cluster.Backup, a.zone, a.spec)
		if m.vm != nil {
			server, thumbprint := a.spec.Server, a.spec.Thumbprint
			a.spec = m.vm.Data.Spec
			a.spec.Server, a.spec.Thumbprint = server, thumbprint
		}
	}
	m.place = objs.placeOf(a)
	if m.index >= 0 {
		m.name = objs.snapshot.Machines[m.index].Name
	}
	switch {
	case m.vm != nil:
		m.name = m.vm.Name
	case m.machine != nil:
		named := false
		if m.name, named = concreteName(cmp.Or(m.name, m.machine.Name), m.machine.Data.OS, m.machine.Data.Naming); !named {
			m.unnamed = fmt.Sprintf("naming template %q of VSphereMachine %s is not understood", infra.Brief(m.machine.Data.Naming), m.machine.Name)
		}
	}
}

// placeOf makes a place once. Members one after the other are mostly at the same.
func (objs *objects) placeOf(a placing) *place {
	if n := len(objs.members); n > 0 && objs.members[n-1].placing == a {
		return objs.members[n-1].place
	}
	p := objs.placed[a]
	if p == nil {
		p = &place{placing: a, at: objs.locationOf(a.spec)}
		p.target = objs.targetID(a.cluster, p.at.Server)
		if p.unplaced = objs.unplaced(a); p.unplaced != "" {
			p.target += unplacedSuffix
		}
		objs.placed[a], objs.places = p, append(objs.places, p)
	}
	return p
}

// unplacedSuffix ends the id of the place where machines are looked for whose
// place is not known. One that is found there is found, but one that is not may be
// anywhere.
const unplacedSuffix = "/unplaced"

// unplaced returns what the backup lacks to know where a member's VM is to be. The
// zone names vCenter, datacenter and folder, and CAPV puts them into the
// VSphereVM (pkg/services/vimmachine.go v1.16.1).
func (objs *objects) unplaced(a placing) string {
	switch z := objs.zones[capi.Object{Backup: a.cluster.Backup, Name: a.zone}]; {
	case a.unknown:
		lacks := "are not in " + objs.snapshot.Subject().The()
		if objs.snapshot.IsUnread(a.cluster.Backup, machineKind, vmKind) {
			lacks = "could not be read"
		}
		return "a machine's " + machineKind + " and " + vmKind + " " + lacks
	case a.zone == "":
		return ""
	case z == nil:
		return fmt.Sprintf("a machine's %s %s %s", zoneKind, a.zone, objs.snapshot.Lacks(a.cluster.Backup, zoneKind))
	case objs.domains[capi.Object{Backup: a.cluster.Backup, Name: z.Data.Domain}] == nil:
		return fmt.Sprintf("%s %s of a machine's %s %s", domainKind, z.Data.Domain, zoneKind, objs.snapshot.Lacks(a.cluster.Backup, domainKind))
	default:
		return ""
	}
}

// merge completes a clone spec of a backup as CAPV does: the zone overrides the machine,
// and the VSphereCluster, if there is one, gives the server that neither names.
func (objs *objects) merge(c *backup.Record[vsphereCluster], of int, zone string, spec cloneSpec) cloneSpec {
	if z := objs.zones[capi.Object{Backup: of, Name: zone}]; zone != "" && z != nil {
		spec.Server = cmp.Or(z.Data.Server, spec.Server)
		spec.Folder = cmp.Or(z.Data.Folder, spec.Folder)
		if d := objs.domains[capi.Object{Backup: of, Name: z.Data.Domain}]; d != nil {
			spec.Datacenter = cmp.Or(d.Data.Datacenter, spec.Datacenter)
		}
	}
	if c != nil {
		spec.Server = cmp.Or(spec.Server, c.Data.Server)
	}
	return spec
}

func (objs *objects) locationOf(spec cloneSpec) location {
	spec.Thumbprint = "" // does not count
	p, known := objs.locations[spec]
	if !known {
		p = location{Server: objs.server(spec.Server), Datacenter: datacenterOf(spec.Datacenter)}
		p.Folder, p.Root = folderOf(p.Server, p.Datacenter, spec.Folder)
		objs.locations[spec] = p
	}
	return p
}

// server returns what serverOf does, which is asked for every machine.
func (objs *objects) server(raw string) string {
	s, ok := objs.servers[raw]
	if !ok {
		s, _ = serverOf(raw)
		objs.servers[raw] = s
	}
	return s
}

// vsphereCluster returns the VSphereCluster of a cluster, or nil when the backup
// does not hold it.
func (objs *objects) vsphereCluster(id backup.ClusterID) *backup.Record[vsphereCluster] {
	if c := objs.known[id]; c != nil && c.Infrastructure.Kind == clusterKind && c.Infrastructure.Name != "" {
		if capi.LeadsAway(c.Infrastructure, id.Namespace) {
			return nil
		}
		return objs.clusters[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: c.Infrastructure.Name}]
	}
	return objs.clusters[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: id.Name}]
}

// providers returns the clusters that are CAPV's; they must not be changed.
func (objs *objects) providers() map[backup.ClusterID]string {
	if objs.ours != nil {
		return objs.ours
	}
	objs.ours = make(map[backup.ClusterID]string, len(objs.known))
	for id, c := range objs.known {
		if c.Infrastructure.Group == group && c.Infrastructure.Kind == clusterKind {
			objs.ours[id] = Name
		}
	}
	for _, p := range objs.places {
		objs.ours[p.cluster] = Name
	}
	return objs.ours
}

// clusterIDs returns those in order; they must not be changed.
func (objs *objects) clusterIDs() []backup.ClusterID {
	if objs.sorted == nil {
		objs.sorted = slices.AppendSeq(make([]backup.ClusterID, 0, len(objs.providers())), maps.Keys(objs.providers()))
		slices.SortFunc(objs.sorted, capi.CompareClusters)
	}
	return objs.sorted
}

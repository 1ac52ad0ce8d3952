package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// thing is one object of a vCenter that machines of a cluster need.
type thing struct {
	cluster    backup.ClusterID
	target     string
	kind, name string
	key        infra.Key // zero when the name is in a form that cannot be looked up
}

// users are the objects of the backup that name a thing.
type users struct {
	first string
	more  int
	text  string // names the users, the first by its name; complete says it
}

// user is an object of the backup that names things.
type user struct {
	cluster backup.ClusterID
	machine int    // index into Snapshot.Machines; -1 when it is a template
	name    string // "VSphereMachineTemplate tenant/md-0"
}

// needed collects what the machines' objects name: first the templates that new
// machines are made from, then the machines themselves.
type needed struct {
	objects *objects
	things  map[thing]*users
	// uses are the things of each object that an instance may yet be made from, and
	// order is those objects.
	uses  map[user][]thing
	order []user
	last  mention
}

// mention is what one object named, and where in things. Machines of one owner come one
// after the other and name the same.
type mention struct {
	cluster backup.ClusterID
	spec    cloneSpec
	want    needs
	things  []thing
	users   []*users
}

// needed collects it once.
func (objs *objects) needed() *needed {
	if objs.need == nil {
		objs.need = &needed{objects: objs, things: map[thing]*users{}, uses: map[user][]thing{}}
		objs.need.addTemplates()
		for i := range objs.members {
			objs.need.addMember(&objs.members[i])
		}
		objs.need.complete()
	}
	return objs.need
}

// complete says of every thing who uses it, once for all that need the thing.
func (n *needed) complete() {
	for _, u := range n.things {
		if u.text = u.first; u.more > 0 {
			u.text = fmt.Sprintf("%s and %d more", u.first, u.more)
		}
	}
}

// resources lists what must exist for a machine to be replaced.
func (objs *objects) resources() []infra.Resource {
	n := objs.needed()
	list := make([]infra.Resource, 0, len(n.things))
	for t, by := range n.things {
		r := infra.Resource{Cluster: t.cluster, Target: t.target, Kind: t.kind, Name: t.name, UsedBy: by.text, WhenGone: infra.FailsReplacement}
		if !t.key.IsZero() {
			r.Keys = []infra.Key{t.key}
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b infra.Resource) int {
		return cmp.Or(capi.CompareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name), slices.CompareFunc(a.Keys, b.Keys, capi.CompareKeys))
	})
	return list
}

// addTemplates goes over the templates in use. Of machines in failure domains
// only the VSphereVMs say where they go: the domain overrides the template
// (CAPV pkg/services/vimmachine.go v1.16.1).
func (n *needed) addTemplates() {
	type use struct {
		cluster backup.ClusterID
		name    string
	}
	zoned := map[use]bool{} // in use, and whether only the source of the clone counts
	for _, o := range n.objects.owners() {
		if o.retired && len(o.members) == 0 {
			continue // what its template names may rightly be gone
		}
		inZone := slices.ContainsFunc(o.members, func(m *member) bool { return n.objects.zoneOf(m) != "" })
		for _, t := range o.templates {
			u := use{o.id.Cluster, t.Name}
			zoned[u] = zoned[u] || inZone
		}
	}
	order := slices.SortedFunc(maps.Keys(zoned), func(a, b use) int {
		return cmp.Or(capi.CompareClusters(a.cluster, b.cluster), cmp.Compare(a.name, b.name))
	})
	for _, u := range order {
		t := n.objects.templates[capi.Object{Backup: u.cluster.Backup, Namespace: u.cluster.Namespace, Name: u.name}]
		spec := n.objects.merge(u.cluster, "", t.Data.Spec)
		want := t.Data.Needs
		if zoned[u] {
			want, spec.Folder = needs{Template: want.Template}, ""
		}
		n.add(user{u.cluster, -1, templateKind + " " + t.Namespace + "/" + t.Name}, spec, want, true)
	}
}

// zoneOf is the failure domain of a machine.
func (objs *objects) zoneOf(m *member) string {
	zone := ""
	if m.index >= 0 {
		zone = objs.snapshot.Machines[m.index].FailureDomain
	}
	if m.machine != nil {
		zone = cmp.Or(zone, m.machine.Data.FailureDomain)
	}
	return zone
}

// addMember takes what a machine names from its VSphereVM, into which CAPV has
// merged all. What a VM was cloned from is not needed any more once the VM is
// there and its template says what the next one is cloned from.
func (n *needed) addMember(m *member) {
	var want needs
	spec, name := m.spec, ""
	switch {
	case m.vm != nil:
		want, name = m.vm.Data.Needs, vmKind+" "+m.vm.Namespace+"/"+m.vm.Name
	case m.machine != nil:
		want, name = m.machine.Data.Needs, machineKind+" "+m.machine.Namespace+"/"+m.machine.Name
		if n.objects.zoneOf(m) != "" {
			want, spec.Folder = needs{Template: want.Template}, ""
		}
	default:
		return
	}
	if !m.strong.IsZero() && m.vm != nil && n.objects.templateOf(m) != nil {
		want.Template = ""
	}
	// Without its VSphereVM a machine whose VM is gone is cloned again.
	n.add(user{m.cluster, m.index, name}, spec, want, m.index >= 0 && (m.strong.IsZero() || m.vm == nil))
}

// templateOf is the VSphereMachineTemplate that a machine was made from.
func (objs *objects) templateOf(m *member) *backup.Record[vsphereTemplate] {
	if m.machine == nil || m.machine.Data.Template == "" {
		return nil
	}
	return objs.templates[capi.Object{Backup: m.cluster.Backup, Namespace: m.machine.Namespace, Name: m.machine.Data.Template}]
}

// add notes what one object names. made reports whether an instance may yet be made of it.
func (n *needed) add(u user, spec cloneSpec, want needs, made bool) {
	if _, known := n.uses[u]; made && !known {
		n.uses[u] = nil
		n.order = append(n.order, u)
	}
	spec.Thumbprint = ""
	if l := &n.last; l.cluster != u.cluster || l.spec != spec || !l.want.equal(want) {
		n.last = n.named(u.cluster, spec, want)
	}
	for i, by := range n.last.users {
		if by.first == "" {
			by.first = u.name
		} else {
			by.more++
		}
		if made {
			n.uses[u] = append(n.uses[u], n.last.things[i])
		}
	}
}

// named is what an object of a cluster names that says spec and want.
func (n *needed) named(cluster backup.ClusterID, spec cloneSpec, want needs) mention {
	m := mention{cluster: cluster, spec: spec, want: want}
	at := n.objects.locationOf(spec)
	target := n.objects.targetID(cluster, at.Server)
	note := func(kind, name string, key infra.Key) {
		if name = strings.TrimSpace(name); name == "" {
			return // CAPV takes vCenter's default, if there is one only
		}
		t := thing{cluster, target, kind, name, key}
		by := n.things[t]
		if by == nil {
			by = &users{}
			n.things[t] = by
		}
		m.things, m.users = append(m.things, t), append(m.users, by)
	}
	note("folder", spec.Folder, at.folderKey())
	note("resource pool", want.Pool, at.ask(keyPool, want.Pool))
	note("datastore", want.Datastore, at.ask(keyDatastore, want.Datastore))
	note("template", want.Template, at.ask(keyTemplate, want.Template))
	for i, name := range want.Networks {
		if !slices.Contains(want.Networks[:i], name) {
			note("network", name, at.ask(keyNetwork, name))
		}
	}
	return m
}

// roots are the folders of a datacenter below which govmomi's finder looks for
// each kind (govmomi find/finder.go v0.56.0).
var roots = map[string]string{keyPool: "host", keyDatastore: "datastore", keyNetwork: "network", keyTemplate: "vm"}

// ask is the key of a thing that is to be looked up, or zero when its name is in
// a form that only vCenter can resolve: with wild cards, by a network's switch
// or segment id, or by a path through a host.
func (p location) ask(kind, name string) infra.Key {
	s := strings.TrimSpace(name)
	_, below, absolute := strings.Cut(s, "/"+roots[kind]+"/")
	switch {
	case s == "" || strings.ContainsAny(s, `*?[\`) || strings.Contains(s, ".."):
		return infra.Key{}
	case strings.HasPrefix(s, "/") && (!absolute || below == ""):
		return infra.Key{}
	case kind == keyNetwork && uuidOf(s) != "":
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: p.Server + datacenterPath(p.Datacenter) + asked + s}
}

// asked parts the datacenter from the name in keys of things; no path holds it.
const asked = "//"

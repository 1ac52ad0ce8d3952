package vsphere

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// thing is one object of a vCenter that machines of a cluster need.
type thing struct {
	cluster    backup.ClusterID
	target     string
	kind, name string
	key        infra.Key // zero when the name is in a form that cannot be looked up
}

// usedThing is a thing with the objects of the backup that name it.
type usedThing struct {
	thing
	first string
	more  int
	users string // names the users, the first by its name; complete says it
}

// user is an object of the backup that names things.
type user struct {
	cluster backup.ClusterID
	machine int // index into Snapshot.Machines; -1 when it is a template
	kind    string
	meta    *backup.Meta
}

// name returns a name as in "VSphereMachineTemplate tenant/md-0".
func (u *user) name() string { return u.kind + " " + u.meta.Namespace + "/" + u.meta.Name }

// uses are the things of an object that an instance may yet be made from.
type uses struct {
	user
	things []*usedThing
}

// needed collects what the machines' objects name: first the templates that new
// machines are made from, then the machines themselves.
type needed struct {
	objects *objects
	things  map[thing]*usedThing
	list    []*usedThing // the same
	uses    []uses
	last    mention
}

// mention is what one object named. Machines of one owner come one after the other and
// name the same.
type mention struct {
	cluster backup.ClusterID
	spec    cloneSpec
	want    needs
	things  []*usedThing
}

// needed collects it once.
func (objs *objects) needed() *needed {
	if objs.need == nil {
		room := 6 * len(objs.known) // a cluster needs a folder, a pool, a datastore, a template and a network
		objs.need = &needed{objects: objs, things: make(map[thing]*usedThing, room), list: make([]*usedThing, 0, room), uses: make([]uses, 0, len(objs.templates))}
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
	for _, t := range n.list {
		if t.users = t.first; t.more > 0 {
			t.users = t.first + " and " + strconv.Itoa(t.more) + " more"
		}
	}
}

// resources lists what must exist for a machine to be replaced.
func (objs *objects) resources() []infra.Resource {
	n := objs.needed()
	sorting.By(n.list, compareThings)
	list, keys := make([]infra.Resource, len(n.list)), make([]infra.Key, len(n.list))
	for i, t := range n.list {
		list[i] = infra.Resource{Cluster: t.cluster, Target: t.target, Kind: t.kind, Name: t.name, UsedBy: t.users, WhenGone: code.FailsReplacement}
		if keys[i] = t.key; !t.key.IsZero() {
			list[i].Keys = keys[i : i+1 : i+1]
		}
	}
	return list
}

func compareThings(a, b *usedThing) int {
	if c := capi.CompareClusters(a.cluster, b.cluster); c != 0 { // as of most: the rest is not compared
		return c
	}
	return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), capi.CompareKeys(a.key, b.key))
}

// addTemplates goes over the templates in use. Of machines in failure domains
// only the VSphereVMs say where they go: the domain overrides the template
// (CAPV pkg/services/vimmachine.go v1.16.1).
func (n *needed) addTemplates() {
	type use struct {
		*backup.Record[vsphereTemplate]
		zoned bool // used in a zone, so that only the source of the clone counts
	}
	var in []use
	owners := n.objects.ownersOf()
	for _, id := range n.objects.clusterIDs() {
		in = in[:0]
		for _, o := range owners[id] {
			if o.retired && len(o.members) == 0 {
				continue // what its template names may rightly be gone
			}
			inZone := slices.ContainsFunc(o.members, func(m *member) bool { return n.objects.zoneOf(m) != "" })
			for _, t := range o.templates {
				in = append(in, use{t, inZone})
			}
		}
		sorting.By(in, func(a, b use) int { return cmp.Compare(a.Name, b.Name) })
		for i := range in {
			t := &in[i]
			if i+1 < len(in) && in[i+1].Record == t.Record {
				in[i+1].zoned = in[i+1].zoned || t.zoned
				continue
			}
			spec, want := n.objects.merge(owners[id][0].infra, id.Backup, "", t.Data.Spec), t.Data.Needs
			if t.zoned {
				want, spec.Folder = needs{Template: want.Template, Zoned: true}, ""
			}
			n.add(user{id, -1, templateKind, &t.Meta}, spec, want, true)
		}
	}
}

// zoneOf returns the failure domain of a machine.
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
	spec, u := m.spec, user{cluster: m.cluster, machine: m.index}
	switch {
	case m.vm != nil:
		want, u.kind, u.meta = m.vm.Data.Needs, vmKind, &m.vm.Meta
	case m.machine != nil:
		want, u.kind, u.meta = m.machine.Data.Needs, machineKind, &m.machine.Meta
		if n.objects.zoneOf(m) != "" {
			want, spec.Folder = needs{Template: want.Template, Zoned: true}, ""
		}
	default:
		return
	}
	if !m.strong.IsZero() && m.vm != nil && n.objects.templateOf(m) != nil {
		want.Template = ""
	}
	// Without its VSphereVM a machine whose VM is gone is cloned again.
	n.add(u, spec, want, m.index >= 0 && (m.strong.IsZero() || m.vm == nil))
}

// templateOf returns the VSphereMachineTemplate that a machine was made from.
func (objs *objects) templateOf(m *member) *backup.Record[vsphereTemplate] {
	if m.machine == nil || m.machine.Data.Template == "" {
		return nil
	}
	return objs.templates[capi.Object{Backup: m.cluster.Backup, Namespace: m.machine.Namespace, Name: m.machine.Data.Template}]
}

// add notes what one object names, once for each object. made reports whether an instance
// may yet be made of it.
func (n *needed) add(u user, spec cloneSpec, want needs, made bool) {
	spec.Thumbprint = ""
	if l := &n.last; l.cluster != u.cluster || l.spec != spec || !l.want.equal(want) {
		n.last = n.named(u.cluster, spec, want)
	}
	if made {
		n.uses = append(n.uses, uses{u, n.last.things})
	}
	for _, t := range n.last.things {
		if t.first == "" {
			t.first = u.name()
		} else {
			t.more++
		}
	}
}

// named returns what an object of a cluster names that says spec and want.
func (n *needed) named(cluster backup.ClusterID, spec cloneSpec, want needs) mention {
	m := mention{cluster: cluster, spec: spec, want: want}
	at := n.objects.locationOf(spec)
	target := n.objects.targetID(cluster, at.Server)
	note := func(kind, name string, key infra.Key) {
		if name = strings.TrimSpace(name); name == "" {
			if key.IsZero() || want.Zoned {
				return
			}
			name = theOnlyOne
		}
		k := thing{cluster, target, kind, name, key}
		if at := len(m.things); at < len(n.last.things) && n.last.things[at].thing == k { // as most objects of a cluster
			m.things = append(m.things, n.last.things[at])
			return
		}
		t := n.things[k]
		if t == nil {
			t = &usedThing{thing: k}
			n.things[k], n.list = t, append(n.list, t)
		}
		m.things = append(m.things, t)
	}
	if strings.TrimSpace(spec.Folder) != "" {
		note("folder", spec.Folder, at.folderKey())
	}
	note("resource pool", want.Pool, at.ask(KeyPool, want.Pool))
	if want.Policy == "" || want.Datastore != "" { // else those that fit the policy
		note("datastore", want.Datastore, at.ask(KeyDatastore, want.Datastore))
	}
	note("template", want.Template, at.ask(KeyTemplate, want.Template))
	for i, name := range want.Networks {
		if !slices.Contains(want.Networks[:i], name) {
			note("network", name, at.ask(KeyNetwork, name))
		}
	}
	return m
}

// Roots are the folders of a datacenter below which govmomi's finder looks for
// each kind (govmomi find/finder.go v0.56.0).
var Roots = map[infra.KeyKind]string{KeyPool: "host", KeyDatastore: "datastore", KeyNetwork: "network", KeyTemplate: "vm"}

// theOnlyOne stands for the name of a thing that an object leaves open: CAPV takes the
// only one of the datacenter, and none of several.
const theOnlyOne = "(the only one)"

// ask returns the key of a thing that is to be looked up, or zero when its name is in
// a form that only vCenter can resolve: with wild cards, by a network's switch
// or segment id, or by a path through a host.
func (p location) ask(kind infra.KeyKind, name string) infra.Key {
	s := strings.TrimSpace(name)
	_, below, absolute := strings.Cut(s, "/"+Roots[kind]+"/")
	switch {
	case s == "" && (kind == KeyPool || kind == KeyDatastore):
	case s == "" || strings.ContainsAny(s, `*?[\`) || strings.Contains(s, ".."):
		return infra.Key{}
	case strings.HasPrefix(s, "/") && (!absolute || below == ""):
		return infra.Key{}
	case kind == KeyNetwork && UUID(s) != "":
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: p.Server + datacenterPath(p.Datacenter) + Separator + s}
}

// Separator parts the datacenter from the name in keys of things, and a compute cluster from
// its VM group; no path holds it.
const Separator = "//"

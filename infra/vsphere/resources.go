package vsphere

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sort"
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

// counted is how many objects name a resource beside the first, which its UsedBy holds until
// complete says who all are, and where the resource is in the list whose hash is the same; -1: nowhere.
type counted struct{ more, same int32 }

// user is an object of the backup that names things.
type user struct {
	cluster backup.ClusterID
	machine int // index into Snapshot.Machines; -1 when it is a template
	kind    string
	meta    *backup.Meta
}

// needed collects what the machines' objects name: first the templates that new
// machines are made from, then the machines themselves.
type needed struct {
	objects *objects
	list    []infra.Resource
	keys    []infra.Key // of each, or zero
	counts  []counted
	seed    maphash.Seed
	at      map[uint64]int32 // in the list, by the hash of the thing
	recipes []infra.Recipe   // of objects that an instance may yet be made from
	uses    [][]int32        // what each of these needs
	last    mention
}

// mention is what one object named. Machines of one owner come one after the other and
// name the same.
type mention struct {
	cluster backup.ClusterID
	spec    cloneSpec
	want    needs
	things  []int32
}

// needed lists what must exist for a machine to be replaced, and what templates and machines
// without an instance need.
func (objs *objects) needed() ([]infra.Resource, []infra.Recipe) {
	room, owners := 6*len(objs.known), templates.In(objs.snapshot).Len() // a cluster needs a folder, a pool, a datastore, a template and a network
	n := needed{
		objects: objs, seed: maphash.MakeSeed(), at: make(map[uint64]int32, room),
		list: make([]infra.Resource, 0, room), keys: make([]infra.Key, 0, room), counts: make([]counted, 0, room),
		recipes: make([]infra.Recipe, 0, owners), uses: make([][]int32, 0, owners),
	}
	n.addTemplates()
	for i := range objs.members {
		n.addMember(&objs.members[i])
	}
	n.complete()
	sort.Slice(n.list, func(i, j int) bool { return compareThings(&n.list[i], &n.list[j]) < 0 }) // they are large
	return n.list, n.recipes
}

// complete says of every thing who uses it, once for all that need the thing.
func (n *needed) complete() {
	var first, users string
	var more int32
	for i := range n.list {
		r := &n.list[i]
		if !n.keys[i].IsZero() {
			r.Keys = n.keys[i : i+1 : i+1]
		}
		if of := n.counts[i].more; of > 0 {
			if r.UsedBy != first || of != more {
				first, more = r.UsedBy, of
				users = first + " and " + strconv.Itoa(int(more)) + " more"
			}
			r.UsedBy = users
		}
	}
	for i := range n.recipes {
		if i > 0 && slices.Equal(n.uses[i], n.uses[i-1]) {
			n.recipes[i].Needs = n.recipes[i-1].Needs
			continue
		}
		n.recipes[i].Needs = make([]infra.Need, len(n.uses[i]))
		for j, t := range n.uses[i] {
			n.recipes[i].Needs[j] = infra.Need{Kind: n.list[t].Kind, Name: n.list[t].Name, UsedBy: n.list[t].UsedBy}
		}
	}
}

func compareThings(a, b *infra.Resource) int {
	if c := capi.CompareClusters(a.Cluster, b.Cluster); c != 0 { // as of most: the rest is not compared
		return c
	}
	return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), slices.CompareFunc(a.Keys, b.Keys, capi.CompareKeys))
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
	return templates.In(objs.snapshot).Named(m.cluster.Backup, m.machine.Namespace, m.machine.Data.Template)
}

// add notes what one object names, once for each object. made reports whether an instance
// may yet be made of it.
func (n *needed) add(u user, spec cloneSpec, want needs, made bool) {
	spec.Thumbprint = ""
	if l := &n.last; l.cluster != u.cluster || l.spec != spec || !l.want.equal(want) {
		n.last = n.named(u.cluster, spec, want)
	}
	name := ""
	title := func() string { // once
		if name == "" {
			name = u.kind + " " + u.meta.Namespace + "/" + u.meta.Name
		}
		return name
	}
	if made {
		n.recipes, n.uses = append(n.recipes, infra.Recipe{Cluster: u.cluster, Machine: u.machine, Object: title()}), append(n.uses, n.last.things)
	}
	for _, t := range n.last.things {
		if r := &n.list[t]; r.UsedBy == "" {
			r.UsedBy = title()
		} else {
			n.counts[t].more++
		}
	}
}

// place returns where a thing is in the list, and appends it where it is not.
func (n *needed) place(t thing) int32 {
	hash := maphash.Comparable(n.seed, t)
	first, known := n.at[hash]
	if !known {
		first = -1
	}
	for i := first; i >= 0; i = n.counts[i].same {
		if n.is(i, &t) {
			return i
		}
	}
	i := int32(len(n.list))
	n.list = append(n.list, infra.Resource{Cluster: t.cluster, Target: t.target, Kind: t.kind, Name: t.name, WhenGone: code.FailsReplacement})
	n.keys, n.counts, n.at[hash] = append(n.keys, t.key), append(n.counts, counted{same: first}), i
	return i
}

func (n *needed) is(i int32, t *thing) bool {
	r := &n.list[i]
	return r.Cluster == t.cluster && r.Target == t.target && r.Kind == t.kind && r.Name == t.name && n.keys[i] == t.key
}

// named returns what an object of a cluster names that says spec and want.
func (n *needed) named(cluster backup.ClusterID, spec cloneSpec, want needs) mention {
	m := mention{cluster: cluster, spec: spec, want: want, things: make([]int32, 0, 4+len(want.Networks))}
	at := n.objects.locationOf(spec)
	target := n.objects.targetID(cluster, at.Server)
	note := func(kind, name string, key infra.Key) {
		if name = strings.TrimSpace(name); name == "" {
			if key.IsZero() || want.Zoned {
				return
			}
			name = theOnlyOne
		}
		t := thing{cluster, target, kind, name, key}
		if at := len(m.things); at < len(n.last.things) && n.is(n.last.things[at], &t) { // as most objects of a cluster
			m.things = append(m.things, n.last.things[at])
			return
		}
		m.things = append(m.things, n.place(t))
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

package list

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// section is a kind of things that machines need, with the objects that are
// read to find them by name and by path.
type section struct {
	kind infra.KeyKind
	read []string // types of objects; paths lead over them
	// named are those of the types that a mere name finds; a path finds all.
	named []string
}

// sections are what vCenter is asked for in addition to VMs and folders. A resource
// pool may be given as the path of its cluster.
var sections = []section{
	{vsphere.KeyPool, []string{"ResourcePool", "VirtualApp", "ComputeResource", "ClusterComputeResource"}, []string{"ResourcePool"}},
	{vsphere.KeyDatastore, []string{"Datastore", "StoragePod"}, []string{"Datastore"}},
	{vsphere.KeyNetwork, networkTypes, networkTypes},
}

var networkTypes = []string{"Network", "OpaqueNetwork", "DistributedVirtualPortgroup", "DistributedVirtualSwitch", "VmwareDistributedVirtualSwitch"}

// templateSection finds templates among the VMs, which are listed anyway.
var templateSection = section{kind: vsphere.KeyTemplate, named: []string{vmType}}

const vmType = "VirtualMachine"

// catalogue finds things of one kind as govmomi's finder does: by managed object
// id, by path, or by name anywhere in the datacenter.
type catalogue struct {
	section
	folders *finder
	nodes   map[string]node // by managed object id
	byName  map[string][]string
	byPath  map[string]int
	lost    map[string]bool // names of things whose path or name could not be read
	wanted  map[string]bool // of VMs, which are many: the only names and ids to keep
}

func newCatalogue(s section, folders *finder) *catalogue {
	return &catalogue{section: s, folders: folders, nodes: map[string]node{}}
}

func (c *catalogue) add(o types.ObjectContent) {
	n := node{kind: o.Obj.Type}
	for _, p := range o.PropSet {
		switch p.Name {
		case propName:
			n.name = word(p.Val)
		case propParent:
			n.parent = reference(p.Val)
		}
	}
	c.nodes[o.Obj.Value] = n
}

// newTemplates returns a catalogue of the VMs that the backup may mean by a template.
func newTemplates(probes []infra.Key, folders *finder) *catalogue {
	c := newCatalogue(templateSection, folders)
	c.wanted = map[string]bool{"": true}
	for _, k := range ofKind(probes, vsphere.KeyTemplate) {
		_, name, _ := strings.Cut(k.Value, vsphere.Separator)
		name = idOf(name)
		c.wanted[vsphere.Component(name[strings.LastIndex(name, "/")+1:])] = true
	}
	return c
}

// addVM keeps a VM when its name or id is wanted. CAPV takes a UUID for a
// template's instance UUID (pkg/services/govmomi/template/template.go v1.16.1).
func (c *catalogue) addVM(m vm) {
	n := node{kind: vmType, name: m.name, parent: c.folders.tree.folderOf(m.parent, m.vapp)}
	if c.wanted[vsphere.Component(m.name)] || c.wanted[m.ref] {
		c.nodes[m.ref] = n
	}
	if m.instanceUUID != "" && c.wanted[m.instanceUUID] {
		c.nodes[m.instanceUUID] = n
	}
}

var typedRef = lazyregexp.New(`^[A-Z][A-Za-z]+:([a-z]+-[0-9]+)$`)

// idOf takes the type off a managed object id and normalises UUIDs; any other
// name it leaves alone.
func idOf(name string) string {
	if m := typedRef.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return cmp.Or(vsphere.UUID(name), name)
}

// index has to be called once all nodes are there.
func (c *catalogue) index() {
	c.byName, c.byPath, c.lost = map[string][]string{}, map[string]int{}, map[string]bool{}
	for id, n := range c.nodes {
		name := vsphere.Component(n.name)
		if slices.Contains(c.named, n.kind) {
			c.byName[name] = append(c.byName[name], id)
		}
		if at := c.folderPath(id); at.path != "" {
			c.byPath[at.path]++
		} else {
			c.lost[name] = true
		}
	}
}

// folderPath returns where a thing is: below other things, then below folders.
func (c *catalogue) folderPath(id string) folderPath {
	var parts []string
	for range maxDepth {
		n, ok := c.nodes[id]
		if !ok {
			break
		}
		if n.name == "" {
			return folderPath{}
		}
		parts = append(parts, vsphere.Component(n.name))
		id = n.parent
	}
	at := c.folders.paths[id]
	if at.path != "" {
		at.path += joinReversed(parts)
	}
	return at
}

// count returns how many things answer what a key asks for, and whether that is sure when
// none does: a thing that might be it may be hidden in part.
func (c *catalogue) count(endpoint string, k infra.Key) (found int, sure bool) {
	rest, ok := strings.CutPrefix(k.Value, endpoint+"/")
	datacenter, name, cut := strings.Cut(rest, vsphere.Separator)
	if !ok || !cut {
		return 0, false
	}
	name = idOf(name)
	if n, known := c.nodes[name]; known && slices.Contains(c.named, n.kind) {
		return 1, true
	}
	in := c.folders.datacenters[datacenter]
	if name == "" {
		return c.countAll(in), len(in) > 0 && len(c.lost) == 0
	}
	last := vsphere.Component(name[strings.LastIndex(name, "/")+1:])
	sure = !c.lost[last] && !c.lost[""] && len(in) > 0
	if !strings.Contains(name, "/") {
		for _, id := range c.byName[last] {
			if slices.Contains(in, c.folderPath(id).datacenter) {
				found++
			}
		}
		return found, sure
	}
	if strings.HasPrefix(name, "/") {
		return c.byPath[vsphere.CleanPath(name)], sure
	}
	for _, dc := range in {
		at := c.folders.paths[dc].path
		if at != "" {
			found += c.byPath[at+"/"+vsphere.Roots[c.kind]+vsphere.CleanPath(name)]
		}
		sure = sure && at != ""
	}
	return found, sure
}

// countAll counts what CAPV takes where an object names nothing: the pool of the only
// compute resource in the datacenter's own host folder, and the only datastore (govmomi
// find/finder.go v0.56.0, DefaultResourcePool and DefaultDatastore).
func (c *catalogue) countAll(in []string) (n int) {
	for id, of := range c.nodes {
		if !slices.Contains(c.named, of.kind) {
			continue
		}
		at := c.folderPath(id)
		below := strings.TrimPrefix(at.path, at.dcPath+"/"+vsphere.Roots[c.kind]+"/")
		isDefault := c.kind != vsphere.KeyPool || path.Base(below) == "Resources" && strings.Count(below, "/") == 1
		if isDefault && slices.Contains(in, at.datacenter) {
			n++
		}
	}
	return n
}

// answer adds the asked things of the kind that exist to a listing. The kind is
// unread when one that does not seem to exist may only be hidden.
func (c *catalogue) answer(t infra.Target, l *infra.Listing) {
	c.index()
	unread := false
	for _, k := range ofKind(t.Probes, c.kind) {
		switch found, sure := c.count(t.Endpoint, k); {
		case found > 0:
			l.ProbesFound = append(l.ProbesFound, k)
			if found > 1 {
				l.Ambiguous = append(l.Ambiguous, k)
			}
		case !sure:
			unread = true
		}
	}
	if unread {
		l.Unread = append(l.Unread, c.kind)
	}
}

func ofKind(keys []infra.Key, kind infra.KeyKind) []infra.Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k infra.Key) bool { return k.Kind != kind })
}

// readNeeded looks for the resource pools, datastores and networks that the
// backup names: per kind that is asked for one call for a view and one for each
// 1,250 objects, so 6 in most vCenters. What cannot be read costs nothing but
// itself. An account that sees not one of a kind has not seen that it is gone.
func (v *vcenter) readNeeded(ctx context.Context, t infra.Target, folders *finder, l *infra.Listing) {
	var broken error
	for _, s := range sections {
		if len(ofKind(t.Probes, s.kind)) == 0 {
			continue
		}
		c := newCatalogue(s, folders)
		err := v.eachOf(ctx, s.read, []types.PropertySpec{{Type: "ManagedEntity", PathSet: []string{propName, propParent}}}, v.limits.things, c.add)
		if err != nil && broken == nil {
			broken = err
		}
		if err != nil || len(c.nodes) == 0 {
			l.Unread = append(l.Unread, s.kind)
			continue
		}
		c.answer(t, l)
	}
	if broken != nil {
		l.Warnings = append(l.Warnings, fmt.Sprintf("what machines need in vCenter %s beside VMs could not be read completely: %s", t.Endpoint, t.Redaction.Brief(broken.Error())))
	}
}

package list

import (
	"maps"
	"slices"
	"strings"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// treeKinds are what a VM's inventory path is made of, and what the account may do in
// folders. A VM inside a vApp has the vApp's folder (vSphere API reference,
// VirtualMachine.parentVApp).
var treeKinds = []types.PropertySpec{
	{Type: "Folder", PathSet: []string{propName, propParent, propRole}},
	{Type: "Datacenter", PathSet: []string{propName, propParent}},
	{Type: "VirtualApp", PathSet: []string{propName, propParent, propFolder}},
}

// node is a folder, datacenter or vApp.
type node struct {
	kind, name string
	parent     string // managed object id
	folder     string // of a vApp
	// reads says that the account's role on a folder lets it read, blind that it does not:
	// one that did not come says neither.
	reads, blind bool
}

// tree is the folders of a vCenter by managed object id.
type tree struct {
	root  string // id of the root folder, which has no part in paths
	nodes map[string]node
}

func newTree(root string) *tree { return &tree{root: root, nodes: map[string]node{}} }

func (t *tree) add(o types.ObjectContent) {
	n := node{kind: o.Obj.Type}
	for _, p := range o.PropSet {
		switch p.Name {
		case propName:
			n.name = word(p.Val)
		case propParent:
			n.parent = reference(p.Val)
		case propFolder:
			n.folder = reference(p.Val)
		case propRole:
			n.reads = mayRead(p.Val)
			n.blind = !n.reads
		}
	}
	for _, p := range o.MissingSet {
		n.blind = n.blind || p.Path == propRole
	}
	t.nodes[o.Obj.Value] = n
}

// maxDepth bounds chains of parents: a hostile vCenter may answer a circle.
const maxDepth = 100

// folderPath is where a folder is.
type folderPath struct {
	path       string // inventory path, empty when an ancestor is hidden
	datacenter string // managed object id
	dcPath     string
}

// folderPath finds the path of a folder by its ancestors.
func (t *tree) folderPath(id string) folderPath {
	var s folderPath
	var parts []string
	below := 0 // parts below the datacenter
	size := 0
	for range maxDepth {
		if id == t.root {
			s.path = joinReversed(parts)
			if s.datacenter != "" {
				s.dcPath = joinReversed(parts[below:])
			}
			return s
		}
		n, ok := t.nodes[id]
		if size += len(n.name); !ok || n.name == "" || size > maxPath {
			break // hidden from the account, or nobody's folder
		}
		if n.kind == "Datacenter" && s.datacenter == "" {
			s.datacenter, below = id, len(parts)
		}
		parts = append(parts, vsphere.Component(n.name))
		id = n.parent
	}
	return folderPath{datacenter: s.datacenter}
}

func joinReversed(parts []string) string {
	var b strings.Builder
	for _, p := range slices.Backward(parts) {
		b.WriteString("/" + p)
	}
	return b.String()
}

// folderOf returns the folder of a VM: its parent, or its vApp's.
func (t *tree) folderOf(parent, vapp string) string {
	for range maxDepth {
		if parent != "" || vapp == "" {
			return parent
		}
		n := t.nodes[vapp]
		parent, vapp = n.folder, n.parent
		if t.nodes[vapp].kind != "VirtualApp" {
			vapp = ""
		}
	}
	return ""
}

// finder looks folders up as CAPV's does.
type finder struct {
	tree           *tree
	paths          map[string]folderPath
	byPath, byName map[string][]string // folders
	datacenters    map[string][]string // ids by name, by path without its slash, by id, and all under "*"
}

func newFinder(t *tree) *finder {
	f := &finder{t, map[string]folderPath{}, map[string][]string{}, map[string][]string{}, map[string][]string{}}
	for _, id := range slices.Sorted(maps.Keys(t.nodes)) {
		n, s := t.nodes[id], t.folderPath(id)
		f.paths[id] = s
		switch n.kind {
		case "Folder":
			if s.path != "" {
				f.byPath[s.path] = append(f.byPath[s.path], id)
			}
			f.byName[vsphere.Component(n.name)] = append(f.byName[vsphere.Component(n.name)], id)
		case "Datacenter":
			forms := []string{vsphere.Component(n.name), strings.TrimPrefix(s.path, "/"), id, vsphere.AnyDatacenter}
			slices.Sort(forms)
			for _, form := range slices.Compact(forms) {
				f.datacenters[form] = append(f.datacenters[form], id)
			}
		}
	}
	return f
}

// datacenterFacts returns the datacenters that the account sees: managed object id and path, which
// of one below a folder that it does not see is the name.
func (f *finder) datacenterFacts() infra.Facts {
	var all infra.Facts
	for _, id := range f.datacenters[vsphere.AnyDatacenter] {
		path := f.paths[id].path
		if path == "" {
			path = "/" + vsphere.Component(f.tree.nodes[id].name)
		}
		all = append(all, infra.Fact{Name: vsphere.FactDatacenter, Value: id + " " + path})
	}
	return all
}

// resolve finds the folders that the backup asks for: by managed object id, by
// path, or by name below a datacenter. It returns the forms that were asked
// for, by the managed object id of the folder.
func (f *finder) resolve(endpoint string, asked []infra.Key) map[string][]string {
	found := map[string][]string{}
	for _, k := range ofKind(asked, vsphere.KeyFolder) {
		rest, ok := strings.CutPrefix(k.Value, endpoint+"/")
		if !ok {
			continue
		}
		for _, id := range f.lookUp(rest) {
			if !slices.Contains(found[id], k.Value) {
				found[id] = append(found[id], k.Value)
			}
		}
	}
	return found
}

// ambiguous returns the folders that the backup asks for and of which there are several.
func (f *finder) ambiguous(endpoint string, asked []infra.Key) []infra.Key {
	return slices.DeleteFunc(ofKind(asked, vsphere.KeyFolder), func(k infra.Key) bool {
		rest, ours := strings.CutPrefix(k.Value, endpoint+"/")
		return !ours || len(f.lookUp(rest)) < 2
	})
}

func (f *finder) lookUp(rest string) []string {
	if vsphere.FolderRef.MatchString(rest) && f.tree.nodes[rest].kind == "Folder" {
		return []string{rest}
	}
	if ids := f.byPath["/"+rest]; ids != nil {
		return ids
	}
	if dc, name, deep := strings.Cut(rest, "/vm/.../"); deep {
		var ids []string
		for _, id := range f.byName[name] {
			s := f.paths[id]
			if slices.Contains(f.datacenters[dc], s.datacenter) && strings.HasPrefix(s.path, s.dcPath+"/vm/") {
				ids = append(ids, id)
			}
		}
		return ids
	}
	dc, below, _ := strings.Cut(rest, "/") // a datacenter's path was found above, a name or id has no slash
	var ids []string
	for _, d := range f.datacenters[dc] {
		ids = append(ids, f.byPath[f.paths[d].path+"/"+below]...)
	}
	return ids
}

// foundAmong lists the folders among the probes that were resolved, in the order of asking.
func foundAmong(asked []infra.Key, resolved map[string][]string) []infra.Key {
	have := map[string]bool{}
	for _, forms := range resolved {
		for _, f := range forms {
			have[f] = true
		}
	}
	var keys []infra.Key
	for _, k := range ofKind(asked, vsphere.KeyFolder) {
		if have[k.Value] {
			keys = append(keys, k)
		}
	}
	return keys
}

package list

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/report/code"
)

func contains(keys []infra.Key, kind infra.KeyKind, value string) bool {
	return slices.Contains(keys, infra.Key{Kind: kind, Value: value})
}

// treeOf builds the folders of a vCenter: id, kind, name, parent.
func treeOf(rows [][4]string) *tree {
	t := newTree("group-d1")
	for _, r := range rows {
		t.add(types.ObjectContent{
			Obj: types.ManagedObjectReference{Type: r[1], Value: r[0]},
			PropSet: []types.DynamicProperty{
				{Name: propName, Val: r[2]},
				{Name: propParent, Val: types.ManagedObjectReference{Value: r[3]}},
			},
		})
	}
	return t
}

var smallTree = treeOf([][4]string{
	{"datacenter-2", "Datacenter", "DC0", "group-d1"},
	{"group-v3", "Folder", "vm", "datacenter-2"},
	{"group-v4", "Folder", "capi", "group-v3"},
	{"group-v5", "Folder", "prod", "group-v4"},
	{"group-v6", "Folder", "a%2fb 100%25", "group-v4"},
	{"group-d7", "Folder", "Europe", "group-d1"},
	{"datacenter-8", "Datacenter", "DC1", "group-d7"},
	{"group-v9", "Folder", "vm", "datacenter-8"},
	{"group-v10", "Folder", "prod", "group-v9"},
	{"group-v11", "Folder", "vm", "group-v10"},
	{"group-h12", "Folder", "host", "datacenter-8"},
	{"group-v20", "Folder", "lost", "group-v19"}, // its parent is hidden
	{"group-v30", "Folder", "circle", "group-v31"},
	{"group-v31", "Folder", "circle", "group-v30"},
})

// expectedAt returns the machine of a backup that writes its place so.
func expectedAt(t *testing.T, datacenter, folder string) infra.ExpectedMachine {
	t.Helper()
	b := vspheretest.NewBackup().Set(vspheretest.VMs, "status.vmRef", "")
	s, _ := b.Set(vspheretest.VMs, "spec.datacenter", datacenter).Set(vspheretest.VMs, "spec.folder", folder).Load(t, want)
	return New().Expected(s).Machines[0]
}

// TestFoldersMeet follows the whole way of a folder: as a backup writes it, in the
// key of an expected machine, looked up in vCenter, on the instance.
func TestFoldersMeet(t *testing.T) {
	const vc = "vc1.example:443"
	f := newFinder(smallTree)
	for _, c := range []struct {
		datacenter, folder string
		want               []string // managed object ids
	}{
		{"DC0", "/DC0/vm/capi/prod", []string{"group-v5"}},
		{"DC0", "/DC0/vm/capi/prod/", []string{"group-v5"}},
		{"/DC0", " /DC0//vm/capi/prod", []string{"group-v5"}},
		{"DC0", "capi/prod", []string{"group-v5"}},
		{"DC0", "vm/capi/prod", []string{"group-v5"}},
		{"DC0", "./capi/prod", []string{"group-v5"}},
		{"DC0", "prod", []string{"group-v5"}},
		{"datacenter-2", "prod", []string{"group-v5"}},
		{"Datacenter:datacenter-2", "capi/prod", []string{"group-v5"}},
		{"", "prod", []string{"group-v10", "group-v5"}},
		{"*", "capi/prod", []string{"group-v5"}},
		{"DC0", "group-v5", []string{"group-v5"}},
		{"DC0", "Folder:group-v5", []string{"group-v5"}},
		{"DC0", "/DC0/vm/capi/a%2fb 100%25", []string{"group-v6"}},
		{"DC1", "/Europe/DC1/vm/prod", []string{"group-v10"}},
		{"Europe/DC1", "prod", []string{"group-v10"}},
		{"/Europe/DC1", "vm/prod", []string{"group-v10"}},
		{"DC1", "prod", []string{"group-v10"}},
		{"DC0", "", []string{"group-v3"}},
		{"DC0", "vm", []string{"group-v3"}},
		{"DC0", "/DC0/vm", []string{"group-v3"}},
		{"DC1", "/Europe/DC1/vm", []string{"group-v9"}},
		{"/Europe/DC1", "", []string{"group-v9"}},
		{"/Europe/DC1", "/Europe/DC1/vm/prod/vm", []string{"group-v11"}},
		{"", "", []string{"group-v3", "group-v9"}},
		{"DC0", "/DC0/vm/absent", nil},
		{"DC9", "prod", nil},
		{"DC0", "lost", nil},
		{"DC0", "host", nil},
		{"DC1", "host", nil},
		{"DC0", "group-v99", nil},
	} {
		m := expectedAt(t, c.datacenter, c.folder)
		key := infra.Key{Kind: vsphere.KeyFolder, Value: m.Home.Folder}
		found := f.resolve(vc, []infra.Key{key})
		ids := slices.Sorted(maps.Keys(found))
		if !slices.Equal(ids, c.want) {
			t.Errorf("%q in %q is %s: found %v, want %v", c.folder, c.datacenter, m.Home.Folder, ids, c.want)
		}
		for _, id := range c.want {
			in := inventory{identity: "vc-id", endpoint: vc, folders: f, asked: found}
			i := in.instance(vm{ref: "vm-1", name: "prod-vm-1", parent: id, uuid: "00000000-0000-0000-0000-000000000001"})
			if !i.HasKey(key) || !i.HasKey(m.Weak[0]) {
				t.Errorf("a VM in %s has %v, want %s", id, i.Keys, key)
			}
		}
	}
}

func TestDatacentersMeet(t *testing.T) {
	f := newFinder(smallTree)
	in := inventory{identity: "vc-id", endpoint: "vc:443", folders: f}
	i := in.instance(vm{ref: "vm-1", name: "web", parent: "group-v10", uuid: "00000000-0000-0000-0000-000000000001"})
	for raw, want := range map[string]bool{
		"DC1": true, " DC1 ": true, "/Europe/DC1": true, "Europe/DC1/": true, "datacenter-8": true, "Datacenter:datacenter-8": true,
		"DC0": false, "/DC1": false, "datacenter-2": false,
	} {
		if k := expectedAt(t, raw, "/DC0/vm/prod").Home.Within; i.HasKey(k) != want {
			t.Errorf("%q: the VM has %v", raw, i.Keys)
		}
	}
	for _, raw := range []string{"", "*", "/*", "."} {
		if k := expectedAt(t, raw, "/DC0/vm/prod").Home.Within; !k.IsZero() {
			t.Errorf("%q narrows to %s", raw, k)
		}
	}
}

func TestHiddenParents(t *testing.T) {
	f := newFinder(smallTree)
	in := inventory{identity: "vc-id", endpoint: "vc:443", folders: f}
	for _, parent := range []string{"group-v20", "group-v30", "", "group-v77"} {
		readable := in.instance(vm{ref: "vm-1", name: "web", parent: parent, uuid: "00000000-0000-0000-0000-000000000001"})
		blind := in.instance(vm{ref: "vm-1", name: "web", parent: parent})
		if readable.Path != "" || contains(readable.Keys, keyDatacenter, "DC0") {
			t.Errorf("below %q: path %q, keys %v", parent, readable.Path, readable.Keys)
		}
		if !contains(blind.Keys, keyDatacenter, "DC0") || !contains(blind.Keys, keyDatacenter, "DC1") {
			t.Errorf("below %q an unreadable VM may be anywhere: %v", parent, blind.Keys)
		}
	}
}

func TestVMInVAppHasItsFolder(t *testing.T) {
	tr := treeOf([][4]string{
		{"datacenter-2", "Datacenter", "DC0", "group-d1"},
		{"group-v3", "Folder", "vm", "datacenter-2"},
		{"resgroup-v2", "VirtualApp", "inner", "resgroup-v1"},
	})
	tr.nodes["resgroup-v1"] = node{kind: "VirtualApp", name: "outer", parent: "resgroup-8", folder: "group-v3"}
	in := inventory{identity: "vc-id", endpoint: "vc:443", folders: newFinder(tr)}
	if i := in.instance(vm{ref: "vm-1", name: "web", vapp: "resgroup-v2"}); i.Path != "/DC0/vm/web" {
		t.Errorf("path %q", i.Path)
	}
}

// TestPropertiesThatAreMissing: each costs only itself.
func TestPropertiesThatAreMissing(t *testing.T) {
	const id = "00000000-0000-0000-0000-00000000000a"
	g := newGathering(&inventory{identity: "vc-id", endpoint: "vc:443", folders: newFinder(smallTree)}, &vsphere.RecordedMachines{}, &infra.Target{}, &infra.Listing{})
	o := types.ObjectContent{
		Obj: types.ManagedObjectReference{Type: "VirtualMachine", Value: "vm-1"},
		PropSet: []types.DynamicProperty{
			{Name: propName, Val: "web"},
			{Name: propSummaryUUID, Val: strings.ToUpper(id)},
			{Name: propSummaryInstanceUUID, Val: id},
			{Name: propSummaryTemplate, Val: true},
			{Name: propPower, Val: types.VirtualMachinePowerStateSuspended},
			{Name: propConnection, Val: types.VirtualMachineConnectionStateConnected},
			{Name: propParent, Val: "not a reference"},
		},
		MissingSet: []types.MissingProperty{{Path: propUUID}, {Path: propTemplate}},
	}
	g.add(o)
	i := g.listing.Instances[0]
	if i.ID != id || i.Unreadable || i.Exclude != "template" || !contains(i.Keys, keyInstance, id) || !slices.Equal(i.Warnings, []code.Reason{"PoweredOff"}) {
		t.Errorf("%+v", i)
	}
}

func TestInstanceKinds(t *testing.T) {
	in := inventory{identity: "vc-id", endpoint: "vc:443", folders: newFinder(treeOf([][4]string{
		{"datacenter-2", "Datacenter", "DC0", "group-d1"}, {"group-v3", "Folder", "vm", "datacenter-2"}, {"group-v4", "Folder", "vCLS", "group-v3"},
	}))}
	const id = "00000000-0000-0000-0000-000000000001"
	for _, c := range []struct {
		vm         vm
		exclude    string
		unreadable bool
	}{
		{vm{name: "web", uuid: id}, "", false},
		{vm{name: "vCLS-4c4c", uuid: id, parent: "group-v4"}, "vCLS", false},
		{vm{name: "vCLS-4c4c", uuid: id, manager: "com.vmware.vim.eam"}, "vCLS", false},
		{vm{name: "vCLS-by-hand", uuid: id}, "", false},
		{vm{name: "nsx-edge", uuid: id, manager: "com.vmware.nsx"}, "managedByExtension", false},
		{vm{name: "image", uuid: id, template: true}, "template", false},
		{vm{name: "web", connection: "connected"}, "", true},
		{vm{name: "web", uuid: id, connection: "orphaned"}, "", true},
		{vm{name: "web", uuid: id, connection: "invalid"}, "", true},
		{vm{name: "web", uuid: id, connection: "disconnected"}, "", false},
	} {
		if i := in.instance(c.vm); i.Exclude != c.exclude || i.Unreadable != c.unreadable {
			t.Errorf("%+v: exclude %q, unreadable %t", c.vm, i.Exclude, i.Unreadable)
		}
	}
	if got := vmxFolders("[ds 1] 5f3c/web-1.vmx"); !slices.Equal(got, []string{"web-1", "5f3c"}) {
		t.Errorf("vmx folders %q", got)
	}
	if got := slices.Concat(vmxFolders("[ds] web.vmx"), vmxFolders("[] /"), vmxFolders("")); !slices.Equal(got, []string{"web"}) {
		t.Errorf("vmx folders %q", got)
	}
}

// What the backup has no key for is packed; what is in a folder of the backup's and
// may be looked at more closely is not, nor is what is near.
func TestUnrelatedArePacked(t *testing.T) {
	isRelated := func(i *infra.Instance) bool { return i.Name == "near" }
	f := newFinder(smallTree)
	var l infra.Listing
	in := &inventory{identity: "vc-id", endpoint: "vc:443", folders: f, asked: map[string][]string{"group-v5": {"vc:443/DC0/vm/prod"}}}
	g := newGathering(in, &vsphere.RecordedMachines{}, &infra.Target{IsRelated: isRelated}, &l)
	for n, m := range []vm{{name: "far", parent: "group-v3"}, {name: "near", parent: "group-v3"}, {name: "candidate", parent: "group-v5"}} {
		m.ref, m.uuid = fmt.Sprint("vm-", n), fmt.Sprintf("00000000-0000-0000-0000-%012d", n)
		if err := g.addVM(m); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.Instances) != 2 || l.Unrelated.Len() != 1 || l.Instances[g.candidates["vm-2"]].Name != "candidate" {
		t.Errorf("%d instances, %d unrelated VMs, candidates %v", len(l.Instances), l.Unrelated.Len(), g.candidates)
	}
}

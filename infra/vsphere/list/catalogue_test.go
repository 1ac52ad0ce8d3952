package list

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// thingKey returns the key of a thing that a backup names.
func thingKey(kind infra.KeyKind, datacenter, name string) infra.Key {
	return infra.Key{Kind: kind, Value: "vc:443/" + datacenter + vsphere.Separator + name}
}

func TestCatalogue(t *testing.T) {
	tr := treeOf([][4]string{
		{"datacenter-2", "Datacenter", "DC0", "group-d1"},
		{"datacenter-3", "Datacenter", "DC1", "group-d1"},
		{"group-h4", "Folder", "host", "datacenter-2"},
		{"group-h5", "Folder", "host", "datacenter-3"},
	})
	c := newCatalogue(sections[0], newFinder(tr))
	c.nodes = map[string]node{
		"domain-c1":  {kind: "ClusterComputeResource", name: "c", parent: "group-h4"},
		"resgroup-1": {kind: "ResourcePool", name: "Resources", parent: "domain-c1"},
		"resgroup-2": {kind: "ResourcePool", name: "a%2fb", parent: "resgroup-1"},
		"domain-c2":  {kind: "ClusterComputeResource", name: "d", parent: "group-h4"},
		"resgroup-6": {kind: "ResourcePool", name: "twice", parent: "domain-c1"},
		"resgroup-7": {kind: "ResourcePool", name: "twice", parent: "domain-c2"},
		"resgroup-8": {kind: "ResourcePool", name: "Resources", parent: "domain-c2"},
		"resgroup-3": {kind: "ResourcePool", name: "hidden", parent: "resgroup-9"},
		"resgroup-4": {kind: "ResourcePool", name: "circle", parent: "resgroup-4"},
	}
	c.index()
	for _, tc := range []struct {
		datacenter, name string
		found            int
		sure             bool
	}{
		{"DC0", "Resources", 2, true},
		{"*", "Resources", 2, true},
		{"DC1", "Resources", 0, true},
		{"DC0", "a%2fb", 1, true},
		{"DC0", "twice", 2, true},
		{"DC0", "/DC0/host/c/twice", 1, true},
		{"DC0", "", 2, false}, // default pools: of c and of d
		{"DC1", "", 0, false},
		{"DC0", "c", 0, true}, // a cluster is no pool by name
		{"DC0", "/DC0/host/c", 1, true},
		{"DC0", "/DC0/host/c/Resources/", 1, true},
		{"DC0", "/DC0/host/other", 0, true},
		{"DC0", "c/Resources", 1, true},
		{"DC1", "c/Resources", 0, true},
		{"DC0", "./c/Resources", 1, true},
		{"DC0", "resgroup-2", 1, true},
		{"DC0", "ResourcePool:resgroup-2", 1, true},
		{"DC0", "domain-c1", 0, true},
		{"DC0", "hidden", 0, false},
		{"DC0", "/DC0/host/c/hidden", 0, false},
		{"DC0", "circle", 0, false},
		{"DC9", "Resources", 0, false}, // its datacenter was not seen
	} {
		found, sure := c.count("vc:443", thingKey(vsphere.KeyPool, tc.datacenter, tc.name))
		if found != tc.found || sure != tc.sure {
			t.Errorf("%s %q: found %d, sure %v, want %v, %v", tc.datacenter, tc.name, found, sure, tc.found, tc.sure)
		}
	}
	c.nodes["resgroup-5"] = node{kind: "ResourcePool", parent: "resgroup-1"}
	c.index()
	if found, sure := c.count("vc:443", thingKey(vsphere.KeyPool, "DC0", "nowhere")); found > 0 || sure {
		t.Errorf("beside one without a name: found %d, sure %v", found, sure)
	}
}

func TestTemplatesAmongVMs(t *testing.T) {
	ask := func(name string) infra.Key { return thingKey(vsphere.KeyTemplate, "DC0", name) }
	tr := treeOf([][4]string{{"datacenter-2", "Datacenter", "DC0", "group-d1"}, {"group-v3", "Folder", "vm", "datacenter-2"}})
	asking := []infra.Key{
		ask("/DC0/vm/by-path"), ask("by-name"), ask(strings.ToUpper(vspheretest.VMUID)),
		ask("VirtualMachine:vm-4"), ask("/DC0/vm/elsewhere/by-path"),
	}
	c := newTemplates(asking, newFinder(tr))
	c.addVM(vm{ref: "vm-1", name: "by-path", parent: "group-v3"})
	c.addVM(vm{ref: "vm-2", name: "by-name", parent: "group-v3"})
	c.addVM(vm{ref: "vm-3", name: "by-uuid", parent: "group-v3", instanceUUID: vspheretest.VMUID})
	c.addVM(vm{ref: "vm-4", name: "by-id", parent: "group-v3"})
	c.addVM(vm{ref: "vm-5", name: "not asked for", parent: "group-v3"})
	var l infra.Listing
	c.answer(infra.Target{Endpoint: "vc:443", Probes: asking}, &l)
	if !slices.Equal(l.ProbesFound, asking[:4]) || len(l.Unread) != 0 || len(c.nodes) != 4 {
		t.Errorf("found %v, unread %v, kept %d VMs", l.ProbesFound, l.Unread, len(c.nodes))
	}
	c.addVM(vm{ref: "vm-6", parent: "group-v3"})
	l = infra.Listing{}
	if c.answer(infra.Target{Endpoint: "vc:443", Probes: asking}, &l); !slices.Equal(l.Unread, []infra.KeyKind{vsphere.KeyTemplate}) {
		t.Errorf("unread %v, although a VM without a name may be the template", l.Unread)
	}
}

// In the lab all is there but the template of gamma-edge-md-broken.
func TestFleetResources(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	l := one(t, t.Context(), fleet(t), reach(v))
	s, _ := load(t, fleet(t))
	var absent []string
	kinds := map[string]int{}
	for _, r := range New().Expected(s).Resources {
		kinds[r.Kind]++
		if len(r.Keys) != 1 || !slices.Contains(l.ProbesFound, r.Keys[0]) {
			absent = append(absent, fmt.Sprintf("%s %s %s %s", r.Cluster.Name, r.Kind, r.Name, r.UsedBy))
		}
	}
	want := "gamma-edge template /DC0/vm/no-such-template VSphereMachineTemplate tenant-gamma/"
	if len(absent) != 1 || !strings.HasPrefix(absent[0], want) || len(l.Unread) != 0 {
		t.Errorf("absent %q, want one that begins with %q; unread %v", absent, want, l.Unread)
	}
	for _, kind := range []string{"folder", "resource pool", "datastore", "network", "template"} {
		if kinds[kind] == 0 {
			t.Errorf("no %s in the claims", kind)
		}
	}
}

func TestResourcesThatCannotBeRead(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	// Views are created for folders, VMs, resource pools, datastores, networks.
	v.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: "CreateContainerView", ObjectType: "*", ObjectName: "*", Probability: 1, Enabled: true, SkipCount: 3, MaxCount: 1,
	})
	l := one(t, t.Context(), fleet(t), reach(v))
	if l.State != code.ScopeComplete || !slices.Equal(l.Unread, []infra.KeyKind{vsphere.KeyDatastore}) || len(l.Warnings) != 1 {
		t.Errorf("%s, unread %v, warnings %q", l.State, l.Unread, l.Warnings)
	}
	if len(ofKind(l.ProbesFound, vsphere.KeyDatastore)) != 0 || len(ofKind(l.ProbesFound, vsphere.KeyNetwork)) == 0 || len(ofKind(l.ProbesFound, vsphere.KeyPool)) == 0 {
		t.Errorf("probes %v", l.ProbesFound)
	}
}

package vsphere

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// dependent returns what smallBackup does, with everything that a clone needs.
func dependent() *vspheretest.Backup {
	b := vspheretest.NewBackup()
	for resource, at := range map[string]string{templates.Resource(): "spec.template.spec.", vms.Resource(): "spec."} {
		b.Set(resource, at+"resourcePool", "pool-a").Set(resource, at+"datastore", "ds-1").Set(resource, at+"template", "image-"+at[:len(at)-1])
		b.Set(resource, at+"network", fields{"devices": []any{fields{"networkName": "net-1"}, fields{"dhcp4": true}, fields{"networkName": "/DC0/network/net-2"}}})
	}
	b.Set(machines.Resource(), "metadata.annotations", fields{"cluster.x-k8s.io/cloned-from-name": "prod-md-0"})
	return b
}

func resources(t *testing.T, b *vspheretest.Backup) []string {
	t.Helper()
	var got []string
	for _, r := range expected(t, b).Resources {
		if r.Cluster.Name != "prod" || r.Target != "vsphere/vc1.example:443/Secret/team/prod" {
			t.Errorf("%+v is not the cluster's, at its home", r)
		}
		keys := make([]string, len(r.Keys))
		for i, k := range r.Keys {
			keys[i] = k.Value
		}
		got = append(got, strings.Join([]string{r.Kind, r.Name, strings.Join(keys, " "), r.UsedBy}, " | "))
	}
	return got
}

func TestResources(t *testing.T) {
	const tmpl, vmUser = "VSphereMachineTemplate team/prod-md-0", "VSphereVM team/prod-vm-1"
	want := []string{
		"datastore | ds-1 | vc1.example:443/DC0//ds-1 | " + tmpl + " and 1 more",
		"folder | /DC0/vm/prod | vc1.example:443/DC0/vm/prod | " + tmpl + " and 1 more",
		"network | /DC0/network/net-2 | vc1.example:443/DC0///DC0/network/net-2 | " + tmpl + " and 1 more",
		"network | net-1 | vc1.example:443/DC0//net-1 | " + tmpl + " and 1 more",
		"resource pool | pool-a | vc1.example:443/DC0//pool-a | " + tmpl + " and 1 more",
		"template | image-spec.template.spec | vc1.example:443/DC0//image-spec.template.spec | " + tmpl,
	}
	if got := resources(t, dependent()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	contains := func(b *vspheretest.Backup, line string, wanted bool) {
		t.Helper()
		if got := resources(t, b); slices.Contains(got, line) != wanted {
			t.Errorf("%q: want %v in\n%s", line, wanted, strings.Join(got, "\n"))
		}
	}
	clone := "template | image-spec | vc1.example:443/DC0//image-spec | " + vmUser
	unmade := dependent().Set(vms.Resource(), "spec.biosUUID", "").Set(machines.Resource(), "spec.providerID", "").Set("machines"+vspheretest.CAPIGroup, "spec.providerID", "")
	contains(unmade, clone, true)                                 // the VM is still to be cloned
	contains(dependent().Drop(templates.Resource()), clone, true) // nothing else says what the next one is cloned from
	odd := dependent().Set(templates.Resource(), "spec.template.spec.resourcePool", "*/Resources")
	contains(odd, "resource pool | */Resources |  | "+tmpl, true)
	// A failure domain overrides the template: only the VSphereVM has the last word.
	zoned := dependent().Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a")
	contains(zoned, "datastore | ds-1 | vc1.example:443/DC0//ds-1 | "+vmUser, true)
	contains(zoned, want[5], true)
	contains(zoned.Drop(vms.Resource()).Set(machines.Resource(), "spec.datastore", "ds-2"), "datastore | ds-2 | vc1.example:443/DC0//ds-2 | VSphereMachine team/prod-md-0-tpl-12345", false)
}

// What a MachineSet that a rollout replaced was cloned from may rightly be gone.
func TestRetiredMachineSetNeedsNothing(t *testing.T) {
	b := dependent()
	b.Put(templates.Resource(), vspheretest.Object(group+"/v1beta1", templateKind, "team", "old", fields{
		"spec.template.spec": fields{"server": "vc1.example", "datacenter": "DC0", "template": "old-image"},
	}))
	old := func(replicas int) {
		b.Put("machinesets"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "MachineSet", "team", "prod-md-0-bcdfg", fields{
			"metadata.labels":          fields{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/deployment-name": "prod-md-0"},
			"metadata.ownerReferences": []any{fields{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "name": "prod-md-0", "uid": "x", "controller": true}},
			"spec.clusterName":         "prod", "spec.replicas": replicas,
			"spec.template.spec.infrastructureRef": fields{"apiVersion": group + "/v1beta1", "kind": templateKind, "name": "old", "namespace": "team"},
		}))
	}
	const line = "template | old-image | vc1.example:443/DC0//old-image | VSphereMachineTemplate team/old"
	old(1)
	if got := resources(t, b); !slices.Contains(got, line) {
		t.Errorf("no %q in\n%s", line, strings.Join(got, "\n"))
	}
	old(0)
	if got := resources(t, b); slices.Contains(got, line) {
		t.Errorf("%q in\n%s", line, strings.Join(got, "\n"))
	}
}

func TestAsk(t *testing.T) {
	p := location{Server: "vc:443", Datacenter: "DC0"}
	for _, tc := range []struct {
		kind       infra.KeyKind
		name, want string
	}{
		{keyDatastore, " ds ", "vc:443/DC0//ds"},
		{keyPool, "/DC0/host/c/Resources", "vc:443/DC0///DC0/host/c/Resources"},
		{keyPool, "c/Resources/x", "vc:443/DC0//c/Resources/x"},
		{keyNetwork, "/DC0/host/c/net", ""},
		{keyNetwork, "/infra/segments/x", ""},
		{keyNetwork, vspheretest.UUID1, ""},
		{keyTemplate, vspheretest.UUID1, "vc:443/DC0//" + vspheretest.UUID1},
		{keyTemplate, "image-*", ""},
		{keyTemplate, "../image", ""},
		{keyTemplate, "", ""},
	} {
		if got := p.ask(tc.kind, tc.name); got.Value != tc.want || (got.Kind != tc.kind) != (tc.want == "") {
			t.Errorf("%s %q: %+v, want %q", tc.kind, tc.name, got, tc.want)
		}
	}
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
		found, sure := c.count("vc:443", location{Server: "vc:443", Datacenter: tc.datacenter}.ask(keyPool, tc.name))
		if tc.datacenter == "*" {
			found, sure = c.count("vc:443", location{Server: "vc:443"}.ask(keyPool, tc.name))
		}
		if found != tc.found || sure != tc.sure {
			t.Errorf("%s %q: found %d, sure %v, want %v, %v", tc.datacenter, tc.name, found, sure, tc.found, tc.sure)
		}
	}
	c.nodes["resgroup-5"] = node{kind: "ResourcePool", parent: "resgroup-1"}
	c.index()
	if found, sure := c.count("vc:443", location{Server: "vc:443", Datacenter: "DC0"}.ask(keyPool, "nowhere")); found > 0 || sure {
		t.Errorf("beside one without a name: found %d, sure %v", found, sure)
	}
}

func TestTemplatesAmongVMs(t *testing.T) {
	p := location{Server: "vc:443", Datacenter: "DC0"}
	tr := treeOf([][4]string{{"datacenter-2", "Datacenter", "DC0", "group-d1"}, {"group-v3", "Folder", "vm", "datacenter-2"}})
	asking := []infra.Key{
		p.ask(keyTemplate, "/DC0/vm/by-path"), p.ask(keyTemplate, "by-name"), p.ask(keyTemplate, strings.ToUpper(vspheretest.VMUID)),
		p.ask(keyTemplate, "VirtualMachine:vm-4"), p.ask(keyTemplate, "/DC0/vm/elsewhere/by-path"),
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
	if c.answer(infra.Target{Endpoint: "vc:443", Probes: asking}, &l); !slices.Equal(l.Unread, []infra.KeyKind{keyTemplate}) {
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
	if l.State != code.ScopeComplete || !slices.Equal(l.Unread, []infra.KeyKind{keyDatastore}) || len(l.Warnings) != 1 {
		t.Errorf("%s, unread %v, warnings %q", l.State, l.Unread, l.Warnings)
	}
	if len(ofKind(l.ProbesFound, keyDatastore)) != 0 || len(ofKind(l.ProbesFound, keyNetwork)) == 0 || len(ofKind(l.ProbesFound, keyPool)) == 0 {
		t.Errorf("probes %v", l.ProbesFound)
	}
}

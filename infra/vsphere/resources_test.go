package vsphere

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
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
		{KeyDatastore, " ds ", "vc:443/DC0//ds"},
		{KeyPool, "/DC0/host/c/Resources", "vc:443/DC0///DC0/host/c/Resources"},
		{KeyPool, "c/Resources/x", "vc:443/DC0//c/Resources/x"},
		{KeyNetwork, "/DC0/host/c/net", ""},
		{KeyNetwork, "/infra/segments/x", ""},
		{KeyNetwork, vspheretest.UUID1, ""},
		{KeyTemplate, vspheretest.UUID1, "vc:443/DC0//" + vspheretest.UUID1},
		{KeyTemplate, "image-*", ""},
		{KeyTemplate, "../image", ""},
		{KeyTemplate, "", ""},
	} {
		if got := p.ask(tc.kind, tc.name); got.Value != tc.want || (got.Kind != tc.kind) != (tc.want == "") {
			t.Errorf("%s %q: %+v, want %q", tc.kind, tc.name, got, tc.want)
		}
	}
}

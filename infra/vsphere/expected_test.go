package vsphere

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

const (
	uuid1 = "42000000-0000-0000-0000-000000000001"
	uuid2 = "42000000-0000-0000-0000-000000000002"
	vmUID = "cafe0000-0000-0000-0000-000000000001"
)

type fields = map[string]any

// object is a Kubernetes object. Fields are merged into it by dotted paths.
func newObject(apiVersion, kind, namespace, name string, values fields) fields {
	o := fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": name, "uid": kind + "-" + namespace + "-" + name}}
	if namespace != "" {
		backuptest.Inside(o, "metadata")["namespace"] = namespace
	}
	for p, v := range values {
		parts := strings.Split(p, ".")
		backuptest.Inside(o, parts[:len(parts)-1]...)[parts[len(parts)-1]] = v
	}
	return o
}

// smallBackup is a small backup: cluster prod in namespace team with one
// MachineDeployment, one MachineSet and one Machine, all the way down.
type smallBackup struct {
	objects map[string]fields // by resource and name
}

const capiGroup = ".cluster.x-k8s.io"

func newSmallBackup() *smallBackup {
	b := &smallBackup{map[string]fields{}}
	const core, vs = "cluster.x-k8s.io/v1beta1", group + "/v1beta1"
	labels := fields{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/set-name": "prod-md-0-abcde", "cluster.x-k8s.io/deployment-name": "prod-md-0"}
	b.put("clusters"+capiGroup, newObject(core, "Cluster", "team", "prod", fields{
		"spec.infrastructureRef":    fields{"apiVersion": vs, "kind": clusterKind, "name": "prod", "namespace": "team"},
		"spec.controlPlaneRef":      fields{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "KubeadmControlPlane", "name": "prod-cp", "namespace": "team"},
		"spec.controlPlaneEndpoint": fields{"host": "10.0.0.9", "port": 6443},
	}))
	b.put("kubeadmcontrolplanes.controlplane"+capiGroup, newObject("controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane", "team", "prod-cp", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"}, "spec.replicas": 1,
	}))
	b.put("machinedeployments"+capiGroup, newObject(core, "MachineDeployment", "team", "prod-md-0", fields{
		"spec.clusterName": "prod", "spec.template.spec.clusterName": "prod",
		"spec.template.spec.infrastructureRef": fields{"apiVersion": vs, "kind": templateKind, "name": "prod-md-0", "namespace": "team"},
	}))
	b.put("machinesets"+capiGroup, newObject(core, "MachineSet", "team", "prod-md-0-abcde", fields{
		"metadata.labels": labels, "spec.clusterName": "prod",
		"spec.template.spec.infrastructureRef": fields{"apiVersion": vs, "kind": templateKind, "name": "prod-md-0", "namespace": "team"},
	}))
	b.put("machines"+capiGroup, newObject(core, "Machine", "team", "prod-md-0-abcde-vwxyz", fields{
		"metadata.labels": labels, "spec.clusterName": "prod", "spec.providerID": "vsphere://" + uuid1,
		"spec.infrastructureRef": fields{"apiVersion": vs, "kind": machineKind, "name": "prod-md-0-tpl-12345", "namespace": "team"},
	}))
	b.put(clusters.Resource(), newObject(vs, clusterKind, "team", "prod", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"},
		"spec.server":     "vc1.example", "spec.identityRef": fields{"kind": "Secret", "name": "prod"},
	}))
	b.put(machines.Resource(), newObject(vs, machineKind, "team", "prod-md-0-tpl-12345", fields{
		"metadata.labels": labels, "spec.providerID": "vsphere://" + strings.ToUpper(uuid1),
		"spec.datacenter": "DC0", "spec.folder": "/DC0/vm/prod",
	}))
	b.put(vms.Resource(), newObject(vs, vmKind, "team", "prod-vm-1", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"}, "metadata.uid": vmUID,
		"metadata.ownerReferences": []any{fields{"apiVersion": vs, "kind": machineKind, "name": "prod-md-0-tpl-12345", "uid": "x"}},
		"spec.biosUUID":            uuid1, "spec.server": "vc1.example", "spec.datacenter": "DC0", "spec.folder": "/DC0/vm/prod",
		"spec.bootstrapRef": fields{"kind": "KubeadmConfig", "name": "prod-md-0-abcde-vwxyz"},
		"status.vmRef":      "VirtualMachine:vm-136",
	}))
	b.put(templates.Resource(), newObject(vs, templateKind, "team", "prod-md-0", fields{
		"spec.template.spec": fields{"server": "vc1.example", "datacenter": "DC0", "folder": "/DC0/vm/prod"},
	}))
	return b
}

func (b *smallBackup) put(resource string, o fields) { b.objects[resource+" "+nameOf(o)] = o }

// only returns the one object of a resource.
func (b *smallBackup) only(resource string) fields {
	for k, o := range b.objects {
		if strings.HasPrefix(k, resource+" ") {
			return o
		}
	}
	return nil
}

func (b *smallBackup) set(resource, path string, value any) *smallBackup {
	parts := strings.Split(path, ".")
	backuptest.Inside(b.only(resource), parts[:len(parts)-1]...)[parts[len(parts)-1]] = value
	return b
}

func (b *smallBackup) drop(resource string) *smallBackup {
	maps.DeleteFunc(b.objects, func(k string, _ fields) bool { return strings.HasPrefix(k, resource+" ") })
	return b
}

func (b *smallBackup) bytes() []byte {
	tarball := backuptest.New()
	for _, k := range slices.Sorted(maps.Keys(b.objects)) {
		resource, _, _ := strings.Cut(k, " ")
		tarball.Add(resource, b.objects[k])
	}
	return tarball.Bytes()
}

func (b *smallBackup) load(t *testing.T) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets := load(t, b.bytes())
	if len(s.Problems) > 0 {
		t.Fatalf("problems: %v", s.Problems)
	}
	return s, secrets
}

func (b *smallBackup) expected(t *testing.T) infra.Expected {
	t.Helper()
	s, _ := b.load(t)
	return New().Expected(s)
}

func (b *smallBackup) expectedMachine(t *testing.T) infra.ExpectedMachine {
	t.Helper()
	c := b.expected(t)
	if len(c.Machines) != 1 {
		t.Fatalf("%d claims, want 1: %+v", len(c.Machines), c.Machines)
	}
	return c.Machines[0]
}

func TestClaim(t *testing.T) {
	const folder = "vc1.example:443/DC0/vm/prod"
	got := newSmallBackup().expectedMachine(t)
	want := infra.ExpectedMachine{
		Machine: 0, Provider: Name,
		Home:     infra.HomeScope{Target: "vsphere/vc1.example:443/Secret/team/prod", Within: infra.Key{Kind: keyDatacenter, Value: "DC0"}, Folder: folder},
		Strong:   infra.Key{Kind: keyBIOS, Value: uuid1},
		Source:   "VSphereVM.spec.biosUUID",
		Identity: infra.Key{Kind: keyInstance, Value: vmUID},
		Ref:      infra.Key{Kind: keyRef, Value: "vm-136"},
		Weak:     []infra.Key{{Kind: keyPathRef, Value: folder + "/prod-vm-1 vm-136"}},
		Names:    []infra.Key{{Kind: keyName, Value: "prod-vm-1"}, {Kind: keyAlias, Value: "prod-vm-1"}},
		Witness:  []infra.Key{{Kind: keyWitness, Value: folder + "/prod-vm-1"}},
		Hosts:    []infra.Key{{Kind: keyHost, Value: "prod-vm-1"}},
		Blind:    []infra.Key{{Kind: keyName, Value: "prod-vm-1"}, {Kind: keyAlias, Value: "prod-vm-1"}, {Kind: keyVMX, Value: "prod-vm-1"}, {Kind: keyRef, Value: "vm-136"}, {Kind: keyWithin, Value: folder + "/prod-vm-1"}},
		Expect: []infra.Expectation{
			{Key: infra.Key{Kind: keyName, Value: "prod-vm-1"}, Warning: "Renamed"},
			{Key: infra.Key{Kind: keyFolder, Value: folder}, Warning: "Moved"},
		},
		Reads: "VSphereVM.spec.biosUUID", ReadsID: true,
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestStrongKeyAndItsSource(t *testing.T) {
	const vm, machine = "VSphereVM.spec.biosUUID", "VSphereMachine.spec.providerID"
	for name, c := range map[string]struct {
		change           func(*smallBackup)
		strong, source   string
		conflict, absent bool
	}{
		"all agree":           {func(*smallBackup) {}, uuid1, vm, false, false},
		"no VSphereVM":        {func(b *smallBackup) { b.drop(vms.Resource()) }, uuid1, machine, false, false},
		"only the Machine":    {func(b *smallBackup) { b.drop(vms.Resource()).drop(machines.Resource()) }, uuid1, "Machine.spec.providerID", false, true},
		"no VSphereMachine":   {func(b *smallBackup) { b.drop(machines.Resource()) }, uuid1, vm, false, true},
		"the VM differs":      {func(b *smallBackup) { b.set(vms.Resource(), "spec.biosUUID", uuid2) }, uuid2, vm, true, false},
		"the Machine differs": {func(b *smallBackup) { b.set("machines"+capiGroup, "spec.providerID", "vsphere://"+uuid2) }, uuid1, vm, true, false},
		"no UUID at all":      {func(b *smallBackup) { b.set(vms.Resource(), "spec.biosUUID", "web-1") }, uuid1, machine, true, false},
		"with blanks":         {func(b *smallBackup) { b.set(vms.Resource(), "spec.biosUUID", " "+strings.ToUpper(uuid1)+"\n") }, uuid1, vm, false, false},
		"never provisioned": {func(b *smallBackup) {
			b.set(vms.Resource(), "spec.biosUUID", "").set(machines.Resource(), "spec.providerID", "").set("machines"+capiGroup, "spec.providerID", nil)
		}, "", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSmallBackup()
			c.change(b)
			got := b.expectedMachine(t)
			if got.Strong.Value != c.strong || got.Source != c.source || (got.Conflict != "") != c.conflict || got.InfraMissing != c.absent {
				t.Errorf("%s from %s, conflict %q, infra missing %t", got.Strong, got.Source, got.Conflict, got.InfraMissing)
			}
		})
	}
}

func TestVSphereVMIsFoundWithoutOwner(t *testing.T) {
	for name, change := range map[string]func(*smallBackup){
		"by its bootstrap data": func(*smallBackup) {},
		"by the VSphereMachine's name": func(b *smallBackup) {
			b.set(vms.Resource(), "spec.bootstrapRef", nil).set(vms.Resource(), "metadata.name", "prod-md-0-tpl-12345")
		},
		"by the Machine's name": func(b *smallBackup) {
			b.set(vms.Resource(), "spec.bootstrapRef", nil).set(vms.Resource(), "metadata.name", "prod-md-0-abcde-vwxyz")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSmallBackup().set(vms.Resource(), "metadata.ownerReferences", nil)
			change(b)
			if c := b.expectedMachine(t); c.Identity.Value != vmUID {
				t.Errorf("the claim does not know the VSphereVM: %+v", c)
			}
		})
	}
	t.Run("not another's", func(t *testing.T) {
		b := newSmallBackup().set(vms.Resource(), "metadata.ownerReferences",
			[]any{fields{"apiVersion": group + "/v1beta1", "kind": machineKind, "name": "another", "uid": "y"}})
		if c := b.expected(t); len(c.Machines) != 2 || c.Machines[0].Identity.Value != "" || c.Machines[1].Orphan == nil {
			t.Errorf("claims %+v", c.Machines)
		}
	})
}

func TestOrphans(t *testing.T) {
	cluster := backup.ClusterID{Namespace: "team", Name: "prod"}
	t.Run("VSphereMachine", func(t *testing.T) {
		c := newSmallBackup().drop("machines" + capiGroup).expectedMachine(t)
		want := infra.Orphan{
			Kind: machineKind, Namespace: "team", Name: "prod-md-0-tpl-12345", UID: "VSphereMachine-team-prod-md-0-tpl-12345", Cluster: cluster,
			Owner: infra.OwnerID{Cluster: cluster, Kind: "MachineSet", Name: "prod-md-0-abcde"}, ProviderID: "vsphere://" + strings.ToUpper(uuid1),
		}
		if c.Machine != -1 || c.Orphan == nil || *c.Orphan != want || c.InfraMissing {
			t.Errorf("%+v, orphan %+v", c, c.Orphan)
		}
	})
	t.Run("of a control plane", func(t *testing.T) {
		b := newSmallBackup().drop("machines"+capiGroup).set(machines.Resource(), "metadata.labels", fields{
			"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/control-plane": "", "cluster.x-k8s.io/control-plane-name": "hash_9xqrt_z",
		})
		want := infra.OwnerID{Cluster: cluster, Kind: "KubeadmControlPlane", Name: "prod-cp"}
		if c := b.expectedMachine(t); !c.Orphan.ControlPlane || c.Orphan.Owner != want {
			t.Errorf("orphan %+v", c.Orphan)
		}
	})
	t.Run("VSphereVM", func(t *testing.T) {
		c := newSmallBackup().drop("machines" + capiGroup).drop(machines.Resource()).expectedMachine(t)
		if c.Orphan == nil || c.Orphan.Kind != vmKind || c.Orphan.ProviderID != "vsphere://"+uuid1 || c.Strong.Value != uuid1 {
			t.Errorf("%+v, orphan %+v", c, c.Orphan)
		}
	})
}

func TestPlacement(t *testing.T) {
	zone := func(b *smallBackup) {
		b.put(zones.Resource(), newObject(group+"/v1beta1", zoneKind, "", "zone-a", fields{
			"spec.server": "vc2.example", "spec.failureDomain": "domain-a", "spec.placementConstraint": fields{"folder": "zoned"},
		}))
		b.put(domains.Resource(), newObject(group+"/v1beta1", domainKind, "", "domain-a", fields{"spec.topology": fields{"datacenter": "DC7"}}))
		b.set("machines"+capiGroup, "spec.failureDomain", "zone-a")
	}
	for name, c := range map[string]struct {
		change                 func(*smallBackup)
		target, within, folder string
	}{
		"VSphereVM": {func(b *smallBackup) {
			zone(b)
			b.set(vms.Resource(), "spec.server", "vc3.example")
		}, "vc3.example:443", "DC0", "vc3.example:443/DC0/vm/prod"},
		"zone": {func(b *smallBackup) {
			zone(b)
			b.drop(vms.Resource())
		}, "vc2.example:443", "DC7", "vc2.example:443/DC7/vm/.../zoned"},
		"VSphereMachine": {func(b *smallBackup) {
			b.drop(vms.Resource()).set(machines.Resource(), "spec.server", "https://VC4.example/sdk")
		}, "vc4.example:443", "DC0", "vc4.example:443/DC0/vm/prod"},
		"VSphereCluster": {func(b *smallBackup) {
			b.drop(vms.Resource()).set(machines.Resource(), "spec.datacenter", "*").set(machines.Resource(), "spec.folder", "")
		}, "vc1.example:443", "", "vc1.example:443/*/vm"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newSmallBackup()
			c.change(b)
			got := b.expectedMachine(t)
			if got.Home.Target != "vsphere/"+c.target+"/Secret/team/prod" || got.Home.Within.Value != c.within || got.Expect[1].Key.Value != c.folder {
				t.Errorf("home %+v, folder %s", got.Home, got.Expect[1].Key)
			}
		})
	}
}

func TestOldAPIVersions(t *testing.T) {
	for _, version := range []string{"v1alpha3", "v1alpha4", "v1beta1", "v1beta2"} {
		b := newSmallBackup()
		for k, o := range b.objects {
			if !strings.HasPrefix(k, "kubeadm") {
				prefix, _, _ := strings.Cut(o["apiVersion"].(string), "/")
				o["apiVersion"] = prefix + "/" + version
			}
		}
		if c := b.expectedMachine(t); c.Strong.Value != uuid1 || c.Ref.Value != "vm-136" || c.Home.Target != "vsphere/vc1.example:443/Secret/team/prod" {
			t.Errorf("%s: %+v", version, c)
		}
	}
}

func TestNamelessVMsBlindOnlyMachinesWithoutReference(t *testing.T) {
	for name, c := range map[string]struct {
		ref, uuid string
		want      bool
	}{"reference": {"VirtualMachine:vm-1", uuid1, false}, "no reference": {"", uuid1, true}, "never provisioned": {"", "", false}} {
		b := newSmallBackup().set(vms.Resource(), "status.vmRef", c.ref).set(vms.Resource(), "spec.biosUUID", c.uuid)
		if c.uuid == "" {
			b.set(machines.Resource(), "spec.providerID", "").set("machines"+capiGroup, "spec.providerID", nil)
		}
		if got := slices.Contains(b.expectedMachine(t).Blind, nameless); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSupervisorMachinesAreNotOurs(t *testing.T) {
	b := newSmallBackup().drop(vms.Resource()).drop(machines.Resource())
	b.set("machines"+capiGroup, "spec.infrastructureRef", fields{"apiVersion": "vmware.infrastructure.cluster.x-k8s.io/v1beta1", "kind": machineKind, "name": "x", "namespace": "team"})
	if c := b.expected(t); len(c.Machines) != 0 {
		t.Errorf("claims %+v", c.Machines)
	}
}

func TestProviderIDs(t *testing.T) {
	for id, want := range map[string]string{
		"vsphere://" + uuid1: uuid1, " VSphere://" + strings.ToUpper(uuid1) + " ": uuid1,
		"vsphere://web-1": "", "aws:///eu-1a/i-0abc": "", "": "", uuid1: "",
	} {
		keys := New().Spec().Keys(id)
		if got := len(keys) == 1 && keys[0] == (infra.Key{Kind: keyBIOS, Value: want}); got != (want != "") {
			t.Errorf("%q: %v", id, keys)
		}
	}
}

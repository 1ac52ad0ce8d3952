package vsphere

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

type fields = map[string]any

func expected(t *testing.T, b *vspheretest.Backup) infra.Expected {
	t.Helper()
	s, _ := b.Load(t, want)
	return new(Provider).Expected(s)
}

func expectedMachine(t *testing.T, b *vspheretest.Backup) infra.ExpectedMachine {
	t.Helper()
	c := expected(t, b)
	if len(c.Machines) != 1 {
		t.Fatalf("%d claims, want 1: %+v", len(c.Machines), c.Machines)
	}
	return c.Machines[0]
}

func TestClaim(t *testing.T) {
	const folder = "vc1.example:443/DC0/vm/prod"
	got := expectedMachine(t, vspheretest.NewBackup())
	want := infra.ExpectedMachine{
		Machine: 0, Provider: Name,
		Home:     infra.HomeScope{Target: "vsphere/vc1.example:443/Secret/team/prod", Within: infra.Key{Kind: keyDatacenter, Value: "DC0"}, Folder: folder},
		Strong:   infra.Key{Kind: keyBIOS, Value: vspheretest.UUID1},
		Source:   "VSphereVM.spec.biosUUID",
		Identity: infra.Key{Kind: keyInstance, Value: vspheretest.VMUID},
		Ref:      infra.Key{Kind: keyRef, Value: "vm-136"},
		Weak:     []infra.Key{{Kind: keyPathRef, Value: folder + "/prod-vm-1 vm-136"}},
		Names:    []infra.Key{{Kind: keyName, Value: "prod-vm-1"}, {Kind: keyAlias, Value: "prod-vm-1"}},
		Witness:  []infra.Key{{Kind: keyWitness, Value: folder + "/prod-vm-1"}},
		Hosts:    []infra.Key{{Kind: keyHost, Value: "prod-vm-1"}},
		Blind:    []infra.Key{{Kind: keyName, Value: "prod-vm-1"}, {Kind: keyAlias, Value: "prod-vm-1"}, {Kind: keyVMX, Value: "prod-vm-1"}, {Kind: keyRef, Value: "vm-136"}, {Kind: keyWithin, Value: folder + "/prod-vm-1"}},
		Expect: []infra.Expectation{
			{Key: infra.Key{Kind: keyName, Value: "prod-vm-1"}, Warning: "Renamed"},
			{Key: infra.Key{Kind: KeyFolder, Value: folder}, Warning: "Moved"},
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
		change           func(*vspheretest.Backup)
		strong, source   string
		conflict, absent bool
	}{
		"all agree":         {func(*vspheretest.Backup) {}, vspheretest.UUID1, vm, false, false},
		"no VSphereVM":      {func(b *vspheretest.Backup) { b.Drop(vms.Resource()) }, vspheretest.UUID1, machine, false, false},
		"only the Machine":  {func(b *vspheretest.Backup) { b.Drop(vms.Resource()).Drop(machines.Resource()) }, vspheretest.UUID1, "Machine.spec.providerID", false, true},
		"no VSphereMachine": {func(b *vspheretest.Backup) { b.Drop(machines.Resource()) }, vspheretest.UUID1, vm, false, true},
		"the VM differs":    {func(b *vspheretest.Backup) { b.Set(vms.Resource(), "spec.biosUUID", vspheretest.UUID2) }, vspheretest.UUID2, vm, true, false},
		"the Machine differs": {func(b *vspheretest.Backup) {
			b.Set("machines"+vspheretest.CAPIGroup, "spec.providerID", "vsphere://"+vspheretest.UUID2)
		}, vspheretest.UUID1, vm, true, false},
		"no UUID at all": {func(b *vspheretest.Backup) { b.Set(vms.Resource(), "spec.biosUUID", "web-1") }, vspheretest.UUID1, machine, true, false},
		"with blanks": {func(b *vspheretest.Backup) {
			b.Set(vms.Resource(), "spec.biosUUID", " "+strings.ToUpper(vspheretest.UUID1)+"\n")
		}, vspheretest.UUID1, vm, false, false},
		"never provisioned": {func(b *vspheretest.Backup) {
			b.Set(vms.Resource(), "spec.biosUUID", "").Set(machines.Resource(), "spec.providerID", "").Set("machines"+vspheretest.CAPIGroup, "spec.providerID", nil)
		}, "", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := vspheretest.NewBackup()
			c.change(b)
			got := expectedMachine(t, b)
			if got.Strong.Value != c.strong || got.Source != c.source || (got.Conflict != "") != c.conflict || got.InfraMissing != c.absent {
				t.Errorf("%s from %s, conflict %q, infra missing %t", got.Strong, got.Source, got.Conflict, got.InfraMissing)
			}
		})
	}
}

func TestVSphereVMIsFoundWithoutOwner(t *testing.T) {
	for name, change := range map[string]func(*vspheretest.Backup){
		"by its bootstrap data": func(*vspheretest.Backup) {},
		"by the VSphereMachine's name": func(b *vspheretest.Backup) {
			b.Set(vms.Resource(), "spec.bootstrapRef", nil).Set(vms.Resource(), "metadata.name", "prod-md-0-tpl-12345")
		},
		"by the Machine's name": func(b *vspheretest.Backup) {
			b.Set(vms.Resource(), "spec.bootstrapRef", nil).Set(vms.Resource(), "metadata.name", "prod-md-0-abcde-vwxyz")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := vspheretest.NewBackup().Set(vms.Resource(), "metadata.ownerReferences", nil)
			change(b)
			if c := expectedMachine(t, b); c.Identity.Value != vspheretest.VMUID {
				t.Errorf("the claim does not know the VSphereVM: %+v", c)
			}
		})
	}
	t.Run("not another's", func(t *testing.T) {
		b := vspheretest.NewBackup().Set(vms.Resource(), "metadata.ownerReferences",
			[]any{fields{"apiVersion": group + "/v1beta1", "kind": machineKind, "name": "another", "uid": "y"}})
		if c := expected(t, b); len(c.Machines) != 2 || c.Machines[0].Identity.Value != "" || c.Machines[1].Orphan == nil {
			t.Errorf("claims %+v", c.Machines)
		}
	})
}

func TestOrphans(t *testing.T) {
	cluster := backup.ClusterID{Namespace: "team", Name: "prod"}
	t.Run("VSphereMachine", func(t *testing.T) {
		c := expectedMachine(t, vspheretest.NewBackup().Drop("machines"+vspheretest.CAPIGroup))
		want := infra.Orphan{
			Kind: machineKind, Namespace: "team", Name: "prod-md-0-tpl-12345", UID: "VSphereMachine-team-prod-md-0-tpl-12345", Cluster: cluster,
			Owner: infra.OwnerID{Cluster: cluster, Kind: "MachineSet", Name: "prod-md-0-abcde"}, ProviderID: "vsphere://" + strings.ToUpper(vspheretest.UUID1),
		}
		if c.Machine != -1 || c.Orphan == nil || *c.Orphan != want || c.InfraMissing {
			t.Errorf("%+v, orphan %+v", c, c.Orphan)
		}
	})
	t.Run("of a control plane", func(t *testing.T) {
		b := vspheretest.NewBackup().Drop("machines"+vspheretest.CAPIGroup).Set(machines.Resource(), "metadata.labels", fields{
			"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/control-plane": "", "cluster.x-k8s.io/control-plane-name": "hash_9xqrt_z",
		})
		want := infra.OwnerID{Cluster: cluster, Kind: "KubeadmControlPlane", Name: "prod-cp"}
		if c := expectedMachine(t, b); !c.Orphan.ControlPlane || c.Orphan.Owner != want {
			t.Errorf("orphan %+v", c.Orphan)
		}
	})
	t.Run("VSphereVM", func(t *testing.T) {
		c := expectedMachine(t, vspheretest.NewBackup().Drop("machines"+vspheretest.CAPIGroup).Drop(machines.Resource()))
		if c.Orphan == nil || c.Orphan.Kind != vmKind || c.Orphan.ProviderID != "vsphere://"+vspheretest.UUID1 || c.Strong.Value != vspheretest.UUID1 {
			t.Errorf("%+v, orphan %+v", c, c.Orphan)
		}
	})
}

func TestPlacement(t *testing.T) {
	zone := func(b *vspheretest.Backup) {
		b.Put(zones.Resource(), vspheretest.Object(group+"/v1beta1", zoneKind, "", "zone-a", fields{
			"spec.server": "vc2.example", "spec.failureDomain": "domain-a", "spec.placementConstraint": fields{"folder": "zoned"},
		}))
		b.Put(domains.Resource(), vspheretest.Object(group+"/v1beta1", domainKind, "", "domain-a", fields{"spec.topology": fields{"datacenter": "DC7"}}))
		b.Set("machines"+vspheretest.CAPIGroup, "spec.failureDomain", "zone-a")
	}
	for name, c := range map[string]struct {
		change                 func(*vspheretest.Backup)
		target, within, folder string
	}{
		"VSphereVM": {func(b *vspheretest.Backup) {
			zone(b)
			b.Set(vms.Resource(), "spec.server", "vc3.example")
		}, "vc3.example:443", "DC0", "vc3.example:443/DC0/vm/prod"},
		"zone": {func(b *vspheretest.Backup) {
			zone(b)
			b.Drop(vms.Resource())
		}, "vc2.example:443", "DC7", "vc2.example:443/DC7/vm/.../zoned"},
		"VSphereMachine": {func(b *vspheretest.Backup) {
			b.Drop(vms.Resource()).Set(machines.Resource(), "spec.server", "https://VC4.example/sdk")
		}, "vc4.example:443", "DC0", "vc4.example:443/DC0/vm/prod"},
		"VSphereCluster": {func(b *vspheretest.Backup) {
			b.Drop(vms.Resource()).Set(machines.Resource(), "spec.datacenter", "*").Set(machines.Resource(), "spec.folder", "")
		}, "vc1.example:443", "", "vc1.example:443/*/vm"},
	} {
		t.Run(name, func(t *testing.T) {
			b := vspheretest.NewBackup()
			c.change(b)
			got := expectedMachine(t, b)
			if got.Home.Target != "vsphere/"+c.target+"/Secret/team/prod" || got.Home.Within.Value != c.within || got.Expect[1].Key.Value != c.folder {
				t.Errorf("home %+v, folder %s", got.Home, got.Expect[1].Key)
			}
		})
	}
}

func TestOldAPIVersions(t *testing.T) {
	for _, version := range []string{"v1alpha3", "v1alpha4", "v1beta1", "v1beta2"} {
		b := vspheretest.NewBackup()
		for k, o := range b.Objects {
			if !strings.HasPrefix(k, "kubeadm") {
				prefix, _, _ := strings.Cut(o["apiVersion"].(string), "/")
				o["apiVersion"] = prefix + "/" + version
			}
		}
		if c := expectedMachine(t, b); c.Strong.Value != vspheretest.UUID1 || c.Ref.Value != "vm-136" || c.Home.Target != "vsphere/vc1.example:443/Secret/team/prod" {
			t.Errorf("%s: %+v", version, c)
		}
	}
}

func TestNamelessVMsBlindOnlyMachinesWithoutReference(t *testing.T) {
	for name, c := range map[string]struct {
		ref, uuid string
		want      bool
	}{"reference": {"VirtualMachine:vm-1", vspheretest.UUID1, false}, "no reference": {"", vspheretest.UUID1, true}, "never provisioned": {"", "", false}} {
		b := vspheretest.NewBackup().Set(vms.Resource(), "status.vmRef", c.ref).Set(vms.Resource(), "spec.biosUUID", c.uuid)
		if c.uuid == "" {
			b.Set(machines.Resource(), "spec.providerID", "").Set("machines"+vspheretest.CAPIGroup, "spec.providerID", nil)
		}
		if got := slices.Contains(expectedMachine(t, b).Blind, nameless); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSupervisorMachinesAreNotOurs(t *testing.T) {
	b := vspheretest.NewBackup().Drop(vms.Resource()).Drop(machines.Resource())
	b.Set("machines"+vspheretest.CAPIGroup, "spec.infrastructureRef", fields{"apiVersion": "vmware.infrastructure.cluster.x-k8s.io/v1beta1", "kind": machineKind, "name": "x", "namespace": "team"})
	if c := expected(t, b); len(c.Machines) != 0 {
		t.Errorf("claims %+v", c.Machines)
	}
}

func TestProviderIDs(t *testing.T) {
	for id, want := range map[string]string{
		"vsphere://" + vspheretest.UUID1: vspheretest.UUID1, " VSphere://" + strings.ToUpper(vspheretest.UUID1) + " ": vspheretest.UUID1,
		"vsphere://web-1": "", "aws:///eu-1a/i-0abc": "", "": "", vspheretest.UUID1: "",
	} {
		keys := new(Provider).Spec().Keys(id)
		if got := len(keys) == 1 && keys[0] == (infra.Key{Kind: keyBIOS, Value: want}); got != (want != "") {
			t.Errorf("%q: %v", id, keys)
		}
	}
}

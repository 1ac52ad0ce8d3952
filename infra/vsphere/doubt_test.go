package vsphere

import (
	"strings"
	"testing"

	"drift-detector/detector"
)

// Of the backup that these tests start from.
const (
	joined  = "10.0.0.9:6443" // the API endpoint of cluster prod
	another = "prod-md-0-abcde-xwvtz"
	uuid3   = "42000000-0000-0000-0000-000000000333"
)

// replicas says of all owners of workers that they had n, and of the control plane none.
func (b *smallBackup) replicas(n int) *smallBackup {
	for _, field := range []string{"spec.replicas", "status.replicas"} {
		b.set("machinesets"+capiGroup, field, n).set("machinedeployments"+capiGroup, field, n).set("kubeadmcontrolplanes.controlplane"+capiGroup, field, 0)
	}
	return b
}

func vmIn(name, uuid, folder string) vm {
	return vm{ref: "vm-" + uuid[len(uuid)-3:], name: name, parent: folder, uuid: uuid, connection: "connected", power: "poweredOn"}
}

func recordedVM() vm {
	return vm{ref: "vm-136", name: "prod-vm-1", parent: "group-v5", uuid: uuid1, instanceUUID: vmUID, connection: "connected", power: "poweredOn"}
}

// wantVerdict holds the verdict on a machine, or on a VM without one, by name.
func wantVerdict(t *testing.T, r detector.Result, name, want string) {
	t.Helper()
	got := ""
	for _, c := range r.Clusters {
		for _, s := range append([]detector.Set{c.ControlPlane}, c.WorkerGroups...) {
			for _, v := range s.Machines {
				if v.Name == name {
					got += string(v.Status) + " " + string(v.Reason)
				}
			}
		}
	}
	for _, u := range r.Unattributed {
		if u.Instance.Name == name {
			got += "to confirm " + string(u.Reason)
		}
	}
	if strings.TrimSpace(got) != want {
		t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// Where a naming template can't be known, nobody knows what a VM would be called that
// was made since the backup: neither is its machine Stale, nor is it a Ghost.
func TestAMachineWhoseVMHasNoKnownName(t *testing.T) {
	for name, template := range map[string]string{
		"a function that is not understood": `vm-{{ .machine.name | replace "prod" "p" }}`,
		"a hash":                            `{{ .machine.name | sha256sum | trunc 8 }}-node`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newSmallBackup().replicas(2)
			b.another(fields{}, fields{"datacenter": "DC0", "folder": "/DC0/vm/prod", "namingStrategy": fields{"template": template}}, nil)
			r := b.decideWithin(t, sees{vms: []vm{recordedVM(), vmIn("vm-p-md-0-abcde-xwvtz", uuid2, "group-v5"), vmIn("prod-md-0-abcde-bcdfg", uuid3, "group-v5")}}, map[string]string{"prod-md-0-abcde-bcdfg": joined})
			wantVerdict(t, r, another, "Unknown AmbiguousMatch")
			wantVerdict(t, r, "vm-p-md-0-abcde-xwvtz", "to confirm InClusterFolder")
			wantVerdict(t, r, "prod-md-0-abcde-bcdfg", "Unknown MachineNotInBackup")
		})
	}
	t.Run("its VSphereMachine is missing", func(t *testing.T) {
		const name = "vm-prod-md-0-abcde-xwvtz"
		b := newSmallBackup().replicas(2)
		b.set(templates.Resource(), "spec.template.spec.namingStrategy", fields{"template": "vm-{{ .machine.name }}"})
		b.another(fields{}, nil, nil)
		r := b.decideWithin(t, sees{vms: []vm{recordedVM(), vmIn(name, uuid2, "group-v5")}}, map[string]string{name: joined})
		wantVerdict(t, r, name, "Unknown MachineNotInBackup")
	})
}

// A recorded vmRef says that a VM was made, whatever it is called by now.
func TestAVMRefWithoutAnID(t *testing.T) {
	b := newSmallBackup().replicas(1)
	b.set(vms.Resource(), "spec.biosUUID", "").set(machines.Resource(), "spec.providerID", "").set("machines"+capiGroup, "spec.providerID", nil)
	renamed := recordedVM()
	renamed.name, renamed.instanceUUID = "renamed", "42000000-0000-0000-0000-00000000abcd"
	r := b.decide(t, sees{vms: []vm{renamed, vmIn("prod-md-0-abcde-bcdfg", uuid3, "group-v5")}, nodes: []string{uuid3}})
	wantVerdict(t, r, "prod-md-0-abcde-vwxyz", "Unknown AmbiguousMatch")
	wantVerdict(t, r, "renamed", "to confirm SameName")
}

// Names of more than 57 characters are cut before the random part: what two owners
// would call their machines alike may be of the one whose machines the backup lacks.
func TestOwnersWhoseNamesAreCutToOneStem(t *testing.T) {
	short := strings.Repeat("customer-", 7)[:57] + "a"
	b := newSmallBackup().replicas(1)
	for name, n := range map[string]int{short: 2, short + "-eu": 0} {
		b.put("machinesets"+capiGroup, newObject("cluster.x-k8s.io/v1beta1", "MachineSet", "team", name, fields{
			"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"}, "spec.clusterName": "prod", "spec.replicas": n, "status.replicas": n,
		}))
	}
	name := short + "ddddd"
	r := b.decideWithin(t, sees{vms: []vm{recordedVM(), vmIn(name, uuid3, "group-v5")}}, map[string]string{name: joined})
	wantVerdict(t, r, name, "Unknown MachineNotInBackup")
}

package vsphere

import (
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/infra/vsphere/vspheretest"
)

// Of the backup that these tests start from.
const (
	joined  = "10.0.0.9:6443" // the API endpoint of cluster prod
	another = "prod-md-0-abcde-xwvtz"
	uuid3   = "42000000-0000-0000-0000-000000000333"
)

func vmIn(name, uuid, folder string) vm {
	return vm{ref: "vm-" + uuid[len(uuid)-3:], name: name, parent: folder, uuid: uuid, connection: "connected", power: "poweredOn"}
}

func recordedVM() vm {
	return vm{ref: "vm-136", name: "prod-vm-1", parent: "group-v5", uuid: vspheretest.UUID1, instanceUUID: vspheretest.VMUID, connection: "connected", power: "poweredOn"}
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
			b := vspheretest.NewBackup().Replicas(2)
			b.Another(fields{}, fields{"datacenter": "DC0", "folder": "/DC0/vm/prod", "namingStrategy": fields{"template": template}}, nil)
			r := decideWithin(t, b, sees{vms: []vm{recordedVM(), vmIn("vm-p-md-0-abcde-xwvtz", vspheretest.UUID2, "group-v5"), vmIn("prod-md-0-abcde-bcdfg", uuid3, "group-v5")}}, map[string]string{"prod-md-0-abcde-bcdfg": joined})
			wantVerdict(t, r, another, "Unknown AmbiguousMatch")
			wantVerdict(t, r, "vm-p-md-0-abcde-xwvtz", "to confirm InClusterFolder")
			wantVerdict(t, r, "prod-md-0-abcde-bcdfg", "Unknown MachineNotInBackup")
		})
	}
	t.Run("its VSphereMachine is missing", func(t *testing.T) {
		const name = "vm-prod-md-0-abcde-xwvtz"
		b := vspheretest.NewBackup().Replicas(2)
		b.Set(templates.Resource(), "spec.template.spec.namingStrategy", fields{"template": "vm-{{ .machine.name }}"})
		b.Another(fields{}, nil, nil)
		r := decideWithin(t, b, sees{vms: []vm{recordedVM(), vmIn(name, vspheretest.UUID2, "group-v5")}}, map[string]string{name: joined})
		wantVerdict(t, r, name, "Unknown MachineNotInBackup")
	})
}

// A recorded vmRef says that a VM was made, whatever it is called by now.
func TestAVMRefWithoutAnID(t *testing.T) {
	b := vspheretest.NewBackup().Replicas(1)
	b.Set(vms.Resource(), "spec.biosUUID", "").Set(machines.Resource(), "spec.providerID", "").Set("machines"+vspheretest.CAPIGroup, "spec.providerID", nil)
	renamed := recordedVM()
	renamed.name, renamed.instanceUUID = "renamed", "42000000-0000-0000-0000-00000000abcd"
	r := decide(t, b, sees{vms: []vm{renamed, vmIn("prod-md-0-abcde-bcdfg", uuid3, "group-v5")}, nodes: []string{uuid3}})
	wantVerdict(t, r, "prod-md-0-abcde-vwxyz", "Unknown AmbiguousMatch")
	wantVerdict(t, r, "renamed", "to confirm SameName")
}

// Names of more than 57 characters are cut before the random part: what two owners
// would call their machines alike may be of the one whose machines the backup lacks.
func TestOwnersWhoseNamesAreCutToOneStem(t *testing.T) {
	short := strings.Repeat("customer-", 7)[:57] + "a"
	b := vspheretest.NewBackup().Replicas(1)
	for name, n := range map[string]int{short: 2, short + "-eu": 0} {
		b.Put("machinesets"+vspheretest.CAPIGroup, vspheretest.Object("cluster.x-k8s.io/v1beta1", "MachineSet", "team", name, fields{
			"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"}, "spec.clusterName": "prod", "spec.replicas": n, "status.replicas": n,
		}))
	}
	name := short + "ddddd"
	r := decideWithin(t, b, sees{vms: []vm{recordedVM(), vmIn(name, uuid3, "group-v5")}}, map[string]string{name: joined})
	wantVerdict(t, r, name, "Unknown MachineNotInBackup")
}

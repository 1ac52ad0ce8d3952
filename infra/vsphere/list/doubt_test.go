package list

import (
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
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
		b.Set(vspheretest.Templates, "spec.template.spec.namingStrategy", fields{"template": "vm-{{ .machine.name }}"})
		b.Another(fields{}, nil, nil)
		r := decideWithin(t, b, sees{vms: []vm{recordedVM(), vmIn(name, vspheretest.UUID2, "group-v5")}}, map[string]string{name: joined})
		wantVerdict(t, r, name, "Unknown MachineNotInBackup")
	})
}

// A recorded vmRef says that a VM was made, whatever it is called by now.
func TestAVMRefWithoutAnID(t *testing.T) {
	b := vspheretest.NewBackup().Replicas(1)
	b.Set(vspheretest.VMs, "spec.biosUUID", "").Set(vspheretest.Machines, "spec.providerID", "").Set("machines"+vspheretest.CAPIGroup, "spec.providerID", nil)
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

// A K0sControlPlane names its machines NAME-0, NAME-1 …
func TestControlPlanesOfK0s(t *testing.T) {
	b := vspheretest.NewBackup().Replicas(1)
	b.Drop("kubeadmcontrolplanes.controlplane" + vspheretest.CAPIGroup)
	b.Set("clusters"+vspheretest.CAPIGroup, "spec.controlPlaneRef", fields{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "K0sControlPlane", "name": "prod-cp", "namespace": "team"})
	b.Put("k0scontrolplanes.controlplane"+vspheretest.CAPIGroup, vspheretest.Object("controlplane.cluster.x-k8s.io/v1beta1", "K0sControlPlane", "team", "prod-cp", fields{
		"metadata.labels": fields{"cluster.x-k8s.io/cluster-name": "prod"}, "spec.replicas": 0, "status.replicas": 0,
	}))
	ghost, database := vmIn("prod-cp-3", uuid3, "group-v5"), vmIn("prod-db-3", vspheretest.UUID2, "group-v5")
	ghost.created, database.created = backuptest.Written.Add(time.Hour), backuptest.Written.Add(time.Hour)
	guests := map[string]string{"prod-cp-3": "", "prod-db-3": ""}
	r := decideWithin(t, b, sees{vms: []vm{recordedVM(), ghost, database}}, guests)
	wantVerdict(t, r, "prod-cp-3", "Ghost")
	wantVerdict(t, r, "prod-db-3", "to confirm InClusterFolder")
	if v := r.Clusters[0].ControlPlane.Machines; len(v) != 1 || !v[0].ControlPlane {
		t.Errorf("the control plane has %+v", v)
	}
	// A number behind the name of a KubeadmControlPlane says nothing.
	plain := vspheretest.NewBackup().Replicas(1)
	wantVerdict(t, decideWithin(t, plain, sees{vms: []vm{recordedVM(), ghost}}, guests), "prod-cp-3", "to confirm InClusterFolder")
}

// Package vspheretest makes small backups of clusters of CAPV, for the tests of the
// provider and of its listing.
package vspheretest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// Ids of the machines of backups, and of the VSphereVM of the first.
const (
	UUID1 = "42000000-0000-0000-0000-000000000001"
	UUID2 = "42000000-0000-0000-0000-000000000002"
	VMUID = "cafe0000-0000-0000-0000-000000000001"
)

// Groups, and resources of CAPV.
const (
	Group     = "infrastructure.cluster.x-k8s.io"
	CAPIGroup = ".cluster.x-k8s.io" // behind resources of Cluster API

	Clusters  = "vsphereclusters." + Group
	Machines  = "vspheremachines." + Group
	VMs       = "vspherevms." + Group
	Templates = "vspheremachinetemplates." + Group
	Zones     = "vspheredeploymentzones." + Group
	Domains   = "vspherefailuredomains." + Group
)

const core, served = "cluster.x-k8s.io/v1beta1", Group + "/v1beta1"

// Fields are those of an object, or of a part of one.
type Fields = map[string]any

// Object returns a Kubernetes object. Fields are merged into it by dotted paths.
func Object(apiVersion, kind, namespace, name string, values Fields) Fields {
	o := Fields{"apiVersion": apiVersion, "kind": kind, "metadata": Fields{"name": name, "uid": kind + "-" + namespace + "-" + name}}
	if namespace != "" {
		backuptest.Inside(o, "metadata")["namespace"] = namespace
	}
	for p, v := range values {
		parts := strings.Split(p, ".")
		backuptest.Inside(o, parts[:len(parts)-1]...)[parts[len(parts)-1]] = v
	}
	return o
}

// NameOf returns the name of an object.
func NameOf(object Fields) string {
	name, _ := backuptest.Inside(object, "metadata")["name"].(string)
	return name
}

// Backup is a small backup: cluster prod in namespace team with one
// MachineDeployment, one MachineSet and one Machine, all the way down.
type Backup struct {
	Objects map[string]Fields // by resource and name
}

// NewBackup returns one that a test may change.
func NewBackup() *Backup {
	b := &Backup{map[string]Fields{}}
	labels := Fields{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/set-name": "prod-md-0-abcde", "cluster.x-k8s.io/deployment-name": "prod-md-0"}
	b.Put("clusters"+CAPIGroup, Object(core, "Cluster", "team", "prod", Fields{
		"spec.infrastructureRef":    Fields{"apiVersion": served, "kind": "VSphereCluster", "name": "prod", "namespace": "team"},
		"spec.controlPlaneRef":      Fields{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "KubeadmControlPlane", "name": "prod-cp", "namespace": "team"},
		"spec.controlPlaneEndpoint": Fields{"host": "10.0.0.9", "port": 6443},
	}))
	b.Put("kubeadmcontrolplanes.controlplane"+CAPIGroup, Object("controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane", "team", "prod-cp", Fields{
		"metadata.labels": Fields{"cluster.x-k8s.io/cluster-name": "prod"}, "spec.replicas": 1,
	}))
	b.Put("machinedeployments"+CAPIGroup, Object(core, "MachineDeployment", "team", "prod-md-0", Fields{
		"spec.clusterName": "prod", "spec.template.spec.clusterName": "prod",
		"spec.template.spec.infrastructureRef": Fields{"apiVersion": served, "kind": "VSphereMachineTemplate", "name": "prod-md-0", "namespace": "team"},
	}))
	b.Put("machinesets"+CAPIGroup, Object(core, "MachineSet", "team", "prod-md-0-abcde", Fields{
		"metadata.labels": labels, "spec.clusterName": "prod",
		"spec.template.spec.infrastructureRef": Fields{"apiVersion": served, "kind": "VSphereMachineTemplate", "name": "prod-md-0", "namespace": "team"},
	}))
	b.Put("machines"+CAPIGroup, Object(core, "Machine", "team", "prod-md-0-abcde-vwxyz", Fields{
		"metadata.labels": labels, "spec.clusterName": "prod", "spec.providerID": "vsphere://" + UUID1,
		"spec.infrastructureRef": Fields{"apiVersion": served, "kind": "VSphereMachine", "name": "prod-md-0-tpl-12345", "namespace": "team"},
	}))
	b.Put(Clusters, Object(served, "VSphereCluster", "team", "prod", Fields{
		"metadata.labels": Fields{"cluster.x-k8s.io/cluster-name": "prod"},
		"spec.server":     "vc1.example", "spec.identityRef": Fields{"kind": "Secret", "name": "prod"},
	}))
	b.Put(Machines, Object(served, "VSphereMachine", "team", "prod-md-0-tpl-12345", Fields{
		"metadata.labels": labels, "spec.providerID": "vsphere://" + strings.ToUpper(UUID1),
		"spec.datacenter": "DC0", "spec.folder": "/DC0/vm/prod",
	}))
	b.Put(VMs, Object(served, "VSphereVM", "team", "prod-vm-1", Fields{
		"metadata.labels": Fields{"cluster.x-k8s.io/cluster-name": "prod"}, "metadata.uid": VMUID,
		"metadata.ownerReferences": []any{Fields{"apiVersion": served, "kind": "VSphereMachine", "name": "prod-md-0-tpl-12345", "uid": "x"}},
		"spec.biosUUID":            UUID1, "spec.server": "vc1.example", "spec.datacenter": "DC0", "spec.folder": "/DC0/vm/prod",
		"spec.bootstrapRef": Fields{"kind": "KubeadmConfig", "name": "prod-md-0-abcde-vwxyz"},
		"status.vmRef":      "VirtualMachine:vm-136",
	}))
	b.Put(Templates, Object(served, "VSphereMachineTemplate", "team", "prod-md-0", Fields{
		"spec.template.spec": Fields{"server": "vc1.example", "datacenter": "DC0", "folder": "/DC0/vm/prod"},
	}))
	return b
}

// Put adds an object, or replaces the one of its name.
func (b *Backup) Put(resource string, o Fields) { b.Objects[resource+" "+NameOf(o)] = o }

// Only returns the one object of a resource.
func (b *Backup) Only(resource string) Fields {
	for k, o := range b.Objects {
		if strings.HasPrefix(k, resource+" ") {
			return o
		}
	}
	return nil
}

// Set sets a field of the one object of a resource, by its dotted path.
func (b *Backup) Set(resource, path string, value any) *Backup {
	parts := strings.Split(path, ".")
	backuptest.Inside(b.Only(resource), parts[:len(parts)-1]...)[parts[len(parts)-1]] = value
	return b
}

// Drop takes all objects of a resource away.
func (b *Backup) Drop(resource string) *Backup {
	maps.DeleteFunc(b.Objects, func(k string, _ Fields) bool { return strings.HasPrefix(k, resource+" ") })
	return b
}

// Bytes returns the tarball.
func (b *Backup) Bytes() []byte {
	tarball := backuptest.New()
	for _, k := range slices.Sorted(maps.Keys(b.Objects)) {
		resource, _, _ := strings.Cut(k, " ")
		tarball.Add(resource, b.Objects[k])
	}
	return tarball.Bytes()
}

// Load reads it as the program does.
func (b *Backup) Load(t *testing.T, want backup.Want) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", b.Bytes())}, want)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Problems) > 0 {
		t.Fatalf("problems: %v", s.Problems)
	}
	return s, secrets
}

// Replicas says of all owners of workers that they had n, and of the control plane none.
func (b *Backup) Replicas(n int) *Backup {
	for _, field := range []string{"spec.replicas", "status.replicas"} {
		b.Set("machinesets"+CAPIGroup, field, n).Set("machinedeployments"+CAPIGroup, field, n).Set("kubeadmcontrolplanes.controlplane"+CAPIGroup, field, 0)
	}
	return b
}

// Another adds a Machine of the MachineSet. What is nil is not in the backup.
func (b *Backup) Another(machine, vsphereMachine, vsphereVM Fields) *Backup {
	const name = "prod-md-0-abcde-xwvtz"
	labels := Fields{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/set-name": "prod-md-0-abcde", "cluster.x-k8s.io/deployment-name": "prod-md-0"}
	add := func(resource, apiVersion, kind string, spec, more Fields) {
		if spec == nil {
			return
		}
		o := Object(apiVersion, kind, "team", name, Fields{"metadata.labels": labels})
		for k, v := range spec {
			backuptest.Inside(o, "spec")[k] = v
		}
		for k, v := range more {
			backuptest.Inside(o, "metadata")[k] = v
		}
		b.Put(resource, o)
	}
	machine["clusterName"] = "prod"
	machine["infrastructureRef"] = Fields{"apiVersion": served, "kind": "VSphereMachine", "name": name, "namespace": "team"}
	add("machines"+CAPIGroup, core, "Machine", machine, nil)
	add(Machines, served, "VSphereMachine", vsphereMachine, nil)
	add(VMs, served, "VSphereVM", vsphereVM, Fields{
		"uid": "cafe0000-0000-0000-0000-000000000002", "ownerReferences": []any{Fields{"apiVersion": served, "kind": "VSphereMachine", "name": name, "uid": "x"}},
	})
	return b
}

// Neighbour adds a cluster of the namespace, under the same credential, with one
// VSphereVM.
func (b *Backup) Neighbour(vm Fields) *Backup {
	const name = "eu-md-0-abcde-bbbbb"
	b.Put("clusters"+CAPIGroup, Object(core, "Cluster", "team", "eu", Fields{
		"spec.infrastructureRef": Fields{"apiVersion": served, "kind": "VSphereCluster", "name": "eu", "namespace": "team"},
	}))
	b.Put(Clusters, Object(served, "VSphereCluster", "team", "eu", Fields{
		"spec.server": "vc1.example", "spec.identityRef": Fields{"kind": "Secret", "name": "prod"},
	}))
	b.Put(VMs, Object(served, "VSphereVM", "team", name, Fields{
		"metadata.labels": Fields{"cluster.x-k8s.io/cluster-name": "eu"}, "spec": vm,
	}))
	return b
}

// Secret adds one, of an owner if one is named.
func (b *Backup) Secret(namespace, name string, data map[string]string, owner ...string) *Backup {
	values := Fields{}
	for k, v := range data {
		values[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	o := Object("v1", "Secret", namespace, name, Fields{"data": values})
	if len(owner) > 0 {
		backuptest.Inside(o, "metadata")["ownerReferences"] = []any{Fields{"apiVersion": served, "kind": "VSphereClusterIdentity", "name": owner[0], "uid": "z"}}
	}
	b.Objects["secrets "+namespace+"/"+name] = o
	return b
}

// Login returns the values of a Secret that CAPV logs in with.
func Login(user, password string) map[string]string {
	return map[string]string{"username": user, "password": password}
}

// InNamespace returns the same backup of another namespace; objects without one stay.
func (b *Backup) InNamespace(t *testing.T, name string) *Backup {
	t.Helper()
	text, err := json.Marshal(b.Objects)
	other := &Backup{}
	if err == nil {
		err = json.Unmarshal([]byte(strings.NewReplacer(`"namespace":"team"`, `"namespace":"`+name+`"`, "-team-", "-"+name+"-").Replace(string(text))), &other.Objects)
	}
	if err != nil {
		t.Fatal(err)
	}
	return other
}

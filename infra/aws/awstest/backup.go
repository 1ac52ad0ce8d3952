// Package awstest makes small backups of clusters of CAPA, for the tests of the provider and of
// its listing.
package awstest

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// Region is that of the lab's AWS, and LabKey, LabSecret and LabToken are what it lets in.
const (
	Region = "us-east-1"

	LabKey    = "AKIALABLABLABLABLAB1"
	LabSecret = "m4rk3r/of+the+secret+access+key"
	LabToken  = "m4rk3r-of-the-session-token"
)

// Profile returns a credentials file as CAPA's controller gets it.
func Profile(id, secret, token string) string {
	return fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\nregion = us-east-1\n", id, secret, token)
}

// Secret returns one with such data.
func Secret(namespace, name string, data map[string]string) map[string]any {
	encoded := map[string]any{}
	for k, v := range data {
		encoded[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "data": encoded,
	}
}

// ManagerSecret returns the Secret of CAPA's controller, with a credentials file.
func ManagerSecret(profile string) map[string]any {
	return Secret(ManagerSpace, managerSecret, map[string]string{managerKey: profile})
}

// Load reads a backup as the program does for a provider that wants those objects.
func Load(t *testing.T, want backup.Want, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Problems {
		t.Fatalf("%s: %s", p.Item, p.Reason)
	}
	return s, secrets
}

// Save writes a backup where the lab can read which VPCs it names.
func Save(t *testing.T, b Backup) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Backup is a backup of machines, written object by object.
type Backup struct{ *backuptest.Tarball }

// NewBackup returns one that is empty.
func NewBackup() Backup { return Backup{backuptest.New()} }

// Cluster adds a Cluster and its AWSCluster.
func (b Backup) Cluster(namespace, name, region, vpc string, identityRef ...string) Backup {
	spec := map[string]any{"region": region, "network": map[string]any{"vpc": map[string]any{"id": vpc}}}
	if len(identityRef) == 2 {
		spec["identityRef"] = map[string]any{"kind": identityRef[0], "name": identityRef[1]}
	}
	b.Add("clusters.cluster.x-k8s.io", CAPIObject("Cluster", namespace, name, name, map[string]any{
		"infrastructureRef": map[string]any{"apiGroup": Group, "kind": ClusterKind, "name": name},
	}))
	b.Add("awsclusters."+Group, Object(ClusterKind, namespace, name, name, spec))
	return b
}

// EKS adds a Cluster and its AWSManagedControlPlane.
func (b Backup) EKS(namespace, name, plane string, spec map[string]any) Backup {
	b.Add("clusters.cluster.x-k8s.io", CAPIObject("Cluster", namespace, name, name, map[string]any{
		"controlPlaneRef": map[string]any{"apiGroup": PlaneGroup, "kind": PlaneKind, "name": plane},
	}))
	o := Object(PlaneKind, namespace, plane, name, spec)
	o["apiVersion"] = PlaneGroup + "/v1beta2"
	b.Add("awsmanagedcontrolplanes."+PlaneGroup, o)
	return b
}

// Machine adds a Machine of a MachineSet and its AWSMachine.
func (b Backup) Machine(namespace, cluster, name, instanceID string) Backup {
	spec := map[string]any{}
	if instanceID != "" {
		spec["instanceID"], spec["providerID"] = instanceID, "aws:///us-east-1a/"+instanceID
	}
	b.Add("awsmachines."+Group, Object(MachineKind, namespace, name, cluster, spec))
	b.Add("machines.cluster.x-k8s.io", CAPIObject("Machine", namespace, name, cluster, map[string]any{
		"clusterName":       cluster,
		"infrastructureRef": map[string]any{"apiGroup": Group, "kind": MachineKind, "name": name},
	}))
	return b
}

// Identity adds one that every namespace may use, unless spec says who may.
func (b Backup) Identity(kind, name string, spec map[string]any) Backup {
	if _, given := spec["allowedNamespaces"]; !given {
		spec["allowedNamespaces"] = map[string]any{}
	}
	resource := map[string]string{StaticIdentity: "awsclusterstaticidentities.", RoleIdentity: "awsclusterroleidentities."}[kind]
	b.Add(resource+Group, Object(kind, "", name, "", spec))
	return b
}

// Set adds a MachineSet that had that many machines.
func (b Backup) Set(namespace, cluster, name string, replicas int) Backup {
	o := CAPIObject("MachineSet", namespace, name, cluster, map[string]any{"clusterName": cluster, "replicas": replicas})
	o["status"] = map[string]any{"replicas": replicas}
	b.Add("machinesets.cluster.x-k8s.io", o)
	return b
}

// Keys adds the Secret of CAPA's controller, with keys that the lab's AWS lets in.
func (b Backup) Keys() Backup {
	b.Add("secrets", ManagerSecret(Profile(LabKey, LabSecret, LabToken)))
	return b
}

// CAPIObject returns an object of Cluster API.
func CAPIObject(kind, namespace, name, cluster string, spec map[string]any) map[string]any {
	o := Object(kind, namespace, name, cluster, spec)
	o["apiVersion"] = "cluster.x-k8s.io/v1beta2"
	return o
}

// Object returns an object of CAPA: without namespace or cluster where those are "".
func Object(kind, namespace, name, cluster string, spec map[string]any) map[string]any {
	meta := map[string]any{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	if cluster != "" {
		meta["labels"] = map[string]any{"cluster.x-k8s.io/cluster-name": cluster}
	}
	return map[string]any{"apiVersion": Group + "/v1beta2", "kind": kind, "metadata": meta, "spec": spec}
}

// InstanceID makes a well-formed instance id.
func InstanceID(n int) string { return fmt.Sprintf("i-%017x", n) }

// RoleA is a role of another account than the lab's, RoleB one of that.
const RoleA, RoleB = "arn:aws:iam::222222222222:role/a", "arn:aws:iam::" + lab.EC2Account + ":role/path/b"

// RoleSpec returns the spec of an AWSClusterRoleIdentity, which the source assumes unless its kind is "".
func RoleSpec(arn, externalID, sourceKind, sourceName string) map[string]any {
	s := map[string]any{"roleARN": arn, "externalID": externalID}
	if sourceKind != "" {
		s["sourceIdentityRef"] = map[string]any{"kind": sourceKind, "name": sourceName}
	}
	return s
}

// One returns a backup of one empty cluster under an identity.
func One(identityRef ...string) Backup {
	return NewBackup().Cluster("ns", "alpha", Region, "vpc-1", identityRef...).Set("ns", "alpha", "alpha-md", 0)
}

// Static adds the Secret of an AWSClusterStaticIdentity as CAPA leaves it.
func (b Backup) Static(namespace, name, owner string) Backup {
	o := Secret(namespace, name, map[string]string{AccessKey: LabKey, SecretKey: LabSecret, TokenKey: LabToken + "\n"})
	if owner != "" {
		o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"kind": StaticIdentity, "name": owner, "uid": "u"}}
	}
	b.Add("secrets", o)
	return b
}

// Pool adds a MachinePool of one member, with its reference to an infrastructure pool.
func (b Backup) Pool(cluster, name, kind, infraName string) Backup {
	b.Add("machinepools.cluster.x-k8s.io", CAPIObject("MachinePool", "ns", name, cluster, map[string]any{
		"clusterName": cluster, "replicas": 1, "providerIDList": []any{"aws:///us-east-1a/" + InstanceID(1)},
		"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": Group, "kind": kind, "name": infraName}}},
	}))
	return b
}

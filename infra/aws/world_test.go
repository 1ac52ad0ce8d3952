package aws

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/internal/lab"
)

const (
	fleetBackup    = "../../testdata/fleet-data.tar.gz"
	fleetInstances = "../../testdata/aws/describe-instances.json"
	fleetAccount   = lab.EC2Account
	fleetRegion    = "us-east-1"
	fleetTarget    = "aws/us-east-1/AWSClusterControllerIdentity/default"

	labKey    = "AKIALABLABLABLABLAB1"
	labSecret = "m4rk3r/of+the+secret+access+key"
	labToken  = "m4rk3r-of-the-session-token"
)

// profileOf returns a credentials file as CAPA's controller gets it.
func profileOf(id, secret, token string) string {
	return fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\nregion = us-east-1\n", id, secret, token)
}

func secretObject(namespace, name string, data map[string]string) map[string]any {
	encoded := map[string]any{}
	for k, v := range data {
		encoded[k] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "data": encoded,
	}
}

func managerSecretObject(profile string) map[string]any {
	return secretObject(managerSpace, managerSecret, map[string]string{managerKey: profile})
}

// fleet returns the lab's backup with a controller's credential, which the lab lacks.
func fleet(t *testing.T, profile string) []byte {
	t.Helper()
	out := backuptest.NewFormat("")
	backuptest.Rewrite(t, fleetBackup, func(path string, body []byte) ([]byte, bool) {
		out.Raw(path, body)
		return body, true
	})
	if profile != "" {
		out.Add("secrets", managerSecretObject(profile))
	}
	return out.Bytes()
}

// load reads a backup as the program does.
func load(t *testing.T, data []byte) (*backup.Snapshot, *backup.Secrets) {
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

// fleetEC2 returns what the lab's EC2 answers.
func fleetEC2() lab.EC2Options {
	return lab.EC2Options{Instances: fleetInstances, Backup: fleetBackup}
}

// saved writes a backup where the lab can read which VPCs it names.
func saved(t *testing.T, b made) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// small returns the provider with short pages and short waits.
func small(page int32) infra.Provider {
	p := New().(*provider)
	p.page, p.maxBackoff = page, time.Millisecond
	return p
}

// listAll lists all targets one after the other, refused ones as the registry does.
func listAll(t *testing.T, p infra.Provider, s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) infra.Inventory {
	t.Helper()
	return infra.NewRegistry(p).Collect(t.Context(), p.Targets(s, secrets, a), nil)
}

// listRelated lists as detect does it: what the backup has no key for is packed.
func listRelated(t *testing.T, p infra.Provider, s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) infra.Inventory {
	t.Helper()
	expected, targets := p.Expected(s), p.Targets(s, secrets, a)
	for i := range targets {
		targets[i].IsRelated = expected.IsRelated()
	}
	return infra.NewRegistry(p).Collect(t.Context(), targets, nil)
}

// made is a backup of machines, written object by object.
type made struct{ *backuptest.Tarball }

func newMade() made { return made{backuptest.New()} }

// cluster adds a Cluster and its AWSCluster.
func (m made) cluster(namespace, name, region, vpc string, identityRef ...string) made {
	spec := map[string]any{"region": region, "network": map[string]any{"vpc": map[string]any{"id": vpc}}}
	if len(identityRef) == 2 {
		spec["identityRef"] = map[string]any{"kind": identityRef[0], "name": identityRef[1]}
	}
	m.Add("clusters.cluster.x-k8s.io", capiObject("Cluster", namespace, name, name, map[string]any{
		"infrastructureRef": map[string]any{"apiGroup": group, "kind": clusterKind, "name": name},
	}))
	m.Add("awsclusters."+group, infraObject(clusterKind, namespace, name, name, spec))
	return m
}

// eks adds a Cluster and its AWSManagedControlPlane.
func (m made) eks(namespace, name, plane string, spec map[string]any) made {
	m.Add("clusters.cluster.x-k8s.io", capiObject("Cluster", namespace, name, name, map[string]any{
		"controlPlaneRef": map[string]any{"apiGroup": planeGroup, "kind": planeKind, "name": plane},
	}))
	o := infraObject(planeKind, namespace, plane, name, spec)
	o["apiVersion"] = planeGroup + "/v1beta2"
	m.Add("awsmanagedcontrolplanes."+planeGroup, o)
	return m
}

// machine adds a Machine of a MachineSet and its AWSMachine.
func (m made) machine(namespace, cluster, name, instanceID string) made {
	spec := map[string]any{}
	if instanceID != "" {
		spec["instanceID"], spec["providerID"] = instanceID, "aws:///us-east-1a/"+instanceID
	}
	m.Add("awsmachines."+group, infraObject(machineKind, namespace, name, cluster, spec))
	m.Add("machines.cluster.x-k8s.io", capiObject("Machine", namespace, name, cluster, map[string]any{
		"clusterName":       cluster,
		"infrastructureRef": map[string]any{"apiGroup": group, "kind": machineKind, "name": name},
	}))
	return m
}

// identity adds one that every namespace may use, unless spec says who may.
func (m made) identity(kind, name string, spec map[string]any) made {
	if _, given := spec["allowedNamespaces"]; !given {
		spec["allowedNamespaces"] = map[string]any{}
	}
	resource := map[string]string{staticIdentity: "awsclusterstaticidentities.", roleIdentity: "awsclusterroleidentities."}[kind]
	m.Add(resource+group, infraObject(kind, "", name, "", spec))
	return m
}

// set adds a MachineSet that had that many machines.
func (m made) set(namespace, cluster, name string, replicas int) made {
	o := capiObject("MachineSet", namespace, name, cluster, map[string]any{"clusterName": cluster, "replicas": replicas})
	o["status"] = map[string]any{"replicas": replicas}
	m.Add("machinesets.cluster.x-k8s.io", o)
	return m
}

func (m made) keys() made {
	m.Add("secrets", managerSecretObject(profileOf(labKey, labSecret, labToken)))
	return m
}

func capiObject(kind, namespace, name, cluster string, spec map[string]any) map[string]any {
	o := infraObject(kind, namespace, name, cluster, spec)
	o["apiVersion"] = "cluster.x-k8s.io/v1beta2"
	return o
}

func infraObject(kind, namespace, name, cluster string, spec map[string]any) map[string]any {
	meta := map[string]any{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	if cluster != "" {
		meta["labels"] = map[string]any{"cluster.x-k8s.io/cluster-name": cluster}
	}
	return map[string]any{"apiVersion": group + "/v1beta2", "kind": kind, "metadata": meta, "spec": spec}
}

// capaInstance returns an instance with the tags that CAPA gives it.
func capaInstance(id, vpc, owner, role, machineName, name string) lab.EC2Instance {
	i := instanceWith(id, vpc, lab.EC2Tag{Key: tagName, Value: name}, lab.EC2Tag{Key: tagOwner + owner, Value: owned}, lab.EC2Tag{Key: tagRole, Value: role})
	if machineName != "" {
		i.Tags = append(i.Tags, lab.EC2Tag{Key: tagMachineName, Value: machineName})
	}
	return i
}

// instanceWith returns a running instance in the fleet's region.
func instanceWith(id, vpc string, tags ...lab.EC2Tag) lab.EC2Instance {
	i := lab.EC2Instance{InstanceID: id, VPC: vpc, State: lab.EC2State{Code: 16, Name: "running"}, Tags: tags}
	i.Placement.AvailabilityZone = fleetRegion + "a"
	return i
}

// idOf makes a well-formed instance id.
func idOf(n int) string { return fmt.Sprintf("i-%017x", n) }

// sdkInstance returns an instance that was launched at one time and whose disk was
// attached at another.
func sdkInstance(launched, attached time.Time) types.Instance {
	return types.Instance{
		LaunchTime:          &launched,
		BlockDeviceMappings: []types.InstanceBlockDeviceMapping{{Ebs: &types.EbsInstanceBlockDevice{AttachTime: &attached}}},
	}
}

// ambientAccess lets the operator's own credential be used, and makes it the lab's.
func ambientAccess(t *testing.T) infra.Access {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": labKey, "AWS_SECRET_ACCESS_KEY": labSecret, "AWS_SESSION_TOKEN": labToken,
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	return infra.Access{Options: map[string]string{flagAmbient: "true"}}
}

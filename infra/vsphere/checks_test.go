package vsphere

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
)

// TestCheck holds what the provider tells of a backup: credentials in each of
// CAPV's places, and VMs that were gone, in both forms of the condition.
func TestCheck(t *testing.T) {
	object := func(kind, name string, spec, status map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": kind, "spec": spec, "status": status,
			"metadata": map[string]any{"namespace": "n", "name": name, "labels": map[string]any{"cluster.x-k8s.io/cluster-name": name}},
		}
	}
	cluster := func(b *backuptest.Tarball, name string, identity map[string]any) {
		spec := map[string]any{"server": "vc.example"}
		if identity != nil {
			spec["identityRef"] = identity
		}
		b.Add("clusters.cluster.x-k8s.io", map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": map[string]any{"namespace": "n", "name": name},
			"spec": map[string]any{"infrastructureRef": map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "VSphereCluster", "name": name}},
		})
		b.Add("vsphereclusters.infrastructure.cluster.x-k8s.io", object("VSphereCluster", name, spec, nil))
	}
	vm := func(b *backuptest.Tarball, name, kind, status, reason string) {
		b.Add("vspherevms.infrastructure.cluster.x-k8s.io", object("VSphereVM", name, map[string]any{"server": "vc.example"}, map[string]any{
			"conditions": []any{
				map[string]any{"type": "Ready", "status": "False", "reason": "NotFoundByBIOSUUID"},
				map[string]any{"type": kind, "status": status, "reason": reason},
			},
		}))
	}
	b := backuptest.New()
	cluster(b, "manager", nil)
	cluster(b, "named", map[string]any{"kind": "Secret", "name": "own"})
	cluster(b, "shared", map[string]any{"kind": "VSphereClusterIdentity", "name": "all"})
	cluster(b, "empty", map[string]any{"kind": "Secret", "name": "empty"})
	cluster(b, "fine", map[string]any{"kind": "Secret", "name": "fine"})
	for name, password := range map[string]string{"fine": "p", "empty": ""} {
		b.Add("secrets", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "n", "name": name},
			"data": map[string]any{"username": "dQ==", "password": base64.StdEncoding.EncodeToString([]byte(password))},
		})
	}
	vm(b, "old", "VMProvisioned", "False", "NotFoundByBIOSUUID")
	vm(b, "new", "VirtualMachineProvisioned", "False", "NotFoundByBIOSUUID")
	vm(b, "cloning", "VirtualMachineProvisioned", "False", "CloningFailed")
	vm(b, "well", "VirtualMachineProvisioned", "True", "NotFoundByBIOSUUID")

	p := New().(*provider)
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("b", b.Bytes())}, p.Spec().Want)
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	var got []string
	for _, f := range p.Check(s, secrets, time.Time{}) {
		got = append(got, string(f.Severity)+" "+f.Code+" "+f.Object+": "+f.Message)
		if f.Code == "CredentialAbsent" && f.Absent.Resource != "secrets" {
			t.Errorf("%s does not say that it is about a Secret", f.Object)
		}
	}
	slices.Sort(got)
	want := []string{
		"error CredentialAbsent Secret capv-system/capv-manager-bootstrap-credentials: the cluster names no identity, and Secret capv-manager-bootstrap-credentials is not in the backup; used by 1 cluster",
		"error CredentialAbsent Secret n/empty: Secret n/empty has an empty username or password; used by 1 cluster",
		"error CredentialAbsent Secret n/own: Secret n/own with username and password is not in the backup; used by 1 cluster",
		"error CredentialAbsent credential of VSphereClusterIdentity all: the Secret of VSphereClusterIdentity all is not in the backup; used by 1 cluster",
		"warning VMGone VSphereVM n/new: condition says NotFoundByBIOSUUID, while its Machine is not in the backup",
		"warning VMGone VSphereVM n/old: condition says NotFoundByBIOSUUID, while its Machine is not in the backup",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
	if found := p.Check(s, nil, time.Time{}); check.Count(found, check.Error) != 5 {
		t.Errorf("without Secrets %d credentials are missed, want 5", check.Count(found, check.Error))
	}
}

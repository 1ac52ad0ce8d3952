package vsphere

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/report/code"
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
	cluster(b, "vault", map[string]any{"kind": "Vault", "name": "own"})
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

	p := new(Provider)
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("b", b.Bytes())}, p.Spec().Want)
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	var got []string
	for _, f := range p.Check(s, secrets, time.Time{}) {
		got = append(got, string(f.Severity)+" "+string(f.Code)+" "+f.Object+": "+f.Message)
		if f.Code == "CredentialAbsent" && f.Absent.Resource != "secrets" {
			t.Errorf("%s does not say that it is about a Secret", f.Object)
		}
	}
	slices.Sort(got)
	want := []string{
		`error BadIdentity identity Vault/n/own: identityRef of kind "Vault" is unknown; used by 1 cluster`,
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
	found := slices.DeleteFunc(p.Check(s, nil, time.Time{}), func(f check.Finding) bool { return f.Severity != code.CheckError })
	if len(found) != 6 {
		t.Errorf("without Secrets %d credentials are missed, want 6", len(found))
	}
}

// A namespace that may not use an identity is another finding than a Secret that is not in
// the backup, and both are made where both are so.
func TestCheckSaysWhoMayUseAnIdentity(t *testing.T) {
	platform := fields{"matchLabels": fields{"team": "platform"}}
	const (
		forbidden = "error IdentityForbidden VSphereClusterIdentity shared for namespace team"
		undecided = "warning IdentityForbidden VSphereClusterIdentity shared for namespace team"
		absent    = "error CredentialAbsent credential of VSphereClusterIdentity shared"
	)
	loggedIn := func(b *vspheretest.Backup) *vspheretest.Backup {
		return b.Set(clusters.Resource(), "status.conditions", []any{fields{"type": "VCenterAvailable", "status": "True"}})
	}
	noSecret := func(b *vspheretest.Backup) *vspheretest.Backup { return b.Drop("secrets") }
	for name, c := range map[string]struct {
		b    *vspheretest.Backup
		want []string
		says string
	}{
		"everybody":                    {shared(allowing(fields{}), nil), nil, ""},
		"everybody, no selector":       {shared(fields{"spec.allowedNamespaces": fields{}}, nil), nil, ""},
		"everybody, no labels":         {shared(allowing(fields{"matchLabels": fields{}}), fields{}), nil, ""},
		"everybody, no Secret":         {noSecret(shared(allowing(fields{}), nil)), []string{absent}, "Secret creds of VSphereClusterIdentity shared is not in the backup"},
		"selected":                     {shared(allowing(platform), fields{"team": "platform"}), nil, ""},
		"selected by name":             {shared(allowing(fields{"matchLabels": fields{nameLabel: "team"}}), nil), nil, ""},
		"nobody":                       {shared(fields{}, fields{}), []string{forbidden}, "no allowedNamespaces"},
		"nobody, null":                 {shared(fields{"spec.allowedNamespaces": nil}, fields{}), []string{forbidden}, "no allowedNamespaces"},
		"another label":                {shared(allowing(platform), fields{"team": "payments"}), []string{forbidden}, "does not select Namespace team"},
		"another label, logged in":     {loggedIn(shared(allowing(platform), fields{})), []string{forbidden}, "does not select Namespace team"},
		"another label, no Secret":     {noSecret(shared(allowing(platform), fields{})), []string{absent, forbidden}, "does not select Namespace team"},
		"no Namespace":                 {shared(allowing(platform), nil), []string{undecided}, "Namespace team is not in the backup"},
		"no Namespace, logged in":      {loggedIn(shared(allowing(platform), nil)), []string{undecided}, "Namespace team is not in the backup"},
		"no Namespace, no Secret":      {noSecret(shared(allowing(platform), nil)), []string{absent, undecided}, "Namespace team is not in the backup"},
		"no identity":                  {shared(nil, nil), nil, ""},
		"no identity, no Secret of it": {noSecret(shared(nil, nil)), []string{absent}, "the Secret of VSphereClusterIdentity shared is not in the backup"},
	} {
		t.Run(name, func(t *testing.T) {
			s, secrets := c.b.Load(t, want)
			var got []string
			says := ""
			for _, f := range new(Provider).Check(s, secrets, time.Time{}) {
				if strings.Contains(string(f.Code), "Version") {
					continue
				}
				got, says = append(got, string(f.Severity)+" "+string(f.Code)+" "+f.Object), f.Message
				if (f.Code == "CredentialAbsent") != (f.Absent.Resource == "secrets") || len(f.Clusters) != 1 {
					t.Errorf("%s misses %+v and concerns %v", f.Code, f.Absent, f.Clusters)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) || !strings.Contains(says, c.says) {
				t.Errorf("found %q, the last: %q", got, says)
			}
		})
	}
}

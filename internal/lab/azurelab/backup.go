package azurelab

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

// Subscriptions of the recorded fleet.
const (
	Retail = "8a1f3c52-6d0e-4b7a-9c41-2f5e7d9b1a30" // of clusters shop and edge-7
	ML     = "c47e9b06-12d5-4f38-8ab3-6e0f91d7c254" // of cluster train
)

// Operator is an account that may read all of the recorded Azure, by the names of variables.
var Operator = map[string]string{
	"AZURE_TENANT_ID": "3d9c2f71-5b8e-4a06-9f12-c7e04b6a8d15", "AZURE_CLIENT_ID": "11111111-aaaa-4bbb-8ccc-000000000001", "AZURE_CLIENT_SECRET": "operator-secret",
}

// Secret is that of the identity of cluster shop, AzureClusterIdentity retail-sp.
const Secret = "lab~Secret8Q.retail"

// Backup returns the backup of the fleet that CAPZ made on the recorded Azure, which is in the
// folder, testdata/azure.
func Backup(t testing.TB, folder string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "azure-data.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Edit changes those objects of a backup that the provider reads.
func Edit(t testing.TB, data []byte, change func(resource string, object map[string]any) (keep bool)) []byte {
	t.Helper()
	return backuptest.Edit(t, data, change, "secrets", "azure", "machine", "cluster", "resourcegroups")
}

// Spec returns a change, for Edit, of the spec of the objects of a kind: of one name, or of all.
func Spec(kind, name string, change func(spec map[string]any)) func(string, map[string]any) bool {
	return func(_ string, o map[string]any) bool {
		if meta, _ := o["metadata"].(map[string]any); o["kind"] == kind && (name == "" || meta["name"] == name) {
			change(o["spec"].(map[string]any))
		}
		return true
	}
}

// WithIdentity returns a backup whose identity retail-sp is another, with that value in its Secret.
func WithIdentity(t testing.TB, data []byte, value string, change func(spec map[string]any)) []byte {
	t.Helper()
	return Edit(t, data, func(resource string, o map[string]any) bool {
		if meta, _ := o["metadata"].(map[string]any); resource == "secrets" && meta["name"] == "retail-sp-secret" {
			o["data"].(map[string]any)["clientSecret"] = []byte(value)
		}
		return Spec("AzureClusterIdentity", "retail-sp", change)(resource, o)
	})
}

// SelfSigned returns a certificate with its key in PEM form, for an identity.
func SelfSigned(t testing.TB) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "capz"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})) + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// Finder is what a provider does before it lists.
type Finder interface {
	Spec() infra.Spec
	Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target
}

// Load reads a backup as the program does for a provider.
func Load(t testing.TB, p Finder, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, p.Spec().Want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// TargetOf returns the target of cluster shop.
func TargetOf(t testing.TB, p Finder, data []byte, a infra.Access) infra.Target {
	t.Helper()
	s, secrets := Load(t, p, data)
	for _, target := range p.Targets(s, secrets, a) {
		for _, id := range target.Clusters {
			if id.Name == "shop" {
				return target
			}
		}
	}
	t.Fatal("cluster shop has no target")
	return infra.Target{}
}

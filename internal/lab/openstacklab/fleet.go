package openstacklab

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

// Fleet returns the backup of the fleet that CAPO made on the recorded OpenStack, which is in the
// folder, testdata/openstack.
func Fleet(t testing.TB, folder string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "openstack-data.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Edit changes the Secrets and OpenStack objects of a backup.
func Edit(t testing.TB, data []byte, change func(resource string, object map[string]any) (keep bool)) []byte {
	t.Helper()
	return backuptest.Edit(t, data, change, "secrets", "openstack")
}

// WithClouds changes each clouds.yaml of a backup, and puts a CA beside it.
func WithClouds(t testing.TB, data, ca []byte, change func(text string) string) []byte {
	t.Helper()
	return Edit(t, data, func(resource string, object map[string]any) bool {
		values := backuptest.Inside(object, "data")
		raw, ok := values["clouds.yaml"].(string)
		if resource != "secrets" || !ok {
			return true
		}
		text, err := base64.StdEncoding.DecodeString(raw)
		if err != nil {
			t.Fatal(err)
		}
		values["clouds.yaml"] = base64.StdEncoding.EncodeToString([]byte(change(string(text))))
		if len(ca) > 0 {
			values["cacert"] = base64.StdEncoding.EncodeToString(ca)
		}
		return true
	})
}

// LeadTo gives all credentials of a backup another address and password.
func LeadTo(t testing.TB, data []byte, at string, ca []byte, password string) []byte {
	t.Helper()
	return WithClouds(t, data, ca, func(text string) string {
		return strings.NewReplacer("http://127.0.0.1:6000/v3", `"`+at+`"`, "s3cret-Public-7", password).Replace(text)
	})
}

// Load reads a backup as the program does for a provider.
func Load(t testing.TB, p interface{ Spec() infra.Spec }, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, p.Spec().Want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

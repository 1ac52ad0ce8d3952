package openstack

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
)

// lab is the fleet that CAPO made on a real OpenStack.
const lab = "../../testdata/openstack/"

func fleet(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(lab + "openstack-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// load reads a backup as the program does.
func load(t *testing.T, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// edit changes the Secrets and OpenStack objects of a backup.
func edit(t *testing.T, data []byte, change func(resource string, object map[string]any) (keep bool)) []byte {
	t.Helper()
	return backuptest.Edit(t, data, change, "secrets", "openstack")
}

// withClouds changes each clouds.yaml of a backup, and puts a CA beside it.
func withClouds(t *testing.T, data, ca []byte, change func(text string) string) []byte {
	t.Helper()
	return edit(t, data, func(resource string, object map[string]any) bool {
		values := backuptest.Inside(object, "data")
		raw, ok := values[cloudsKey].(string)
		if resource != "secrets" || !ok {
			return true
		}
		text, err := base64.StdEncoding.DecodeString(raw)
		if err != nil {
			t.Fatal(err)
		}
		values[cloudsKey] = base64.StdEncoding.EncodeToString([]byte(change(string(text))))
		if len(ca) > 0 {
			values[caKey] = base64.StdEncoding.EncodeToString(ca)
		}
		return true
	})
}

// leadTo gives all credentials of a backup another address and password.
func leadTo(t *testing.T, data []byte, at string, ca []byte, password string) []byte {
	t.Helper()
	return withClouds(t, data, ca, func(text string) string {
		return strings.NewReplacer("http://127.0.0.1:6000/v3", `"`+at+`"`, "s3cret-Public-7", password).Replace(text)
	})
}

package openstack

import (
	"encoding/base64"
	"encoding/json"
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
	return backuptest.Rewrite(t, data, func(path string, body []byte) ([]byte, bool) {
		parts := strings.Split(path, "/")
		if parts[0] != "resources" || !strings.HasSuffix(path, ".json") {
			return body, true
		}
		if resource := parts[1]; resource != "secrets" && !strings.HasPrefix(resource, "openstack") {
			return body, true
		}
		var object map[string]any
		if err := json.Unmarshal(body, &object); err != nil {
			t.Fatal(err)
		}
		if !change(parts[1], object) {
			return nil, false
		}
		out, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return out, true
	})
}

// inside walks into an object by member names and returns the last map.
func inside(object map[string]any, names ...string) map[string]any {
	for _, n := range names {
		next, ok := object[n].(map[string]any)
		if !ok {
			next = map[string]any{}
			object[n] = next
		}
		object = next
	}
	return object
}

// withClouds changes each clouds.yaml of a backup, and puts a CA beside it.
func withClouds(t *testing.T, data, ca []byte, change func(text string) string) []byte {
	t.Helper()
	return edit(t, data, func(resource string, object map[string]any) bool {
		values := inside(object, "data")
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

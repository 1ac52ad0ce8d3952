package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// etcd holds the objects of a kube-apiserver.
type etcd struct{ url string }

func startEtcd(t *testing.T) *etcd {
	t.Helper()
	e := &etcd{url: "http://127.0.0.1:" + port(t)}
	peers := "http://127.0.0.1:" + port(t)
	p := start(t, "etcd", "--data-dir", t.TempDir(), "--unsafe-no-fsync", "--log-level", "error",
		"--listen-client-urls", e.url, "--advertise-client-urls", e.url,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	wait(t, "etcd", func() bool {
		if p.ends() {
			t.Fatal("etcd does not start")
		}
		resp, err := http.Get(e.url + "/health")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return e
}

// call asks the gateway of its API.
func (e *etcd) call(t *testing.T, path string, in, out any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(e.url+path, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, out)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", path, text, err)
	}
}

// put stores an object below /registry/.
func (e *etcd) put(t *testing.T, key string, object any) {
	t.Helper()
	value, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	e.call(t, "/v3/kv/put", map[string][]byte{"key": []byte("/registry/" + key), "value": value}, &struct{}{})
}

// delete takes an object away.
func (e *etcd) delete(t *testing.T, key string) {
	t.Helper()
	e.call(t, "/v3/kv/deleterange", map[string][]byte{"key": []byte("/registry/" + key)}, &struct{}{})
}

// get returns an object that is stored as JSON.
func (e *etcd) get(t *testing.T, key string) map[string]any {
	t.Helper()
	var found struct{ KVs []struct{ Value []byte } }
	e.call(t, "/v3/kv/range", map[string][]byte{"key": []byte("/registry/" + key)}, &found)
	var object map[string]any
	if len(found.KVs) != 1 {
		t.Fatalf("etcd holds %d of %s", len(found.KVs), key)
	}
	if err := json.Unmarshal(found.KVs[0].Value, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// compact forgets all but what is there now.
func (e *etcd) compact(t *testing.T) {
	t.Helper()
	var now struct{ Header struct{ Revision string } }
	e.call(t, "/v3/kv/range", map[string][]byte{"key": []byte("/registry/")}, &now)
	e.call(t, "/v3/kv/compaction", map[string]any{"revision": now.Header.Revision, "physical": true}, &struct{}{})
}

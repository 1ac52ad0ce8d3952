package live

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"

	"drift-detector/internal/lab"
)

// another is an API server of somebody else, such as that of metrics, to which kube-apiserver
// hands on what is of its group.
type another struct {
	server *http.Server
	port   int
}

const foreignGroup = "foreign.example"

func startAnother(t *testing.T) *another {
	t.Helper()
	c, err := lab.SelfSigned("localhost")
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{c}})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string]any{
		"/apis/" + foreignGroup + "/v1": {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": foreignGroup + "/v1", "resources": []any{
			map[string]any{"name": "things", "singularName": "thing", "namespaced": true, "kind": "Thing", "verbs": []string{"get", "list"}},
		}},
		"/apis/" + foreignGroup + "/v1/things": {"kind": "ThingList", "apiVersion": foreignGroup + "/v1", "metadata": map[string]any{}, "items": []any{}},
	}
	a := &another{port: l.Addr().(*net.TCPAddr).Port, server: &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path]
		if answer == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})}}
	go func() { _ = a.server.Serve(l) }()
	t.Cleanup(func() { _ = a.server.Close() })
	return a
}

// releases holds what releases says, which reads all kinds, of the backup. Some of them another
// server serves: when that is down they are unread, when kube-apiserver was started again, too,
// and then discovery does not even name them.
func releases(t *testing.T, w *world, s *apiserver) {
	said := func(o outcome) string {
		var doc struct{ Releases any }
		if err := json.Unmarshal(o.file, &doc); err != nil {
			t.Fatal(err, o.stderr)
		}
		text, err := json.MarshalIndent(doc.Releases, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	backup := runTo(t, "releases.json", nil, "releases", "--backup", w.backup)
	backup.demand(t, 0)
	want := said(backup)
	says := func(code int, unread string) {
		t.Helper()
		o := runTo(t, "releases.json", nil, "releases", "--kubeconfig", s.kubeconfig(t, admin))
		o.demand(t, code)
		if got := said(o); got != want || len(got) < 1000 || !strings.Contains(o.stderr, unread) {
			t.Errorf("%s %s", o.stderr, difference(want, got))
		}
	}
	other := startAnother(t)
	service := object("v1", "Service", "foreign")
	service["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
	s.change(t, http.MethodPost, "/api/v1/namespaces/default/services", service)
	api := object("apiregistration.k8s.io/v1", "APIService", "v1."+foreignGroup)
	api["spec"] = map[string]any{
		"group": foreignGroup, "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
		"service": map[string]any{"namespace": "default", "name": "foreign", "port": other.port},
	}
	s.change(t, http.MethodPost, "/apis/apiregistration.k8s.io/v1/apiservices", api)
	listed := func(status int) func() bool {
		return func() bool { return s.status(t, admin, "/apis/"+foreignGroup+"/v1/things") == status }
	}
	wait(t, "the other server", listed(http.StatusOK))
	says(0, "")
	_ = other.server.Close()
	wait(t, "the end of the other server", listed(http.StatusServiceUnavailable))
	says(3, "things."+foreignGroup+" (not read")
	s.kill()
	s.serve()
	says(3, "*."+foreignGroup+" (not read")
	s.change(t, http.MethodDelete, "/apis/apiregistration.k8s.io/v1/apiservices/v1."+foreignGroup, nil)
}

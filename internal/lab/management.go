package lab

import (
	"archive/tar"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Management serves the objects of a backup as the API server of the management cluster that
// runs: discovery, lists page by page, and CustomResourceDefinitions that it makes up.
type Management struct {
	Addr string
	// Token logs in. It begins every object's continue token, too, so that no output may hold it.
	Token string
	// Page is how many objects of a page at most, whatever is asked for.
	Page int
	// Before may answer a request instead; it reports whether it did.
	Before func(http.ResponseWriter, *http.Request) bool
	// Now is the server's clock, which is at the time at which the backup was written.
	Now func() time.Time

	certificate certificate
	server      *http.Server
	kinds       map[string]*Listed
	mu          sync.Mutex
	asked       []string
}

// Listed is a resource and its objects, by its name in the backup.
type Listed struct {
	Group, Version, Kind, Resource string
	Namespaced                     bool
	Unserved, Stale                bool   // though it is defined; as discovery says
	Gone                           bool   // with its definition
	Lost                           bool   // its version is stale, and has no resources
	Stored                         string // version in etcd, of before Version was; empty is Version
	Objects                        []map[string]any
}

// StartManagement serves the objects of a tarball on loopback over TLS.
func StartManagement(tarball string) (*Management, error) {
	m := &Management{Token: "canary-operator-token", Page: 20, kinds: map[string]*Listed{}}
	var written time.Time
	err := eachEntry(tarball, func(h *tar.Header, body io.Reader) error {
		if h.ModTime.After(written) {
			written = h.ModTime
		}
		parts := strings.Split(strings.TrimPrefix(h.Name, "./"), "/")
		if len(parts) < 4 || parts[0] != "resources" || parts[2] != "cluster" && parts[2] != "namespaces" {
			return nil
		}
		var o map[string]any
		if err := json.NewDecoder(body).Decode(&o); err != nil {
			return err
		}
		m.Add(parts[1], o)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("serving %s: %w", tarball, err)
	}
	m.Now = func() time.Time { return written }
	for _, k := range []Listed{
		{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true},
		{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"},
	} {
		if id := strings.TrimSuffix(k.Resource+"."+k.Group, "."); m.kinds[id] == nil {
			m.kinds[id] = &k
		}
	}
	if m.certificate, err = selfSigned([]string{"localhost", "127.0.0.1"}); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m.Addr = l.Addr().String()
	m.server = &http.Server{
		Handler: m, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{m.certificate.tls()}, ClientAuth: tls.RequestClientCert},
	}
	go func() { _ = m.server.ServeTLS(l, "", "") }()
	return m, nil
}

// Close ends it.
func (m *Management) Close() { _ = m.server.Close() }

// Kind returns a resource by its name in the backup; it is added when it is not there.
func (m *Management) Kind(id string) *Listed {
	k := m.kinds[id]
	if k == nil {
		k = &Listed{}
		k.Resource, k.Group, _ = strings.Cut(id, ".")
		m.kinds[id] = k
	}
	return k
}

// Kinds returns the names of all resources.
func (m *Management) Kinds() []string { return slices.Sorted(maps.Keys(m.kinds)) }

// Add adds an object to a resource.
func (m *Management) Add(id string, o map[string]any) {
	k := m.Kind(id)
	version, _ := o["apiVersion"].(string)
	k.Kind, _ = o["kind"].(string)
	k.Version = path.Base(version)
	meta, _ := o["metadata"].(map[string]any)
	_, k.Namespaced = meta["namespace"]
	k.Objects = append(k.Objects, o)
}

// Asked returns the paths that were asked for, in order, with their queries.
func (m *Management) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// CA returns what signed the server's certificate, PEM.
func (m *Management) CA() []byte { return m.certificate.certPEM }

// WriteKubeconfig writes a kubeconfig with the token, and returns its path.
func (m *Management) WriteKubeconfig(dir string) (string, error) {
	return m.WriteKubeconfigOf(dir, "token: "+m.Token)
}

// WriteKubeconfigOf writes a kubeconfig whose user is what a line of YAML says.
func (m *Management) WriteKubeconfigOf(dir, user string) (string, error) {
	file := filepath.Join(dir, "mgmt.kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: mgmt
contexts: [{name: mgmt, context: {cluster: mgmt, user: operator}}]
clusters: [{name: mgmt, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: operator, user: {%s}}]
`, m.Addr, base64.StdEncoding.EncodeToString(m.CA()), user)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// ServeHTTP answers as kube-apiserver does (Kubernetes API concepts).
func (m *Management) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	m.asked = append(m.asked, r.URL.RequestURI())
	m.mu.Unlock()
	w.Header().Set("Date", m.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	if m.Before != nil && m.Before(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+m.Token && len(r.TLS.PeerCertificates) == 0 {
		Refuse(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api", r.URL.Path == "/apis":
		m.discovery(w, r.URL.Path == "/api")
	case parts[0] == "api" && len(parts) == 3:
		m.list(w, r, m.kinds[parts[2]], parts[1])
	case parts[0] == "apis" && len(parts) == 4:
		m.list(w, r, m.kinds[parts[3]+"."+parts[1]], parts[2])
	case parts[0] == "api" && len(parts) == 6:
		m.object(w, m.kinds[parts[4]], parts[3], parts[5])
	default:
		Refuse(w, http.StatusNotFound, "the server could not find the requested resource")
	}
}

// Refuse answers with a Status.
func Refuse(w http.ResponseWriter, code int, message string) {
	status(w, code, http.StatusText(code), message)
}

func (m *Management) discovery(w http.ResponseWriter, core bool) {
	groups := map[string][]any{}
	var names []string
	for _, k := range m.kinds {
		if (k.Group == "") != core || k.Unserved || k.Gone {
			continue
		}
		if groups[k.Group] == nil {
			names = append(names, k.Group)
		}
		scope, fresh := "Cluster", "Current"
		if k.Namespaced {
			scope = "Namespaced"
		}
		if k.Stale {
			fresh = "Stale"
		}
		if k.Lost {
			groups[k.Group] = append(groups[k.Group], map[string]any{"version": k.Version, "freshness": "Stale"})
			continue
		}
		groups[k.Group] = append(groups[k.Group], map[string]any{"version": k.Version, "freshness": fresh, "resources": []any{map[string]any{
			"resource": k.Resource, "scope": scope, "verbs": []string{"get", "list", "watch"}, "responseKind": map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind},
		}}})
	}
	slices.Sort(names)
	items := []any{}
	for _, name := range names {
		items = append(items, map[string]any{"metadata": map[string]any{"name": name}, "versions": groups[name]})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": map[string]any{}, "items": items})
}

// definitions returns the CustomResourceDefinitions of what is served, and of what should be.
func (m *Management) definitions() []map[string]any {
	var all []map[string]any
	for id, k := range m.kinds {
		if k.Gone || !strings.Contains(k.Group, ".") || strings.HasSuffix(k.Group, ".k8s.io") && !strings.Contains(k.Group, "x-k8s.io") {
			continue
		}
		scope, stored := "Cluster", []string{k.Version}
		if k.Namespaced {
			scope = "Namespaced"
		}
		versions := []any{map[string]any{"name": k.Version, "served": true, "storage": true}}
		if k.Stored != "" && k.Stored != k.Version {
			stored = []string{k.Stored, k.Version}
			versions = append(versions, map[string]any{"name": k.Stored, "served": true, "storage": false})
		}
		all = append(all, map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": id, "uid": "crd-" + id},
			"spec":   map[string]any{"group": k.Group, "scope": scope, "names": map[string]any{"plural": k.Resource, "kind": k.Kind}, "versions": versions},
			"status": map[string]any{"storedVersions": stored},
		})
	}
	slices.SortFunc(all, func(a, b map[string]any) int {
		return strings.Compare(fmt.Sprint(a["metadata"]), fmt.Sprint(b["metadata"]))
	})
	return all
}

func (m *Management) list(w http.ResponseWriter, r *http.Request, k *Listed, version string) {
	if k == nil || k.Unserved || k.Gone || version != k.Version && version != k.Stored {
		Refuse(w, http.StatusNotFound, "the server could not find the requested resource")
		return
	}
	objects := k.Objects
	if k.Resource == "customresourcedefinitions" {
		objects = m.definitions()
	}
	limit, from := len(objects), 0
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && n > 0 {
		limit = min(n, m.Page)
	}
	if token := r.URL.Query().Get("continue"); token != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(token, m.Token+"-"))
		if err != nil || n < 0 || n > len(objects) {
			Refuse(w, http.StatusGone, "the continue token "+token+" is not of this server")
			return
		}
		from = n
	}
	to := min(from+limit, len(objects))
	meta := map[string]any{"resourceVersion": "1"}
	if to < len(objects) {
		meta["continue"], meta["remainingItemCount"] = fmt.Sprintf("%s-%d", m.Token, to), len(objects)-to
	}
	apiVersion := strings.TrimPrefix(k.Group+"/"+version, "/")
	builtIn := !strings.Contains(k.Group, ".") || !strings.Contains(k.Group, "x-k8s.io")
	items := []any{}
	for _, o := range objects[from:to] {
		o = shallow(o)
		if o["apiVersion"] = apiVersion; builtIn && k.Group != "velero.io" {
			delete(o, "apiVersion")
			delete(o, "kind")
		}
		items = append(items, o)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": k.Kind + "List", "apiVersion": apiVersion, "metadata": meta, "items": items})
}

func shallow(o map[string]any) map[string]any {
	c := make(map[string]any, len(o))
	for k, v := range o {
		c[k] = v
	}
	return c
}

func (m *Management) object(w http.ResponseWriter, k *Listed, namespace, name string) {
	if k != nil {
		for _, o := range k.Objects {
			if meta, _ := o["metadata"].(map[string]any); meta["name"] == name && meta["namespace"] == namespace {
				_ = json.NewEncoder(w).Encode(o)
				return
			}
		}
	}
	Refuse(w, http.StatusNotFound, "not found")
}

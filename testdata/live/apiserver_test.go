package live

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// apiserver is a kube-apiserver that serves the objects of a backup.
type apiserver struct {
	*process
	t      *testing.T // until whose end it runs
	etcd   *etcd
	folder string // of what it logs in by, and shows
	addr   string
	client http.Client
}

// The users that it knows by a token each: one who may do everything, and some who may do nothing
// by themselves.
const (
	admin     = "admin-token"
	unbounded = "system:masters"
	users     = 100
)

func user(n int) (name, token string) {
	return fmt.Sprintf("user-%d", n), fmt.Sprintf("user-token-%d", n)
}

// startAPIServer starts one whose etcd holds a backup.
func startAPIServer(t *testing.T, tarball string) *apiserver {
	t.Helper()
	s := &apiserver{t: t, etcd: startEtcd(t), folder: t.TempDir()}
	s.etcd.load(t, tarball)
	s.writeUsers(t)
	s.addr = "127.0.0.1:" + port(t)
	s.serve()
	return s
}

// serve starts it, or starts it again.
func (s *apiserver) serve() {
	t := s.t
	t.Helper()
	in := func(name string) string { return filepath.Join(s.folder, name) }
	_, port, _ := strings.Cut(s.addr, ":")
	s.process = start(t, "kube-apiserver", "--etcd-servers", s.etcd.url,
		"--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", port, "--cert-dir", s.folder,
		"--token-auth-file", in("users.csv"), "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.96.0.0/12",
		"--service-account-issuer", "https://lab", "--service-account-key-file", in("accounts.key"), "--service-account-signing-key-file", in("accounts.key"),
		"--audit-policy-file", in("audit.yaml"), "--audit-log-path", in("audit.log"), "--audit-log-mode", "blocking-strict",
		// It does not compact by itself, so that tests say when.
		"--etcd-compaction-interval", "0", "--endpoint-reconciler-type", "none")
	wait(t, "kube-apiserver", func() bool {
		if s.ends() {
			t.Fatal("kube-apiserver does not start")
		}
		return s.trust() && s.status(t, admin, "/readyz") == http.StatusOK
	})
}

// trust reads the certificate that it made for itself, once that is there.
func (s *apiserver) trust() bool {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.certificate()) {
		return false
	}
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return true
}

func (s *apiserver) certificate() []byte {
	text, _ := os.ReadFile(filepath.Join(s.folder, "apiserver.crt")) // of nothing is no certificate
	return text
}

// writeUsers writes who may log in, with which key it signs tokens of accounts, and that it notes
// who asked for what.
func (s *apiserver) writeUsers(t *testing.T) {
	t.Helper()
	var list strings.Builder
	fmt.Fprintf(&list, "%s,admin,admin,%q\n", admin, unbounded)
	for n := range users {
		name, token := user(n)
		fmt.Fprintf(&list, "%s,%s,%s\n", token, name, name)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"users.csv":    list.String(),
		"accounts.key": string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
		"audit.yaml":   `{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// ask asks the API, and returns the status and what it answers.
func (s *apiserver) ask(t *testing.T, token, method, path string, body any) (int, map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(method, "https://"+s.addr+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if path == "/apis" {
		req.Header.Set("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if json.Unmarshal(answer, &o) != nil {
		o = map[string]any{"text": string(answer)}
	}
	return resp.StatusCode, o
}

func (s *apiserver) status(t *testing.T, token, path string) int {
	t.Helper()
	code, _ := s.ask(t, token, http.MethodGet, path, nil)
	return code
}

// change changes something as the administrator.
func (s *apiserver) change(t *testing.T, method, path string, body any) map[string]any {
	t.Helper()
	code, answer := s.ask(t, admin, method, path+"?fieldValidation=Strict", body)
	if code < 200 || code > 299 {
		t.Fatalf("%s %s: %d %v", method, path, code, answer)
	}
	return answer
}

// kubeconfig writes one for a token, and returns its path.
func (s *apiserver) kubeconfig(t *testing.T, token string) string {
	t.Helper()
	return writeKubeconfig(t, s.addr, s.certificate(), token)
}

func writeKubeconfig(t *testing.T, addr string, ca []byte, token string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mgmt.kubeconfig")
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "mgmt",
		"contexts": []any{map[string]any{"name": "mgmt", "context": map[string]any{"cluster": "mgmt", "user": "operator"}}},
		"clusters": []any{map[string]any{"name": "mgmt", "cluster": map[string]any{"server": "https://" + addr, "certificate-authority-data": ca}}},
		"users":    []any{map[string]any{"name": "operator", "user": map[string]any{"token": token}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

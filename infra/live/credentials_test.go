package live

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"drift-detector/backup/archive"
	"drift-detector/internal/lab"
)

// nothing wants no body.
var nothing = archive.Visitor{Want: func(*archive.Header) (bool, error) { return false, nil }}

const canary = "canary-secret-value"

// clientCertificate returns a certificate with its key, PEM, that ends at a time.
func clientCertificate(t *testing.T, end time.Time) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "operator"}, NotBefore: end.Add(-time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, of, of, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func base(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func management(t *testing.T) *lab.Management {
	t.Helper()
	m, err := lab.StartManagement("../../testdata/fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// read opens a kubeconfig and makes a pass. Neither an error nor what is unread may hold a secret.
func read(t *testing.T, m *lab.Management, file, of string, getenv func(string) string) error {
	t.Helper()
	c, err := Open(file, of, getenv)
	if err == nil {
		source := c.Source(context.Background(), Wants{Resource: func(id string) bool { return id == "machines.cluster.x-k8s.io" }})
		_, err = archive.Walk(context.Background(), source, archive.DefaultBounds, nothing)
		if err == nil && len(source.Unread()) > 0 {
			err = fmt.Errorf("unread: %v", source.Unread())
		}
	}
	if text := fmt.Sprintf("%v %+v", err, c); strings.Contains(text, canary) || strings.Contains(text, m.Token) || strings.Contains(text, "PRIVATE KEY") {
		t.Errorf("a secret shows: %s", text)
	}
	return err
}

const script = "#!/bin/sh\n"

func execCredential(status string) string {
	return `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{` + status + `}}'` + "\n"
}

// Each way to log in that is supported does, with files beside the kubeconfig.
func TestWaysToLogIn(t *testing.T) {
	t.Parallel()
	m := management(t)
	cert, key := clientCertificate(t, time.Now().Add(time.Hour))
	const v1 = "apiVersion: client.authentication.k8s.io/v1"
	for name, user := range map[string]string{
		"token":              "token: " + m.Token,
		"tokenFile":          "tokenFile: token",
		"certificate":        "client-certificate-data: " + base(cert) + ", client-key-data: " + base(key),
		"certificate files":  "client-certificate: crt, client-key: key",
		"exec":               "exec: {" + v1 + ", command: ./plugin, args: [token], env: [{name: GIVEN, value: 'yes'}]}",
		"exec, certificate":  "exec: {" + v1 + ", command: ./plugin, args: [certificate], interactiveMode: IfAvailable}",
		"exec, told cluster": "exec: {" + v1 + ", command: ./plugin, args: [cluster], provideClusterInfo: true, interactiveMode: Never}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "token", m.Token+"\n")
			write(t, dir, "crt", cert)
			write(t, dir, "key", key)
			write(t, dir, "plugin", script+`read x && exit 9
echo `+canary+` >&2
case $1 in
token) [ "$GIVEN" = yes ] && `+execCredential(`"token":"`+m.Token+`"`)+`;;
certificate) `+execCredential(`"clientCertificateData":"`+strings.ReplaceAll(cert, "\n", `\\n`)+`","clientKeyData":"`+strings.ReplaceAll(key, "\n", `\\n`)+`"`)+`;;
cluster) case "$KUBERNETES_EXEC_INFO" in *"https://`+m.Addr+`"*) `+execCredential(`"token":"`+m.Token+`"`)+`;; esac;;
esac
`)
			file, err := m.WriteKubeconfigOf(dir, user)
			if err != nil {
				t.Fatal(err)
			}
			if err := read(t, m, file, "", os.Getenv); err != nil {
				t.Error(err)
			}
		})
	}
}

// What has expired meanwhile is asked for once more, and not for ever.
func TestExpiredTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	for _, good := range []bool{true, false} {
		m := management(t)
		dir := t.TempDir()
		second := "another-token"
		if good {
			second = m.Token
		}
		write(t, dir, "plugin", script+`if [ -e ran ]; then echo >> ran; `+execCredential(`"token":"`+second+`"`)+`else echo >> ran; `+execCredential(`"token":"stale"`)+"fi\n")
		file, err := m.WriteKubeconfigOf(dir, "exec: {apiVersion: client.authentication.k8s.io/v1, command: "+filepath.Join(dir, "plugin")+"}")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "plugin"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "plugin", strings.ReplaceAll(string(text), "ran", filepath.Join(dir, "ran")))
		err = read(t, m, file, "", os.Getenv)
		if good != (err == nil) {
			t.Errorf("good %v: %v", good, err)
		}
		if ran, err := os.ReadFile(filepath.Join(dir, "ran")); err != nil || len(ran) != 2 {
			t.Errorf("it ran %d times, %v", len(ran), err)
		}
	}
}

// What does not log in is refused, and named; a plugin neither asks nor hangs, and what it
// writes is not shown.
func TestRefusedKubeconfigs(t *testing.T) {
	pluginTime = 2 * time.Second
	defer func() { pluginTime = time.Minute }()
	m := management(t)
	cert, key := clientCertificate(t, time.Now().Add(-time.Minute))
	const v1 = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, args: "
	for user, want := range map[string]string{
		"auth-provider: {name: oidc, config: {id-token: " + canary + "}}":              "auth-provider",
		"token: " + m.Token + ", as: admin":                                            "impersonation",
		"token: " + m.Token + ", as-groups: [g]":                                       "impersonation",
		"username: u, password: " + canary:                                             "password",
		v1 + "[], interactiveMode: Always}":                                            "interactiveMode: Always",
		"exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: ./plugin}": "API version",
		"exec: {apiVersion: client.authentication.k8s.io/v1}":                          "without a command",
		"exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin}": "no-such-plugin is not installed",
		v1 + "[fails]}":                    "plugin failed with exit status 3",
		v1 + "[asks]}":                     "no ExecCredential",
		v1 + "[hangs]}":                    "did not end within 2s",
		v1 + "[child]}":                    "left a program behind",
		v1 + "[floods]}":                   "wrote more than",
		v1 + "[nothing]}":                  "neither a token nor a certificate",
		v1 + "[other]}":                    "another API version",
		"token: \"" + canary + "\\nx: y\"": "not a bearer token",
		"tokenFile: nowhere":               "tokenFile nowhere can't be read",
		"client-certificate: nowhere":      "client-certificate nowhere can't be read",
		"client-certificate-data: " + base(cert) + ", client-key-data: " + base(key):      "expired at",
		"client-certificate-data: " + base(cert):                                          "incomplete or do not match",
		"client-certificate-data: " + base(canary) + ", client-key-data: " + base(canary): "incomplete or do not match",
		"token: " + canary: "does not accept the user",
	} {
		dir := t.TempDir()
		write(t, dir, "plugin", script+`case $1 in
fails) echo `+canary+`; echo `+canary+` >&2; exit 3;;
asks) read answer; echo "`+canary+`";;
hangs) exec sleep 30;;
child) sleep 30 & exit 0;;
floods) while echo `+strings.Repeat(canary, 100)+`; do :; done;;
nothing) `+execCredential("")+`;;
other) echo '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"`+canary+`"}}';;
esac
`)
		file, err := m.WriteKubeconfigOf(dir, user)
		if err != nil {
			t.Fatal(err)
		}
		if err := read(t, m, file, "", os.Getenv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", user, err, want)
		}
	}
}

func TestKubeconfigsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	m := management(t)
	dir := t.TempDir()
	file, err := m.WriteKubeconfig(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	with := func(old, now string) string { return strings.Replace(string(text), old, now, 1) }
	for name, one := range map[string]struct{ text, context, want string }{
		"empty":           {"", "", "not a kubeconfig"},
		"no YAML":         {canary + ": [", "", "not a kubeconfig"},
		"no context":      {with("current-context: mgmt", ""), "", "name one of its contexts with --context: mgmt"},
		"another context": {string(text), "prod", `it has no context "prod"`},
		"no such cluster": {with("cluster: mgmt", "cluster: gone"), "", "does not hold"},
		"http":            {with("https://", "http://"), "", "http:// is refused"},
		"another CA":      {with("certificate-authority-data", "tls-server-name: localhost, certificate-authority: nowhere, x"), "", "certificate-authority nowhere"},
		"wrong name":      {with("certificate-authority-data", "tls-server-name: mgmt.corp, certificate-authority-data"), "", "is not trusted"},
		"system's roots":  {with("certificate-authority-data", "x"), "", "SHA-256"},
		"no PEM":          {with("certificate-authority-data: ", "certificate-authority-data: "+base(canary)+", x: "), "", "no certificate in PEM form"},
		"odd proxy":       {with("certificate-authority-data", "proxy-url: 'ftp://u:"+canary+"@p', certificate-authority-data"), "", "proxy-url is no"},
		"proxy gone":      {with("certificate-authority-data", "proxy-url: 'http://u:"+canary+"@127.0.0.1:1', certificate-authority-data"), "", "connection refused"},
		"no server":       {with("server: \"https://"+m.Addr+"\"", "server: ''"), "", "its server"},
	} {
		at := filepath.Join(t.TempDir(), "config")
		write(t, filepath.Dir(at), "config", one.text)
		if err := read(t, m, at, one.context, os.Getenv); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v, want %q", name, err, one.want)
		}
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"):  "no such file",
		file + ":" + file:           "several files",
		dir:                         "can't be read",
		InCluster:                   "does not run in a Pod",
		strings.Repeat("x/", 3_000): "can't be read",
	} {
		if err := read(t, m, path, "", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: %v, want %q", path, err, want)
		}
	}
}

// An unverified server is announced.
func TestInsecureIsAnnounced(t *testing.T) {
	t.Parallel()
	m := management(t)
	file, err := m.WriteKubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(file), filepath.Base(file), strings.Replace(string(text), "certificate-authority-data", "insecure-skip-tls-verify: true, x", 1))
	if err := read(t, m, file, "mgmt", os.Getenv); err != nil {
		t.Error(err)
	}
	if c, err := Open(file, "", os.Getenv); err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "not verified") {
		t.Errorf("%+v, %v", c, err)
	}
}

// A Pod reads with its own account.
func TestInCluster(t *testing.T) {
	t.Parallel()
	m := management(t)
	dir := t.TempDir()
	write(t, dir, "token", m.Token)
	write(t, dir, "ca.crt", string(m.CA()))
	host, port, _ := strings.Cut(m.Addr, ":")
	c, err := openPod("", dir, func(name string) string {
		return map[string]string{"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	source := c.Source(context.Background(), Wants{})
	if _, err := archive.Walk(context.Background(), source, archive.DefaultBounds, nothing); err != nil || len(source.Unread()) > 0 {
		t.Errorf("%v, unread %v", err, source.Unread())
	}
	if _, err := openPod("mgmt", dir, os.Getenv); err == nil {
		t.Error("a context of a Pod is taken")
	}
}

// The proxy of the kubeconfig is asked, with its password, and no other server.
func TestProxy(t *testing.T) {
	t.Parallel()
	m := management(t)
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		http.Error(w, canary, http.StatusForbidden)
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("u", canary)
	file, err := m.WriteKubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(file), filepath.Base(file), strings.Replace(string(text), "certificate-authority-data", "proxy-url: '"+at.String()+"', certificate-authority-data", 1))
	if err := read(t, m, file, "", os.Getenv); err == nil {
		t.Error("it was read past the proxy")
	}
	if len(asked) == 0 || asked[0] != "CONNECT "+m.Addr+" Basic "+base("u:"+canary) {
		t.Errorf("asked %q", asked)
	}
	if len(m.Asked()) > 0 {
		t.Errorf("asked past the proxy: %v", m.Asked())
	}
}

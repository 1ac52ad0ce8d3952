package nodes

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
)

func mustParse(t *testing.T, text string) *login {
	t.Helper()
	found := parse(backup.NewSensitive(text), maxKubeconfig)
	l, err := found.login()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRefusedKubeconfigs holds that a kubeconfig that would run or open
// something is left alone: nothing is contacted, and the reason is said. The
// server accepts everybody, so that whoever does connect gets its Nodes.
func TestRefusedKubeconfigs(t *testing.T) {
	type bend = func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
	user := func(f func(*clientcmdapi.AuthInfo)) bend {
		return func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { f(u) }
	}
	cluster := func(f func(*clientcmdapi.Cluster)) bend {
		return func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { f(c) }
	}
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("token"), 0o600); err != nil {
		t.Fatal(err)
	}
	plugin := &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "true", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	for _, c := range []struct {
		name, why string
		bend      bend
	}{
		{"exec", "exec plugin", user(func(u *clientcmdapi.AuthInfo) { u.Exec = plugin })},
		{"exec alone", "exec plugin", user(func(u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{Exec: plugin} })},
		{"auth-provider", "auth-provider", user(func(u *clientcmdapi.AuthInfo) { u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"} })},
		{"tokenFile", "tokenFile", user(func(u *clientcmdapi.AuthInfo) { u.TokenFile = tokenFile })},
		{"tokenFile alone", "tokenFile", user(func(u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{TokenFile: tokenFile} })},
		{"client-certificate", "client-certificate file", user(func(u *clientcmdapi.AuthInfo) { u.ClientCertificate = "/etc/passwd" })},
		{"client-key", "client-key file", user(func(u *clientcmdapi.AuthInfo) { u.ClientKey = "/etc/passwd" })},
		{"password", "password", user(func(u *clientcmdapi.AuthInfo) { u.Username, u.Password = "admin", "secret" })},
		{"act-as", "act-as", user(func(u *clientcmdapi.AuthInfo) { u.Impersonate = "system:admin" })},
		{"act-as-uid", "act-as", user(func(u *clientcmdapi.AuthInfo) { u.ImpersonateUID = "1" })},
		{"act-as-groups", "act-as", user(func(u *clientcmdapi.AuthInfo) { u.ImpersonateGroups = []string{"system:masters"} })},
		{"act-as-user-extra", "act-as", user(func(u *clientcmdapi.AuthInfo) { u.ImpersonateUserExtra = map[string][]string{"a": {"b"}} })},
		{"no credential", "neither", user(func(u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{} })},
		{"no key", "do not match", user(func(u *clientcmdapi.AuthInfo) { u.ClientKeyData = nil })},
		{"no certificate", "do not match", user(func(u *clientcmdapi.AuthInfo) { u.ClientCertificateData = nil })},
		{"broken key beside a token", "do not match", user(func(u *clientcmdapi.AuthInfo) { u.Token, u.ClientKeyData = "token", []byte("x") })},
		{"token of two lines", "bearer token", user(func(u *clientcmdapi.AuthInfo) { u.Token = "a\r\nX-Other: b" })},
		{"CA file", "certificate-authority is a file", cluster(func(c *clientcmdapi.Cluster) {
			c.CertificateAuthorityData, c.CertificateAuthority = nil, "/etc/ssl/certs/ca-certificates.crt"
		})},
		{"no CA", "no certificate-authority-data", cluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = nil })},
		{"no CA and insecure", "no certificate-authority-data", cluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData, c.InsecureSkipTLSVerify = nil, true })},
		{"broken CA", "holds no certificate", cluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = []byte("x") })},
		{"http", "http:// is refused", cluster(func(c *clientcmdapi.Cluster) { c.Server = strings.Replace(c.Server, "https", "http", 1) })},
		{"unix", "not https", cluster(func(c *clientcmdapi.Cluster) { c.Server = "unix:///var/run/docker.sock" })},
		{"no server", "not a host", cluster(func(c *clientcmdapi.Cluster) { c.Server = "" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, serverOptions{tokens: true}, answer(200, nodes("", "a")))
			l := list(t, s.kubeconfig(t, c.bend))
			if l.NodeState != stateNoKubeconfig || l.Fault == nil || l.Fault.Reason != "KubeconfigRefused" || !strings.Contains(l.Fault.Message, c.why) || l.Fault.Hint == "" {
				t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
			}
			s.untouched(t)
			if l := list(t, s.kubeconfig(t)); l.NodeState != stateRead || s.connections.Load() == 0 {
				t.Errorf("without the setting: state %s, fault %+v: this test proves nothing", l.NodeState, l.Fault)
			}
		})
	}
}

func TestKubeconfigsThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"other YAML":         "a: b",
		"no YAML":            "\x00{{{",
		"a list":             "- a",
		"other kind":         "apiVersion: v1\nkind: Secret",
		"no current context": "apiVersion: v1\nkind: Config\nclusters: []\n",
		"no such context":    "apiVersion: v1\nkind: Config\ncurrent-context: x\n",
		"no such cluster":    "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: marker}}]\n",
		"no such user":       "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://a'}}]\n",
		"two of a name":      "apiVersion: v1\nkind: Config\ncurrent-context: x\nusers: [{name: u, user: {token: marker}}, {name: u, user: {token: marker}}]\n",
		"wrong type":         "apiVersion: v1\nkind: Config\nusers: {name: marker}\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := list(t, text)
			if l.NodeState != stateNoKubeconfig || l.Fault == nil || l.Fault.Reason != "KubeconfigRefused" {
				t.Fatalf("state %s, fault %+v", l.NodeState, l.Fault)
			}
			if strings.Contains(l.Fault.Message, "marker") {
				t.Errorf("message %q quotes the kubeconfig", l.Fault.Message)
			}
		})
	}
}

// A kubeconfig that is too large is not parsed. The operator's own may be larger
// than the backup's.
func TestKubeconfigsAreBounded(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	sized := func(size int) string {
		text := s.kubeconfig(t)
		return text + "#" + strings.Repeat("x", size-len(text)-1)
	}
	ofBackup := func(text string) infra.Target {
		snapshot, secrets := load(t, backuptest.Source("test", backuptest.New().
			Add("clusters.cluster.x-k8s.io", clusterObject("one", "prod")).
			Add("secrets", secretObject("one", "prod-kubeconfig", map[string]string{"value": text})).Bytes()))
		return New(infra.NewRegistry()).Targets(snapshot, secrets, infra.Access{})[0]
	}
	if l := New(infra.NewRegistry()).List(t.Context(), ofBackup(sized(64<<10))); l.NodeState != stateRead {
		t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
	}
	if got := ofBackup(sized(64<<10 + 1)); got.NodeState != stateNoKubeconfig || got.Refused.Reason != "KubeconfigRefused" ||
		!strings.Contains(got.Refused.Message, "Secret one/prod-kubeconfig is not used: it was not read: it has 65537 bytes, more than 65536") {
		t.Errorf("state %s, refused %+v", got.NodeState, got.Refused)
	}
	for size, want := range map[int]string{1 << 20: stateRead, 1<<20 + 1: stateNoKubeconfig} {
		if l := list(t, sized(size)); l.NodeState != want {
			t.Errorf("%d bytes: state %s, want %s; fault %+v", size, l.NodeState, want, l.Fault)
		}
	}
}

// A kubeconfig is parsed once: YAML is what takes the time.
func TestKubeconfigsAreParsedOnce(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	text := s.kubeconfig(t) + "extensions: [" + strings.Repeat("{name: a}, ", 1000) + "]\n"
	tarball := backuptest.New().
		Add("clusters.cluster.x-k8s.io", clusterObject("one", "prod")).
		Add("secrets", secretObject("one", "prod-kubeconfig", map[string]string{"value": text}))
	snapshot, secrets := load(t, backuptest.Source("test", tarball.Bytes()))
	once := testing.AllocsPerRun(5, func() { parse(backup.NewSensitive(text), maxKubeconfig) })
	if all := testing.AllocsPerRun(5, func() { New(infra.NewRegistry()).Targets(snapshot, secrets, infra.Access{}) }); all > 1.5*once {
		t.Errorf("%v allocations, and parsing once takes %v", all, once)
	}
}

// TestOnlyTheCurrentContextCounts holds that users beside the current one are
// neither used nor a reason to refuse.
func TestOnlyTheCurrentContextCounts(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	text := strings.Replace(s.kubeconfig(t), "users:\n", "users:\n- name: other\n  user:\n    tokenFile: /etc/passwd\n", 1)
	if !strings.Contains(text, "tokenFile") {
		t.Fatal("the kubeconfig was not bent")
	}
	if l := list(t, text); l.NodeState != stateRead {
		t.Errorf("state %s, fault %+v", l.NodeState, l.Fault)
	}
}

// TestExecPluginNeverRuns has a plugin that leaves a trace.
func TestExecPluginNeverRuns(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	command, args := "sh", []string{"-c", "echo ran >" + trace}
	s := serve(t, serverOptions{tokens: true}, answer(200, nodes("", "a")))
	l := list(t, s.kubeconfig(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
		u.Exec = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: command, Args: args, InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
	}))
	if _, err := os.Stat(trace); !os.IsNotExist(err) {
		t.Errorf("the plugin has run: %v", err)
	}
	if l.NodeState != stateNoKubeconfig {
		t.Errorf("state %s", l.NodeState)
	}
	s.untouched(t)

	if err := exec.Command(command, args...).Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Error("the command leaves no trace: this test proves nothing")
	}
}

// TestProxyOfKubeconfigIsIgnored holds that a proxy that the backup names sees
// nothing, while the Nodes are read without it.
func TestProxyOfKubeconfigIsIgnored(t *testing.T) {
	var seen atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		seen.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	text := s.kubeconfig(t, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.ProxyURL = proxy.URL })
	l := list(t, text)
	if l.NodeState != stateRead || seen.Load() != 0 {
		t.Errorf("state %s, the proxy saw %d requests, fault %+v", l.NodeState, seen.Load(), l.Fault)
	}
	if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "proxy-url") || !strings.Contains(l.Warnings[0], "tenant/prod") {
		t.Errorf("warnings %q", l.Warnings)
	}

	to, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := New(infra.NewRegistry()).(*provider).dial(mustParse(t, text), s.address(t))
	c.transport.Proxy = http.ProxyURL(to)
	if _, err := c.all(t.Context()); err == nil || seen.Load() != 1 {
		t.Errorf("with the proxy: %v, and it saw %d requests: this test proves nothing", err, seen.Load())
	}
}

// TestOperatorsProxyCounts holds that HTTPS_PROXY and NO_PROXY are asked. Go
// never sends loopback through them, so that only the rule can be compared.
func TestOperatorsProxyCounts(t *testing.T) {
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	c := New(infra.NewRegistry()).(*provider).dial(mustParse(t, s.kubeconfig(t)), s.address(t))
	if reflect.ValueOf(c.transport.Proxy).Pointer() != reflect.ValueOf(http.ProxyFromEnvironment).Pointer() {
		t.Error("the proxy is not that of the environment")
	}
}

// TestInsecureIsIgnored holds that a server is verified although the
// kubeconfig says not to.
func TestInsecureIsIgnored(t *testing.T) {
	insecure := func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.InsecureSkipTLSVerify = true }
	strange := serve(t, serverOptions{tokens: true, signer: newAuthority(t)}, answer(200, nodes("", "a")))
	l := list(t, strange.kubeconfig(t, insecure))
	if l.NodeState != stateUnreachable || l.Fault.Reason != "UntrustedCertificate" || strange.requests.Load() != 0 {
		t.Errorf("state %s after %d requests, fault %+v", l.NodeState, strange.requests.Load(), l.Fault)
	}
	own := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	l = list(t, own.kubeconfig(t, insecure))
	if l.NodeState != stateRead || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "insecure-skip-tls-verify") {
		t.Errorf("state %s, warnings %q, fault %+v", l.NodeState, l.Warnings, l.Fault)
	}
}

// TestAccessInsecureIsForOthers holds that --insecure-skip-verify is not for
// API servers.
func TestAccessInsecureIsForOthers(t *testing.T) {
	s := serve(t, serverOptions{tokens: true, signer: newAuthority(t)}, answer(200, nodes("", "a")))
	a := access(s.kubeconfig(t))
	a.InsecureSkipVerify = true
	if l := run(t, t.Context(), New(infra.NewRegistry()), a); l.Fault == nil || l.Fault.Reason != "UntrustedCertificate" || s.requests.Load() != 0 {
		t.Errorf("state %s after %d requests, fault %+v", l.NodeState, s.requests.Load(), l.Fault)
	}
}

// TestPlainHTTPIsNotContacted has a listener that any connection would reach.
func TestPlainHTTPIsNotContacted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accepted := make(chan struct{}, 20)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
			accepted <- struct{}{}
		}
	}()
	s := serve(t, serverOptions{}, answer(200, nodes("", "a")))
	at := func(scheme string) string {
		return s.kubeconfig(t, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.Server = fmt.Sprintf("%s://%s", scheme, listener.Addr())
		})
	}
	if l := list(t, at("http")); l.NodeState != stateNoKubeconfig || len(accepted) != 0 {
		t.Errorf("state %s, %d connections", l.NodeState, len(accepted))
	}
	// With https the same address is tried, and the connections are seen.
	if l := list(t, at("https")); l.NodeState != stateUnreachable {
		t.Errorf("state %s with https", l.NodeState)
	}
	<-accepted
	if n := len(accepted) + 1; n > infra.Patient.Attempts {
		t.Errorf("the listener saw %d connections with https", n)
	}
}

// TestEverySettingIsKnown fails when client-go adds a setting to kubeconfigs:
// somebody must decide then whether it is refused.
func TestEverySettingIsKnown(t *testing.T) {
	for _, c := range []struct {
		of    any
		known []string
	}{
		{clientcmdapi.Cluster{}, []string{"LocationOfOrigin", "Server", "TLSServerName", "InsecureSkipTLSVerify", "CertificateAuthority", "CertificateAuthorityData", "ProxyURL", "DisableCompression", "Extensions"}},
		{clientcmdapi.AuthInfo{}, []string{"LocationOfOrigin", "ClientCertificate", "ClientCertificateData", "ClientKey", "ClientKeyData", "Token", "TokenFile", "Impersonate", "ImpersonateUID", "ImpersonateGroups", "ImpersonateUserExtra", "Username", "Password", "AuthProvider", "Exec", "Extensions"}},
	} {
		kind := reflect.TypeOf(c.of)
		var fields []string
		for i := range kind.NumField() {
			fields = append(fields, kind.Field(i).Name)
		}
		if !slices.Equal(fields, c.known) {
			t.Errorf("%s has the settings %v, known are %v", kind, fields, c.known)
		}
	}
}

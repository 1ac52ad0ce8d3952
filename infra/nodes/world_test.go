package nodes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// authority is the CA of a workload cluster.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

var (
	yesterday = time.Now().Add(-24 * time.Hour)
	tomorrow  = time.Now().Add(24 * time.Hour)
)

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: yesterday.Add(-time.Hour), NotAfter: tomorrow,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// issue returns a certificate and key in PEM, for a host or, when it is a plain
// word, for a client of that name.
func (a *authority) issue(t *testing.T, name string, from, until time.Time) (cert, key []byte) {
	t.Helper()
	own := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: until,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// apiServer is a server that demands a client certificate of its CA, and counts.
type apiServer struct {
	*httptest.Server
	ca          *authority
	connections atomic.Int64
	requests    atomic.Int64
}

// serverOptions are what a test bends; the zero value is a healthy server.
type serverOptions struct {
	host        string    // that the certificate is for; 127.0.0.1
	from, until time.Time // its lifetime
	signer      *authority
	tokens      bool // no client certificate is demanded
	tls12       bool
}

func serve(t *testing.T, o serverOptions, handler http.HandlerFunc) *apiServer {
	t.Helper()
	s := &apiServer{ca: newAuthority(t)}
	if o.host == "" {
		o.host = "127.0.0.1"
	}
	if o.until.IsZero() {
		o.until = tomorrow
	}
	if o.from.IsZero() {
		o.from = yesterday.Add(-time.Hour)
	}
	if o.signer == nil {
		o.signer = s.ca
	}
	cert, key := o.signer.issue(t, o.host, o.from, o.until)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(s.ca.cert)
	conf := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	if o.tokens {
		conf.ClientAuth = tls.NoClientCert
	}
	if o.tls12 {
		conf.MaxVersion = tls.VersionTLS12
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	s.TLS = conf
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) address(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// untouched fails the test when anybody connected.
func (s *apiServer) untouched(t *testing.T) {
	t.Helper()
	if n := s.connections.Load(); n != 0 {
		t.Errorf("%d connections reached the server, want none", n)
	}
}

// kubeconfig returns the one that Cluster API would write for the server, bent by the test.
func (s *apiServer) kubeconfig(t *testing.T, bend ...func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) string {
	t.Helper()
	cert, key := s.ca.issue(t, "kubernetes-admin", yesterday, tomorrow)
	cluster := &clientcmdapi.Cluster{Server: s.URL, CertificateAuthorityData: s.ca.pem()}
	user := &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	for _, f := range bend {
		f(cluster, user)
	}
	conf := clientcmdapi.NewConfig()
	conf.Clusters["prod"] = cluster
	conf.AuthInfos["prod-admin"] = user
	conf.Contexts["prod-admin@prod"] = &clientcmdapi.Context{Cluster: "prod", AuthInfo: "prod-admin"}
	conf.CurrentContext = "prod-admin@prod"
	text, err := clientcmd.Write(*conf)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const endpointInBackup = "prod.example.test:6443"

var prodID = backup.ClusterID{Namespace: "tenant", Name: "prod"}

func prod() *backup.Snapshot {
	return &backup.Snapshot{Clusters: []backup.Cluster{{Meta: backup.Meta{Namespace: "tenant", Name: "prod"}, Endpoint: endpointInBackup}}}
}

// access hands a kubeconfig in by way of the operator: from there on it is
// treated as one of the backup.
func access(kubeconfig string) infra.Access {
	return infra.Access{Credentials: []infra.Credential{{Endpoint: endpointInBackup, Source: "test", Kubeconfig: backup.NewSensitive(kubeconfig)}}}
}

// run goes the way of the product: targets, then the registry's Collect.
func run(t *testing.T, ctx context.Context, p infra.Provider, a infra.Access) infra.Listing {
	t.Helper()
	r := infra.NewRegistry(p)
	targets := r.Targets(prod(), nil, a)
	if len(targets) != 1 {
		t.Fatalf("%d targets, want 1", len(targets))
	}
	listings := r.Collect(ctx, targets, nil).Listings
	if len(listings) != 1 {
		t.Fatalf("%d listings, want 1", len(listings))
	}
	l := listings[0]
	if l.NodeState != stateRead && (l.State != code.ScopeFailed || len(l.Nodes) != 0) {
		t.Errorf("Node list is %s: state %s with %d Nodes, want failed with none", l.NodeState, l.State, len(l.Nodes))
	}
	if l.NodeState == stateRead && (l.State != code.ScopeComplete || l.Fault != nil) {
		t.Errorf("Node list is read: state %s, fault %v", l.State, l.Fault)
	}
	return l
}

func list(t *testing.T, kubeconfig string) infra.Listing {
	t.Helper()
	return run(t, t.Context(), New(infra.NewRegistry()), access(kubeconfig))
}

// answer returns a handler that gives one body for every request.
func answer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// nodes returns a NodeList of plain Nodes.
func nodes(next string, names ...string) string {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"providerID":"vsphere://%s"},"status":{}}`, name, name))
	}
	return fmt.Sprintf(`{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}

// other is a provider whose Nodes have keys, and whose controller makes kubeconfigs.
type other struct{ infra.Provider }

func (other) Spec() infra.Spec {
	return infra.Spec{
		Name: "other", Controller: infra.Controller{OwnsKubeconfig: "AWSManagedControlPlane"},
		Keys: func(id string) []infra.Key { return []infra.Key{{Kind: infra.KeyKindOf("test"), Value: id}} },
	}
}

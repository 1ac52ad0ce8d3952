package list

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// reachAs returns how to reach a vCenter that the fleet's backup calls by another name.
func reachAs(v *lab.VCenter, name string) infra.Access {
	return infra.Access{
		Reroutes:    []infra.Reroute{{From: name, To: v.Addr}},
		Credentials: []infra.Credential{{Endpoint: name, Thumbprint: v.Thumbprint}},
	}
}

// TestNobodyElseHasAVCentersIdentities: a vCenter's own id and its managed object
// ids are no secret, so a server that repeats them must get other identities.
func TestNobodyElseHasAVCentersIdentities(t *testing.T) {
	real, fake := serve(t, lab.VCenterOptions{Archive: fleetVCenter}), serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	identities := func(v *lab.VCenter, name string) map[string]bool {
		l := one(t, t.Context(), withServer(t, fleet(t), name), reachAs(v, name))
		if l.State != code.ScopeComplete {
			t.Fatalf("%s: %+v", l.State, faultOf(l))
		}
		all := map[string]bool{}
		for _, i := range l.Instances {
			all[i.Identity] = true
		}
		return all
	}
	ours := identities(real, fleetServer)
	for id := range identities(fake, "fake.example:443") {
		if ours[id] {
			t.Fatalf("a server with another key has the identity %s", id)
		}
	}
	for id := range identities(real, "alias.example:443") {
		if !ours[id] {
			t.Fatalf("under another name the same vCenter has the identity %s", id)
		}
	}
}

// TestNobodyElseLocksAnAccountOut: logins that fail at a server that repeats a
// vCenter's own id do not count as that vCenter's.
func TestNobodyElseLocksAnAccountOut(t *testing.T) {
	real := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	fake := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{}})
	p := small()
	list := func(v *lab.VCenter, name string) infra.Listing {
		s, secrets := load(t, withServer(t, fleet(t), name))
		return p.List(t.Context(), p.Targets(s, secrets, reachAs(v, name))[0])
	}
	for range infra.MaxFailedLogins + 1 {
		if l := list(fake, "fake.example:443"); faultOf(l).Reason != "AuthenticationFailed" {
			t.Fatalf("%s: %+v", l.State, faultOf(l))
		}
	}
	if got := fake.Logins(); got.Failed != infra.MaxFailedLogins {
		t.Errorf("%d logins failed", got.Failed)
	}
	if l := list(real, fleetServer); l.State != code.ScopeComplete {
		t.Errorf("%s: %+v", l.State, faultOf(l))
	}
}

// TestOneKeyPerSession: a server that shows one certificate first and another
// later could pass the later connection on to somebody else.
func TestOneKeyPerSession(t *testing.T) {
	certificates := []tls.Certificate{newCertificate(t), newCertificate(t)}
	var shown atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: certificates[shown.Load():][:1]}, nil
	}}
	server.StartTLS()
	defer server.Close()
	for _, trust := range []infra.Trust{{Insecure: true}, {ServerName: "127.0.0.1", CA: pemOf(certificates...)}} {
		conf, err := trust.TLSConfig()
		must(t, err)
		var key serverKey
		key.hold(conf)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true}}
		for i, step := range []struct {
			shown int32
			want  error
		}{{0, nil}, {0, nil}, {1, errOtherKey}, {0, nil}} {
			shown.Store(step.shown)
			resp, err := client.Get(server.URL)
			if err == nil {
				resp.Body.Close()
			}
			if !errors.Is(err, step.want) || (step.want == nil) != (err == nil) {
				t.Errorf("insecure %t, connection %d: %v, want %v", trust.Insecure, i+1, err, step.want)
			}
		}
		if leaf, err := x509.ParseCertificate(certificates[0].Certificate[0]); err != nil || key.value() != infra.PublicKey(leaf) || len(key.value()) != 64 {
			t.Errorf("key %s, %v", key.value(), err)
		}
	}
}

func newCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

func pemOf(all ...tls.Certificate) []byte {
	var out []byte
	for _, c := range all {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})...)
	}
	return out
}

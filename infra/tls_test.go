package infra_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"drift-detector/infra"
)

func TestTrust(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	cert := server.Certificate()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
	short, long := fmt.Sprintf("%x", sha1.Sum(cert.Raw)), fmt.Sprintf("%x", sha256.Sum256(cert.Raw))

	for name, c := range map[string]struct {
		trust infra.Trust
		ok    bool
	}{
		"nothing known":            {infra.Trust{ServerName: "127.0.0.1"}, false},
		"its CA":                   {infra.Trust{ServerName: "127.0.0.1", CA: ca}, true},
		"its CA, another name":     {infra.Trust{ServerName: "vc.example.net", CA: ca}, false},
		"its SHA-256":              {infra.Trust{ServerName: "any.example", Thumbprint: infra.Thumbprint(cert)}, true},
		"its SHA-256, plain":       {infra.Trust{ServerName: "127.0.0.1", Thumbprint: long}, true},
		"its SHA-1":                {infra.Trust{ServerName: "127.0.0.1", Thumbprint: short}, true},
		"another SHA-1":            {infra.Trust{ServerName: "127.0.0.1", Thumbprint: strings.Repeat("ab", 20)}, false},
		"another SHA-256, good CA": {infra.Trust{ServerName: "127.0.0.1", CA: ca, Thumbprint: strings.Repeat("ab", 32)}, false},
		"insecure":                 {infra.Trust{ServerName: "vc.example.net", Insecure: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			conf, err := c.trust.TLSConfig()
			if err != nil {
				t.Fatal(err)
			}
			conn, err := tls.Dial("tcp", server.Listener.Addr().String(), conf)
			if err == nil {
				conn.Close()
			}
			if (err == nil) != c.ok {
				t.Fatalf("handshake: %v, want success %v", err, c.ok)
			}
			var untrusted *infra.CertificateError
			if err != nil && (!errors.As(err, &untrusted) || untrusted.SHA256 != infra.Thumbprint(cert)) {
				t.Errorf("error %v does not carry the certificate's SHA-256", err)
			}
		})
	}
	for name, bad := range map[string]infra.Trust{"short thumbprint": {Thumbprint: "AB:CD"}, "empty CA": {CA: []byte("x")}} {
		if _, err := bad.TLSConfig(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

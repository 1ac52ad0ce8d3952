package list

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// CAPO's image has public authorities alone: one that this machine trusts, as the company's, proves
// nothing. Go reads a machine's once in a process, so that another one looks.
func TestAuthoritiesOfThisMachineAreNotCAPOs(t *testing.T) {
	const trusting = "DRIFT_DETECTOR_TEST_TRUSTS"
	if os.Getenv(trusting) == "" {
		server := httptest.NewTLSServer(nil)
		defer server.Close()
		file := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		again := exec.Command(os.Args[0], "-test.run=^TestAuthoritiesOfThisMachineAreNotCAPOs$")
		again.Env = append(os.Environ(), trusting+"="+file, "SSL_CERT_FILE="+file)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	own, err := os.ReadFile(os.Getenv(trusting))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(own)
	private, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := private.Verify(x509.VerifyOptions{}); err != nil {
		t.Fatalf("this machine does not trust it: %v", err)
	}
	var public *x509.Certificate
	for root := range bundle.Roots() {
		public, _ = x509.ParseCertificate(root.Certificate)
		break
	}
	for name, c := range map[string]struct {
		shown *x509.Certificate
		ca    []byte
		want  string
	}{
		"an authority of this machine":  {private, nil, infra.CertificateUnverified},
		"the one beside the credential": {private, own, infra.CertificateVerified},
		"a public one":                  {public, nil, infra.CertificateVerified},
		"a public one, and another CA":  {public, own, infra.CertificateDiffers},
	} {
		if got := verifies(&openstack.Credential{CA: c.ca}, []*x509.Certificate{c.shown}); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

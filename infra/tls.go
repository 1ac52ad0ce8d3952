package infra

import (
	"crypto/sha1" // vCenter thumbprints are often SHA-1; it only compares, it signs nothing
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// Trust says which certificate of a server is accepted: the one with the
// Thumbprint, else one that CA (or, without CA, the system's roots) signed for
// ServerName, else, with Insecure, any.
type Trust struct {
	ServerName string // host the certificate must be for
	Thumbprint string // SHA-1 or SHA-256, hex, with or without colons
	CA         []byte // PEM
	Insecure   bool
}

// CertificateError says that a server's certificate is not trusted. Its text
// holds the SHA-256 that an operator may compare and pin.
type CertificateError struct {
	Server string
	SHA256 string
	Cause  error
}

func (e *CertificateError) Error() string {
	return fmt.Sprintf("the certificate of %s is not trusted: %s; its SHA-256 is %s", e.Server, Brief(e.Cause.Error()), e.SHA256)
}

func (e *CertificateError) Unwrap() error { return e.Cause }

// Hint returns the line to add once the fingerprint has been compared.
func (e *CertificateError) Hint(endpoint string) string {
	return fmt.Sprintf("compare the SHA-256 with the server's own; if it is right, put {endpoint: %q, thumbprint: %q} under endpoints: of a --credentials file", endpoint, e.SHA256)
}

// TLSConfig returns a configuration that verifies as Trust says. It fails when
// the thumbprint is no fingerprint or the CA holds no certificate. Handshakes
// that fail to verify return a *CertificateError.
func (t Trust) TLSConfig() (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	// The standard check is turned off because VerifyConnection does it
	// instead: only there can the error carry the certificate's fingerprint.
	conf.InsecureSkipVerify = true
	if t.Insecure {
		return conf, nil
	}
	pin := normalThumbprint(t.Thumbprint)
	if t.Thumbprint != "" && len(pin) != 2*sha1.Size && len(pin) != 2*sha256.Size {
		return nil, errors.New("the thumbprint is neither SHA-1 nor SHA-256 in hex")
	}
	var roots *x509.CertPool
	if len(t.CA) > 0 {
		roots = x509.NewCertPool()
		if !roots.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("the CA file holds no certificate in PEM form")
		}
	}
	conf.VerifyConnection = func(cs tls.ConnectionState) error {
		return t.verify(cs.PeerCertificates, pin, roots)
	}
	return conf, nil
}

func (t Trust) verify(chain []*x509.Certificate, pin string, roots *x509.CertPool) error {
	if len(chain) == 0 {
		return errors.New("the server sent no certificate")
	}
	leaf := chain[0]
	refuse := func(cause error) error {
		return &CertificateError{Server: t.ServerName, SHA256: Thumbprint(leaf), Cause: cause}
	}
	if pin != "" {
		long, short := sha256.Sum256(leaf.Raw), sha1.Sum(leaf.Raw)
		if pin == fmt.Sprintf("%x", long) || pin == fmt.Sprintf("%x", short) {
			return nil
		}
		return refuse(errors.New("it is not the one that is pinned"))
	}
	opts := x509.VerifyOptions{DNSName: t.ServerName, Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range chain[1:] {
		opts.Intermediates.AddCert(c)
	}
	if _, err := leaf.Verify(opts); err != nil {
		return refuse(err)
	}
	return nil
}

// Thumbprint returns the SHA-256 of a certificate in the form that vSphere and
// --credentials use: upper-case hex with colons.
func Thumbprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

// PublicKey returns the SHA-256 of a certificate's public key, in hex. A renewed
// certificate may keep it; nobody else can complete a handshake with it.
func PublicKey(c *x509.Certificate) string {
	return fmt.Sprintf("%x", sha256.Sum256(c.RawSubjectPublicKeyInfo))
}

func normalThumbprint(s string) string {
	return strings.ToLower(strings.NewReplacer(":", "", " ", "").Replace(s))
}

package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"
)

// certificate is a server certificate with its key.
type certificate struct {
	der     []byte
	certPEM []byte
	key     crypto.Signer
}

func (c certificate) tls() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{c.der}, PrivateKey: c.key}
}

// thumbprint returns the SHA-256 of the certificate in the form that CAPV and
// govmomi write: upper-case hex, colon-separated.
func (c certificate) thumbprint() string {
	sum := sha256.Sum256(c.der)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// selfSigned makes a certificate for the names, which may sign others.
func selfSigned(names []string) (certificate, error) {
	return issue(names, nil, nil, time.Now().Add(24*time.Hour))
}

// issue makes a server certificate for names and addresses, signed by the CA, or by
// itself without one.
func issue(names []string, ca *x509.Certificate, caKey crypto.Signer, until time.Time) (certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: names[0]},
		NotBefore:             until.Add(-48 * time.Hour),
		NotAfter:              until,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	var signer crypto.Signer = key
	parent := template
	if ca != nil {
		parent, signer = ca, caKey
	} else {
		template.IsCA = true
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return certificate{}, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return certificate{der: der, certPEM: block, key: key}, nil
}

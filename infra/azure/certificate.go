package azure

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha1" // names a certificate, and signs nothing
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
)

// Certificate is what a service principal proves itself with instead of a secret.
type Certificate struct {
	Key        *rsa.PrivateKey
	thumbprint string // SHA-1 of the certificate, in hex
	X5T        string // the same, as tokens have it
}

var errNoPEM = errors.New("is no certificate in PEM form; one in PKCS #12 form is not read")

// readCertificate reads a certificate with its private key in PEM form. CAPZ reads PKCS #12
// without a password, too (azidentity.ParseCertificates), which is not read here.
func readCertificate(text string) (*Certificate, error) {
	var certs []*x509.Certificate
	var key *rsa.PrivateKey
	rest := []byte(strings.TrimSpace(text))
	if !bytes.HasPrefix(rest, []byte("-----BEGIN ")) {
		return nil, errNoPEM
	}
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "" {
			return nil, errors.New("holds a private key that has a password, which CAPZ has none for")
		}
		switch block.Type {
		case "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, errors.New("holds a certificate that cannot be read")
			}
			certs = append(certs, c)
		case "PRIVATE KEY":
			k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, errors.New("holds a private key that cannot be read")
			}
			key, _ = k.(*rsa.PrivateKey)
		case "RSA PRIVATE KEY":
			k, err := x509.ParsePKCS1PrivateKey(block.Bytes)
			if err != nil {
				return nil, errors.New("holds a private key that cannot be read")
			}
			key = k
		}
	}
	if key == nil {
		return nil, errors.New("holds no RSA key")
	}
	for _, c := range certs {
		if public, ok := c.PublicKey.(*rsa.PublicKey); ok && public.Equal(&key.PublicKey) {
			sum := sha1.Sum(c.Raw)
			return &Certificate{key, hex.EncodeToString(sum[:]), base64.RawURLEncoding.EncodeToString(sum[:])}, nil
		}
	}
	return nil, errors.New("holds no certificate of its private key")
}

package azure

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // names a certificate, and signs nothing
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"time"
)

// certificate is what a service principal proves itself with instead of a secret.
type certificate struct {
	key        *rsa.PrivateKey
	thumbprint string // SHA-1 of the certificate, in hex
	x5t        string // the same, as tokens have it
}

var errNoPEM = errors.New("is no certificate in PEM form; one in PKCS #12 form is not read")

// readCertificate reads a certificate with its private key in PEM form. CAPZ reads PKCS #12
// without a password, too (azidentity.ParseCertificates), which is not read here.
func readCertificate(text string) (*certificate, error) {
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
			return &certificate{key, hex.EncodeToString(sum[:]), base64.RawURLEncoding.EncodeToString(sum[:])}, nil
		}
	}
	return nil, errors.New("holds no certificate of its private key")
}

// assertion proves to the authority that the client has the key: a JWT that is good for ten
// minutes.
func (c *certificate) assertion(audience, client string, now time.Time) (string, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	part := func(v any) string {
		text, _ := json.Marshal(v) // maps of texts and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]any{"alg": "RS256", "typ": "JWT", "x5t": c.x5t}) + "." + part(map[string]any{
		"aud": audience, "iss": client, "sub": client, "jti": hex.EncodeToString(id[:]),
		"nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	})
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, c.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", errors.New("the private key cannot sign")
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

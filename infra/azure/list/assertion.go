package list

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"drift-detector/infra/azure"
)

// assertion proves to the authority that the client has the key of a certificate: a JWT that is
// good for ten minutes.
func assertion(c *azure.Certificate, audience, client string, now time.Time) (string, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	part := func(v any) string {
		text, _ := json.Marshal(v) // maps of texts and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]any{"alg": "RS256", "typ": "JWT", "x5t": c.X5T}) + "." + part(map[string]any{
		"aud": audience, "iss": client, "sub": client, "jti": hex.EncodeToString(id[:]),
		"nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	})
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, c.Key, crypto.SHA256, sum[:])
	if err != nil {
		return "", errors.New("the private key cannot sign")
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

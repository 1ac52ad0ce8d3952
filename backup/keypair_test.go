package backup

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// Each form of a private key that Cluster API reads is of the pair of its certificate, and of no
// other.
func TestPairs(t *testing.T) {
	ofRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ofEC, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ofEd, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	sec1, err := x509.MarshalECPrivateKey(ofEC)
	if err != nil {
		t.Fatal(err)
	}
	digest := func(kind string, der []byte) Digest {
		return CertificateDigest(NewSensitive(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))))
	}
	all := map[string]string{}
	for name, c := range map[string]struct {
		signer crypto.Signer
		keys   [][]byte
	}{
		"RSA":     {ofRSA, [][]byte{x509.MarshalPKCS1PrivateKey(ofRSA), pkcs8(ofRSA)}},
		"EC":      {ofEC, [][]byte{sec1, pkcs8(ofEC)}},
		"Ed25519": {ofEd, [][]byte{pkcs8(ofEd)}},
	} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, c.signer.Public(), c.signer)
		if err != nil {
			t.Fatal(err)
		}
		of := digest("CERTIFICATE", der)
		if of.Pair == "" || of.Ends.IsZero() || all[of.Pair] != "" {
			t.Errorf("%s: certificate %+v", name, of)
		}
		all[of.Pair] = name
		for i, key := range c.keys {
			if got := digest("PRIVATE KEY", key); got.Pair != of.Pair || !got.Ends.IsZero() {
				t.Errorf("%s, form %d: %+v, want pair %s", name, i, got, of.Pair)
			}
		}
	}
	for name, text := range map[string]string{
		"empty block": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY"})),
		"no key":      string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hunter2")})),
		"no PEM":      "hunter2",
	} {
		if d := CertificateDigest(NewSensitive(text)); d.Pair != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

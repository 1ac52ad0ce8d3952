package backup

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
)

// CertificateDigest says of the first block of a PEM text, which is all that Cluster API reads
// (DecodeCertPEM, DecodePrivateKeyPEM in util/certs/certs.go v1.13.6), when the certificate in
// it ends, and of which pair of keys that or the private key in it is.
func CertificateDigest(text Sensitive) (d Digest) {
	block, _ := pem.Decode([]byte(text.Reveal()))
	if block == nil {
		return Digest{Problem: errors.New("not PEM")}
	}
	if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
		return Digest{Ends: cert.NotAfter, Pair: pairOf(cert.PublicKey)}
	}
	return Digest{Pair: pairOf(publicKey(block.Bytes))}
}

// pairOf returns a digest of a public key, the same for a certificate and its private key; it is
// empty for what is no public key.
func pairOf(public any) string {
	var text []byte
	switch k := public.(type) {
	case *rsa.PublicKey:
		text = k.N.Bytes()
	case *ecdsa.PublicKey:
		text, _ = k.Bytes() // of one that was parsed
	case ed25519.PublicKey:
		text = k
	}
	if len(text) == 0 {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// publicKey returns that of a private key in one of the forms that Cluster API reads, or nil. Of an RSA
// key only the modulus is read: to see that its primes fit costs more than all else of a backup.
func publicKey(der []byte) any {
	var whole struct {
		Version   int
		Algorithm struct {
			OID        asn1.ObjectIdentifier
			Parameters asn1.RawValue `asn1:"optional"`
		}
		Key []byte
	}
	if _, err := asn1.Unmarshal(der, &whole); err == nil && whole.Algorithm.OID.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}) {
		der = whole.Key // an RSA key in PKCS #8 (RFC 8017 A.1)
	} else if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		return publicOf(key)
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return &key.PublicKey
	}
	var key struct {
		Version                int
		N, E, D, P, Q, A, B, C *big.Int
		More                   asn1.RawValue `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(der, &key); err != nil || key.N.Sign() <= 0 {
		return nil
	}
	return &rsa.PublicKey{N: key.N}
}

func publicOf(key any) any {
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		return &k.PublicKey
	case ed25519.PrivateKey:
		return k.Public()
	}
	return nil
}

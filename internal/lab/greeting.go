package lab

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"sync/atomic"
	"time"
)

// Greeting is before TLS handshakes of a server: it returns what the server is to
// be in this one, which is own or a changed clone of it, or an error, which ends it.
type Greeting func(hello *tls.ClientHelloInfo, own *tls.Config, sign Signing) (*tls.Config, error)

// Signing makes a certificate for names and addresses, signed by whoever a client of
// the server trusts.
type Signing func(until time.Time, names ...string) (tls.Certificate, error)

// SelfSigned makes a certificate that no authority has signed.
func SelfSigned(names ...string) (tls.Certificate, error) {
	c, err := selfSigned(names)
	return c.tls(), err
}

// SignedBy makes a certificate for names and addresses that an authority of SelfSigned
// has signed.
func SignedBy(authority tls.Certificate, names ...string) (tls.Certificate, error) {
	ca, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return tls.Certificate{}, err
	}
	c, err := issue(names, ca, authority.PrivateKey.(crypto.Signer), time.Now().Add(time.Hour))
	return c.tls(), err
}

// Greetings is the place of a Greeting before servers of another package. The zero value is
// ready to use.
type Greetings struct{ greeting }

// Greet puts something before the handshakes, from the next one on.
func (g *Greetings) Greet(next Greeting) { g.current.Store(&next) }

// Before returns the configuration of a server that shows an authority's own certificate, which
// SelfSigned made.
func (g *Greetings) Before(authority tls.Certificate) (*tls.Config, error) {
	ca, err := x509.ParseCertificate(authority.Certificate[0])
	if err != nil {
		return nil, err
	}
	return g.before(&tls.Config{Certificates: []tls.Certificate{authority}, MinVersion: tls.VersionTLS12}, ca, authority.PrivateKey.(crypto.Signer)), nil
}

// greeting is the Greeting of a server that runs; nil is none.
type greeting struct{ current atomic.Pointer[Greeting] }

func (g *greeting) before(own *tls.Config, ca *x509.Certificate, key crypto.Signer) *tls.Config {
	sign := func(until time.Time, names ...string) (tls.Certificate, error) {
		c, err := issue(names, ca, key, until)
		return c.tls(), err
	}
	conf := own.Clone()
	conf.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if greeting := g.current.Load(); greeting != nil {
			return (*greeting)(hello, own, sign)
		}
		return own, nil
	}
	return conf
}

// Greet puts something before the vCenter's handshakes, from the next one on.
func (v *VCenter) Greet(g Greeting) { v.greeting.current.Store(&g) }

// Greet puts something before the handshakes of all API servers, from the next one on.
func (a *APIServers) Greet(g Greeting) { a.greeting.current.Store(&g) }

// Greet puts something before the handshakes of an AWS that is Secure, from the next one on.
func (e *EC2) Greet(g Greeting) { e.greeting.current.Store(&g) }

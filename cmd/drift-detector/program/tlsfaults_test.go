package program

import (
	"crypto/tls"
	"errors"
	"io"
	"time"

	"drift-detector/internal/lab"
)

// tlsFault is what a server shows, or does, in a handshake.
type tlsFault struct {
	name string
	// foreign says that no client may send anything to a server that shows this.
	foreign bool
	do      lab.Greeting
}

// tlsFaults are those of every server that speaks TLS.
var tlsFaults = []tlsFault{
	showing("expired", func(sign lab.Signing) (tls.Certificate, error) {
		return sign(time.Now().Add(-24*time.Hour), "localhost", "127.0.0.1")
	}),
	showing("not valid yet", func(sign lab.Signing) (tls.Certificate, error) {
		return sign(time.Now().Add(96*time.Hour), "localhost", "127.0.0.1")
	}),
	showing("for another host", func(sign lab.Signing) (tls.Certificate, error) {
		return sign(time.Now().Add(time.Hour), "elsewhere.example", "127.0.0.2")
	}),
	showing("of an unknown authority", func(sign lab.Signing) (tls.Certificate, error) {
		authority, err := lab.SelfSigned("an authority")
		if err != nil {
			return authority, err
		}
		c, err := lab.SignedBy(authority, "localhost", "127.0.0.1")
		c.Certificate = append(c.Certificate, authority.Certificate[0])
		return c, err
	}),
	showing("self-signed", func(lab.Signing) (tls.Certificate, error) { return lab.SelfSigned("localhost", "127.0.0.1") }),
	{"TLS 1.0 only", true, func(_ *tls.ClientHelloInfo, own *tls.Config, _ lab.Signing) (*tls.Config, error) {
		conf := own.Clone()
		conf.MinVersion, conf.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
		return conf, nil
	}},
	{"cut", false, func(hello *tls.ClientHelloInfo, _ *tls.Config, _ lab.Signing) (*tls.Config, error) {
		_ = hello.Conn.Close()
		return nil, errors.New("cut")
	}},
	{"an alert", false, func(*tls.ClientHelloInfo, *tls.Config, lab.Signing) (*tls.Config, error) {
		return nil, errors.New("no")
	}},
	{"plain HTTP", true, func(hello *tls.ClientHelloInfo, _ *tls.Config, _ lab.Signing) (*tls.Config, error) {
		_, _ = io.WriteString(hello.Conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		_ = hello.Conn.Close()
		return nil, errors.New("plain")
	}},
	{"silence", true, func(hello *tls.ClientHelloInfo, _ *tls.Config, _ lab.Signing) (*tls.Config, error) {
		select {
		case <-hello.Context().Done():
		case <-time.After(6 * time.Second):
		}
		return nil, errors.New("too late")
	}},
}

// showing returns the fault of a server that shows a certificate.
func showing(name string, certificate func(lab.Signing) (tls.Certificate, error)) tlsFault {
	return tlsFault{"a certificate " + name, true, func(_ *tls.ClientHelloInfo, own *tls.Config, sign lab.Signing) (*tls.Config, error) {
		c, err := certificate(sign)
		if err != nil {
			return nil, err
		}
		conf := own.Clone()
		conf.Certificates = []tls.Certificate{c}
		return conf, nil
	}}
}

// greet returns the saboteur's place before handshakes, which it counts as the call that it
// is given for a name.
func (s *saboteur) greet(call string) lab.Greeting {
	return func(hello *tls.ClientHelloInfo, own *tls.Config, sign lab.Signing) (*tls.Config, error) {
		if s.strikes(call) {
			return s.hand.do(hello, own, sign)
		}
		return own, nil
	}
}

package faults_test

import (
	"crypto/tls"
	"errors"
	"io"
	"time"

	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// tlsFaults are those of every server that speaks TLS.
var tlsFaults = []runs.TLSFault{
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
	{Name: "TLS 1.0 only", Foreign: true, Do: func(_ *tls.ClientHelloInfo, own *tls.Config, _ lab.Signing) (*tls.Config, error) {
		conf := own.Clone()
		conf.MinVersion, conf.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
		return conf, nil
	}},
	{Name: "cut", Foreign: false, Do: func(hello *tls.ClientHelloInfo, _ *tls.Config, _ lab.Signing) (*tls.Config, error) {
		_ = hello.Conn.Close()
		return nil, errors.New("cut")
	}},
	{Name: "an alert", Foreign: false, Do: func(*tls.ClientHelloInfo, *tls.Config, lab.Signing) (*tls.Config, error) {
		return nil, errors.New("no")
	}},
	{Name: "plain HTTP", Foreign: true, Do: func(hello *tls.ClientHelloInfo, _ *tls.Config, _ lab.Signing) (*tls.Config, error) {
		_, _ = io.WriteString(hello.Conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		_ = hello.Conn.Close()
		return nil, errors.New("plain")
	}},
	{Name: "silence", Foreign: true, Do: func(hello *tls.ClientHelloInfo, _ *tls.Config, _ lab.Signing) (*tls.Config, error) {
		select {
		case <-hello.Context().Done():
		case <-time.After(6 * time.Second):
		}
		return nil, errors.New("too late")
	}},
}

// showing returns the fault of a server that shows a certificate.
func showing(name string, certificate func(lab.Signing) (tls.Certificate, error)) runs.TLSFault {
	return runs.TLSFault{Name: "a certificate " + name, Foreign: true, Do: func(_ *tls.ClientHelloInfo, own *tls.Config, sign lab.Signing) (*tls.Config, error) {
		c, err := certificate(sign)
		if err != nil {
			return nil, err
		}
		conf := own.Clone()
		conf.Certificates = []tls.Certificate{c}
		return conf, nil
	}}
}

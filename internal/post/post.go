// Package post sends a small document to an address that the operator gave: metrics to a
// Pushgateway, a message to a webhook. What the address answers is not read beyond its status.
package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Limit is how long a document may take to be sent and answered.
const Limit = 15 * time.Second

// User is whom the server is told that it comes from; the zero value is nobody.
type User struct{ Name, Password string }

// Send sends a document with a method, by itself: no redirect is followed, because it would tell
// another server. A server that asks for patience (status 429) is asked once more, where the time
// until then is within Limit. An error names the host alone: a path may be a secret.
func Send(ctx context.Context, method string, to *url.URL, of User, kind string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	status, wait, err := send(ctx, method, to, of, kind, body)
	if err == nil && status == http.StatusTooManyRequests && wait < Limit {
		select {
		case <-time.After(wait):
			status, _, err = send(ctx, method, to, of, kind, body)
		case <-ctx.Done():
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", to.Host, err)
	}
	if status/100 != 2 {
		return fmt.Errorf("%s answers with status %d", to.Host, status)
	}
	return nil
}

// send returns the status of the answer, and how long the server wants to be left alone.
func send(ctx context.Context, method string, to *url.URL, of User, kind string, body []byte) (status int, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return 0, 0, errors.New("no address to send to")
	}
	req.Header.Set("Content-Type", kind)
	if of != (User{}) {
		req.SetBasicAuth(of.Name, of.Password)
	}
	client := http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
			MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true,
		},
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, 0, errors.New(brief(err))
	}
	_ = res.Body.Close()
	seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16)
	if err != nil { // nothing, or a date
		seconds = 1
	}
	return res.StatusCode, time.Duration(seconds) * time.Second, nil
}

// brief says what went wrong without the address, which errors of package net/url repeat.
func brief(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return fmt.Sprintf("no answer within %s", Limit)
	case errors.Is(err, context.Canceled):
		return "interrupted before there was an answer"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it answers without encryption, and the address begins with https://"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closes the connection without an answer"
	case errors.As(err, &dns):
		return "the name is not known"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return "the answer is none of HTTP; where it is one of TLS, the address begins with https://"
}

// Address reads the address of a server. Of a text that is none the error repeats nothing.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("no address such as https://host/path")
	}
	return u, nil
}

// IsPlain reports whether others may read on the way what is sent to an address: it has no encryption,
// and leads to another machine.
func IsPlain(to *url.URL) bool {
	host := to.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return to.Scheme == "http" && !ip.Unmap().IsLoopback()
	}
	return to.Scheme == "http" && !strings.EqualFold(host, "localhost")
}

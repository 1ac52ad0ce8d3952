package list

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// Bounds in time and size on what a cloud may do.
const (
	dialTimeout = 10 * time.Second
	callTimeout = 2 * time.Minute // the body of an answer included
	maxAnswer   = 64 << 20
	maxWait     = 20 * time.Second // as a busy server asks for
)

// Bounds of answers. A list of Neutron is one answer, of the ports of a project for example;
// a login has a catalogue, of which gophercloud makes maps.
var (
	listBounds  = infra.Bounds{Items: 2_000_000, Upper: []infra.Level{{Levels: 3, Items: 100_000}}, Part: infra.Part{Levels: 3, Items: 20_000, Bytes: 4 << 20}}
	loginBounds = infra.Bounds{Items: 100_000, Part: infra.Part{Bytes: 8 << 20}}
)

// errForeign says that a request was to go where nobody allowed it.
var errForeign = errors.New("this server is not contacted: it is neither the identity endpoint's nor allowed")

// errBadTrust says that what is recorded to trust a server by is unusable.
var errBadTrust = errors.New("nothing says which certificate to trust")

// transport sends requests to the servers that were allowed, and to no others: a token is
// in each of them. It follows no redirects.
type transport struct {
	mu    sync.Mutex
	hosts map[string]*server
	// key is the public key that the identity endpoint has proven to hold, and chain the
	// certificates that it shows, trusted or not.
	key   string
	chain []*x509.Certificate
}

// server is one that may be contacted.
type server struct {
	next *infra.Bounded
	dial string // host:port
}

func (t *transport) client() *http.Client {
	return &http.Client{
		Transport: t, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// allow opens the way to a server.
func (t *transport) allow(at infra.Endpoint, d *openstack.Detail, c *openstack.Credential, identity bool) error {
	conf, err := tlsOf(at, d, c)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadTrust, err)
	}
	if identity {
		t.observe(conf)
	}
	t.hosts[at.String()] = &server{dial: d.Ways.DialAddress(at), next: &infra.Bounded{Limit: maxAnswer, Next: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment, // the operator's, never the backup's
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        conf,
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  callTimeout,
		MaxResponseHeaderBytes: 64 << 10, // a status line is quoted in errors
	}}}
	return nil
}

// tlsOf returns how a server's certificate is checked: as the operator says for the server,
// else by the CA that comes with the credential, else by the system's roots.
func tlsOf(at infra.Endpoint, d *openstack.Detail, c *openstack.Credential) (*tls.Config, error) {
	trust, given := d.Trust(at)
	if c.Operator != nil && !given && !d.Insecure {
		return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.Operator.Insecure, RootCAs: c.Operator.Roots, ServerName: at.Host}, nil
	}
	if !given {
		trust.CA = c.CA
	}
	return trust.TLSConfig()
}

// observe notes what the server shows, and its key after whatever verifies that.
func (t *transport) observe(conf *tls.Config) {
	verify := conf.VerifyConnection
	conf.VerifyConnection = func(cs tls.ConnectionState) error {
		t.mu.Lock()
		t.chain = cs.PeerCertificates
		t.mu.Unlock()
		if verify != nil {
			if err := verify(cs); err != nil {
				return err
			}
		}
		if len(cs.PeerCertificates) > 0 {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.key == "" {
				t.key = infra.PublicKey(cs.PeerCertificates[0])
			}
		}
		return nil
	}
}

// identityKey returns the key of the identity endpoint's certificate, or "" before there is one.
func (t *transport) identityKey() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.key
}

// shown returns the certificates that the identity endpoint showed.
func (t *transport) shown() []*x509.Certificate {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chain
}

// RoundTrip makes errors of the statuses that may pass, once the time that the server
// asks for is over: infra.Retry asks again then.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	to := t.hosts[strings.ToLower(req.URL.Host)]
	if to == nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, errForeign
	}
	host := strings.ToLower(req.URL.Host)
	if to.dial != host {
		req = req.Clone(req.Context())
		req.URL.Host, req.Host = to.dial, host
	}
	res, err := to.next.RoundTrip(req)
	var untrusted *infra.CertificateError
	if errors.As(err, &untrusted) {
		return nil, &untrustedError{host, untrusted}
	}
	if err != nil {
		return nil, err
	}
	if !infra.PassingStatus(res.StatusCode) && res.StatusCode != http.StatusRequestEntityTooLarge {
		bounds := &listBounds
		if req.Method != http.MethodGet || res.StatusCode != http.StatusOK {
			bounds = &loginBounds
		}
		res.Body = bounds.JSON(res.Body)
		return res, nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	res.Body.Close()
	code := res.StatusCode
	if code == http.StatusRequestEntityTooLarge {
		code = http.StatusTooManyRequests // as old releases of Nova call it
	}
	wait(req.Context(), res.Header.Get("Retry-After"))
	return nil, &infra.StatusError{Code: code, Status: res.Status}
}

// untrustedError says which of a cloud's servers shows a certificate that is not trusted.
type untrustedError struct {
	endpoint string
	*infra.CertificateError
}

// wait does so as long as a server asks for, in seconds or until a date, within bounds.
func wait(ctx context.Context, retryAfter string) {
	asked := time.Duration(0)
	if seconds, err := strconv.Atoi(strings.TrimSpace(retryAfter)); err == nil {
		asked = time.Duration(min(seconds, 3600)) * time.Second
	} else if until, err := http.ParseTime(retryAfter); err == nil {
		asked = time.Until(until)
	}
	if asked <= 0 {
		return
	}
	timer := time.NewTimer(min(asked, maxWait))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (t *transport) close() {
	for _, s := range t.hosts {
		s.next.CloseIdleConnections()
	}
}

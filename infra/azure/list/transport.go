package list

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"drift-detector/infra"
	"drift-detector/infra/azure"
)

// Bounds in time and size on what a server may do.
const (
	dialTimeout = 10 * time.Second
	callTimeout = 2 * time.Minute // the body of an answer included
	maxAnswer   = 64 << 20
	maxWait     = 30 * time.Second // as a busy server asks for
)

var (
	listBounds  = infra.Bounds{Items: 2_000_000, Upper: []infra.Level{{Levels: 3, Items: 100_000}}, Part: infra.Part{Levels: 3, Items: 20_000, Bytes: 4 << 20}}
	tokenBounds = infra.Bounds{Items: 1000, Part: infra.Part{Bytes: 1 << 20}}
)

// errForeign says that a request was to go where nobody allowed it.
var errForeign = errors.New("this server is not contacted: it is none of the cloud's")

// errBadTrust says that what the operator gave to trust a server by is unusable.
var errBadTrust = errors.New("nothing says which certificate to trust")

// transport sends requests to the two servers of a cloud, and to no others: a token or a
// secret is in each of them. It follows no redirects.
type transport struct {
	mu    sync.Mutex
	hosts map[string]*server // by host
	chain []*x509.Certificate
}

type server struct {
	next *infra.Bounded
	dial string // host:port
}

// newTransport opens the way to the servers of a cloud.
func newTransport(at azure.Endpoints, d *azure.Detail) (*transport, error) {
	t := &transport{hosts: map[string]*server{}}
	for _, e := range []infra.Endpoint{at.Authority, at.Manager} {
		conf, err := d.Trust(e).TLSConfig()
		if err != nil {
			return nil, errors.Join(errBadTrust, err)
		}
		if e == at.Authority {
			t.observe(conf)
		}
		t.hosts[e.Host] = &server{dial: d.Ways.DialAddress(e), next: &infra.Bounded{Limit: maxAnswer, Next: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment, // the operator's, never the backup's
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:        conf,
			TLSHandshakeTimeout:    dialTimeout,
			ResponseHeaderTimeout:  callTimeout,
			MaxResponseHeaderBytes: 64 << 10, // a status line is quoted in errors
		}}}
	}
	return t, nil
}

func (t *transport) client() *http.Client {
	return &http.Client{
		Transport: t, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RoundTrip makes errors of the statuses that may pass, once the time that the server asks
// for is over: infra.Retry asks again then.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	host := strings.ToLower(req.URL.Host)
	to := t.hosts[host]
	if to == nil || req.URL.Scheme != "https" {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, errForeign
	}
	if to.dial != host+":443" {
		req = req.Clone(req.Context())
		req.URL.Host, req.Host = to.dial, host
	}
	res, err := to.next.RoundTrip(req)
	var untrusted *infra.CertificateError
	if errors.As(err, &untrusted) {
		return nil, &untrustedError{host + ":443", untrusted}
	}
	if err != nil {
		return nil, err
	}
	if !infra.PassingStatus(res.StatusCode) {
		bounds := &listBounds
		if req.Method != http.MethodGet || res.StatusCode != http.StatusOK {
			bounds = &tokenBounds
		}
		res.Body = bounds.JSON(res.Body)
		return res, nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	res.Body.Close()
	wait(req.Context(), res.Header.Get("Retry-After"))
	return nil, &infra.StatusError{Code: res.StatusCode, Status: res.Status}
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

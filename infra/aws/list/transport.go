package list

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Bounds in time, size and rate. CAPA allows itself the same rate for what it
// reads (pkg/cloud/scope/session.go v2.11.1).
const (
	dialTimeout    = 10 * time.Second
	answerTimeout  = 30 * time.Second
	callTimeout    = time.Minute
	maxAnswer      = 32 << 20 // 1,000 instances of 32 KiB
	callsPerSecond = 20
	callBurst      = 100
)

// limits hold one limiter per region: EC2 counts calls per account and region,
// and several targets of a run may be one account.
type limits struct {
	mu       sync.Mutex
	byRegion map[string]*rate.Limiter
}

func newLimits() *limits { return &limits{byRegion: map[string]*rate.Limiter{}} }

func (l *limits) of(region string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byRegion[region] == nil {
		l.byRegion[region] = rate.NewLimiter(callsPerSecond, callBurst)
	}
	return l.byRegion[region]
}

// newTransport returns a client for one listing. caFile holds further roots, as
// the SDK's AWS_CA_BUNDLE does; it is the operator's.
func newTransport(limit *rate.Limiter, caFile string, insecure bool, hidden *infra.Redaction) (*bounded, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("reading AWS_CA_BUNDLE: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("reading AWS_CA_BUNDLE: it holds no certificate in PEM form")
		}
	}
	return &bounded{limit: limit, hidden: hidden, next: &infra.Bounded{Limit: maxAnswer, Next: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment, // the operator's, never the backup's
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       conf,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerTimeout,
		ForceAttemptHTTP2:     true,
	}}}, nil
}

// bounded sends requests no faster than the limit, retries included, and returns
// answers of AWS only.
type bounded struct {
	limit  *rate.Limiter
	hidden *infra.Redaction
	next   *infra.Bounded
}

// client follows no redirects: a signed request is for one host.
func (b *bounded) client() *http.Client {
	return &http.Client{
		Transport: b, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := b.limit.Wait(req.Context()); err != nil {
		return nil, err
	}
	// Keys of roles, and those of the operator's own chain, are known from here on.
	b.hidden.Add(backup.NewSensitive(req.Header.Get("X-Amz-Security-Token")))
	if req.Body != nil {
		// smithy-go 1.28.8 answers WriteTo after Close with io.EOF, which
		// net/http takes for a failed write when a server answers at once.
		req = req.Clone(req.Context())
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	res, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return whole(req, res)
}

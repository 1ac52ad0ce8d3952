package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Cluster is a management cluster that runs.
type Cluster struct {
	Name     string   // host:port of its API server
	Warnings []string // of its kubeconfig
	// Timeout is how long a pass may take; infra.DefaultTimeout when it is zero. What it cuts
	// off is unread.
	Timeout time.Duration

	base      string // URL of the API
	hide      *infra.Redaction
	transport *http.Transport
	login     login

	mu     sync.Mutex
	shown  identity // to the server
	logins int      // how often it was made
	lost   error    // why nothing more is asked of the server
	broken int      // how many questions in a row it broke off
}

// Format keeps what logs in out of all that prints a Cluster.
func (c *Cluster) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.Name) }

// Bounds on talking to an API server.
const (
	connectTime = 10 * time.Second
	// callTime is that of one page. API servers cut a request after a minute by themselves
	// (--request-timeout, Kubernetes v1.36.0).
	callTime = 2 * time.Minute
	// maxLogins is how often a user logs in: again when what it had has expired meanwhile.
	maxLogins = 2
)

// connect makes the transport. Its certificate is that of the user.
func (c *Cluster) connect(conf *tls.Config, proxy func(*http.Request) (*url.URL, error)) {
	c.transport = &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: connectTime}).DialContext,
		TLSClientConfig:        conf,
		TLSHandshakeTimeout:    connectTime,
		ResponseHeaderTimeout:  callTime,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        atOnce,
		MaxIdleConnsPerHost:    atOnce,
	}
}

func (c *Cluster) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown.cert == nil {
		return &tls.Certificate{}, nil
	}
	return c.shown.cert, nil
}

// identify logs in, unless that was done since that many logins, and returns what is
// shown to the server and how many logins there were.
func (c *Cluster) identify(ctx context.Context, since int) (identity, int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logins > since || c.logins > 0 && (c.logins == maxLogins || !c.login.renews()) {
		return c.shown, c.logins, nil
	}
	id, err := c.login.identity(ctx)
	if err == nil {
		c.shown = id
		c.logins++
		c.transport.CloseIdleConnections() // which have shown another certificate
	}
	return c.shown, c.logins, err
}

// errAnswer says that an answer is not that of an API server. The answer itself is not quoted.
type errAnswer struct{ what string }

func (e *errAnswer) Error() string { return e.what }

// maxBroken is after how many questions in a row that the server broke off nothing more is asked
// of it: one list that it can't give must not cost the others, and a server that has gone must not
// cost the time of all of them.
const maxBroken = 8

// errUnasked says that a question was not asked, because those before were broken off.
type errUnasked struct{ last error }

func (e *errUnasked) Error() string {
	return fmt.Sprintf("it was not asked for: the API server broke off %d lists before", maxBroken)
}

func (e *errUnasked) Unwrap() error { return e.last }

// gone says that nothing more is asked of the server, and why.
func (c *Cluster) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// lose notes why the server can't be asked any more: what no login, no connection and no trust
// gives would fail for each of all other questions, too. A connection that breaks may be that of
// one list, unless it is that of many in a row.
func (c *Cluster) lose(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case isAnswer(err):
		c.broken = 0
	case c.lost != nil:
	case isHopeless(err):
		c.lost = err
	default:
		if c.broken++; c.broken == maxBroken {
			c.lost = &errUnasked{err}
		}
	}
}

// isAnswer reports whether the server said something, if only that it won't.
func isAnswer(err error) bool {
	var status *infra.StatusError
	var answer *errAnswer
	var beyond *infra.BoundError
	return err == nil || errors.As(err, &status) && status.Code != http.StatusUnauthorized || errors.As(err, &answer) || errors.As(err, &beyond)
}

// isHopeless reports whether no other question would be answered either: nobody is there, or it
// does not know the user, or is not who it should be.
func isHopeless(err error) bool {
	var status *infra.StatusError
	var untrusted *infra.CertificateError
	var input *backup.InputError
	var op *net.OpError
	return errors.As(err, &status) || errors.As(err, &untrusted) || errors.As(err, &input) || errors.As(err, &op) && op.Op != "read" && op.Op != "write"
}

// get asks for a path of the API and hands on the answer and the server's time. What only
// failed for now is asked again; then read begins again, too.
func (c *Cluster) get(ctx context.Context, path, accept string, read func(body io.Reader, at time.Time) error) error {
	if err := c.gone(); err != nil {
		return err
	}
	since := 0
	again := func() error {
		return infra.Patient.Do(ctx, func() error {
			id, logins, err := c.identify(ctx, since)
			if err != nil {
				return err
			}
			since = logins
			return c.once(ctx, path, accept, id, read)
		})
	}
	err := again()
	var status *infra.StatusError
	if errors.As(err, &status) && status.Code == http.StatusUnauthorized && c.login.renews() && since < maxLogins {
		err = again()
	}
	c.lose(ctx, err)
	return err
}

func (c *Cluster) once(ctx context.Context, path, accept string, id identity, read func(io.Reader, time.Time) error) (err error) {
	within, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	defer func() {
		if err != nil && within.Err() != nil {
			err = within.Err() // else it would be as random as what a closed connection gives
		}
	}()
	req, err := http.NewRequestWithContext(within, http.MethodGet, c.base+path, nil)
	if err != nil {
		return &errAnswer{"its server cannot be addressed"}
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "drift-detector")
	if !id.token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+id.token.Reveal())
	}
	resp, err := c.transport.RoundTrip(req) // follows no redirect and keeps no cookie
	if err != nil {
		return err
	}
	infra.KeepProtocol(resp)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is used again
		return &infra.StatusError{Code: resp.StatusCode, Status: fmt.Sprint(resp.StatusCode)}
	}
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return &errAnswer{"it does not say what time it is"}
	}
	return read(resp.Body, at.UTC())
}

// why returns an error of a question in a sentence without a subject, that repeats nothing of what
// the server said.
func (c *Cluster) why(err error) string {
	var status *infra.StatusError
	var input *backup.InputError
	var over *infra.TimeOver
	var slow *errSlow
	var unasked *errUnasked
	switch {
	case errors.As(err, &input):
		return input.Problem
	case errors.As(err, &over):
		return "it was not listed in time: " + over.Error()
	case errors.As(err, &slow):
		return slow.Error()
	case errors.As(err, &unasked):
		return unasked.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "the API server did not answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the API server broke its answer off"
	case !errors.As(err, &status):
		return c.hide.Brief(err.Error())
	}
	switch status.Code {
	case http.StatusUnauthorized:
		return "the API server does not accept the user of the kubeconfig (401)"
	case http.StatusForbidden:
		return "the user of the kubeconfig may not list it (403)"
	case http.StatusNotFound:
		return "the API server does not serve it (404)"
	case http.StatusGone:
		return "the API server let the list expire twice before it was read (410)"
	case http.StatusInternalServerError:
		return "the API server can't list it (500), as when a conversion webhook does not answer"
	}
	return "the API server answered " + status.Status
}

// refusal returns the error of a question without which nothing is known.
func (c *Cluster) refusal(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var input *backup.InputError
	if errors.As(err, &input) {
		return input
	}
	next := "see whether 'kubectl get machines -A' works with this kubeconfig"
	var untrusted *infra.CertificateError
	var status *infra.StatusError
	switch {
	case errors.As(err, &untrusted):
		next = "compare the SHA-256 with the server's own; the kubeconfig's certificate-authority-data must have signed it"
	case errors.As(err, &status) && status.Code == http.StatusUnauthorized:
		next = "log in again, or give another kubeconfig"
	}
	out := &backup.InputError{Name: c.Name, Problem: "can't be read: " + c.why(err), Next: next}
	if infra.Passing(err) {
		out.Err = ErrPassing
	}
	return out
}

// ErrPassing is the cause of the error for a server that may answer when it is asked again.
var ErrPassing = errors.New("the API server does not answer for now")

package store

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"drift-detector/infra"
)

// unreachedError is a store, or the proxy before it, to which there is no connection.
type unreachedError struct {
	server string // where the store is, as it was given
	cause  error  // nil where it is known from other questions
	text   string // of the cause
	next   string
}

func (e *unreachedError) Error() string { return e.server + " can't be reached: " + e.text }

func (e *unreachedError) Unwrap() error { return e.cause }

// unreached makes an error of one connection one that names the store; it is nil where there was a
// connection.
func unreached(server string, err error) *unreachedError {
	var network *net.OpError
	var dns *net.DNSError
	e := &unreachedError{server: server, cause: err, next: "run from where the store can be reached, or set HTTPS_PROXY"}
	switch known := errors.As(err, &network); {
	case known && network.Op == "proxyconnect":
		e.text, e.next = "its proxy does not answer: ", "check HTTPS_PROXY and HTTP_PROXY, or name the store in NO_PROXY"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.next = "see whether the store runs, and check host and port of --s3-endpoint"
	case errors.As(err, &dns), known && network.Op == "dial":
	default:
		return nil
	}
	e.text += infra.Brief(err.Error())
	return e
}

// An outage is known after a second in which no connection came about, and is for a while: a list of
// many backups has a question for each, and none waits for what the others have waited for.
const (
	outageAfter = time.Second
	outageFor   = 5 * time.Second
)

// outage remembers that a store can't be reached.
type outage struct {
	mu           sync.Mutex
	since, until time.Time
	last         *unreachedError
}

// known returns the error of questions that were asked before; nil where the store is to be asked.
func (o *outage) known() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Now().Before(o.until) {
		return &unreachedError{server: o.last.server, text: o.last.text, next: o.last.next}
	}
	return nil
}

// note takes up how a question ended that began at a time. e is nil where there was a connection.
func (o *outage) note(began time.Time, e *unreachedError) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e == nil {
		o.since = time.Time{}
		return
	}
	if o.since.IsZero() {
		o.since = began
	}
	if now := time.Now(); now.Sub(o.since) >= outageAfter {
		o.last, o.until = e, now.Add(outageFor)
	}
}

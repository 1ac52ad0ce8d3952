package infra

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Retry says how a call is repeated that only reads and failed for a reason that may
// pass: Attempts in all, with pauses that double and vary, so that many clients of one
// server do not come back at once.
type Retry struct {
	Attempts int
	Pause    time.Duration // the first
	// Also reports whether an error may pass that [Passing] does not know, because it is of a
	// provider's own client; nil knows none.
	Also func(error) bool
}

// Patient is what the AWS SDK does: five attempts, here within about two seconds.
var Patient = Retry{Attempts: 5, Pause: 100 * time.Millisecond}

// slowAttempts is how often a server is asked that takes the question and does not answer
// in its time.
const slowAttempts = 2

// Do calls f until it succeeds, fails for a reason that will not pass, or the attempts or
// the context are at their end. It returns the last error of f. f must change nothing:
// what a login is, for example, is not repeated so.
func (r Retry) Do(ctx context.Context, f func() error) error {
	var last error
	slow := 0
	err := wait.ExponentialBackoffWithContext(ctx, wait.Backoff{Steps: max(r.Attempts, 1), Duration: r.Pause, Factor: 2, Jitter: 0.5}, func(context.Context) (bool, error) {
		if last = f(); last == nil {
			return true, nil
		}
		if isTimeout(last) {
			slow++
		}
		if ctx.Err() != nil || slow >= slowAttempts || !Passing(last) && (r.Also == nil || !r.Also(last)) {
			return false, last
		}
		return false, nil
	})
	if last == nil {
		return err
	}
	return last
}

// StatusError is an HTTP status instead of an answer.
type StatusError struct {
	Code   int
	Status string // as the server put it; foreign text
}

func (e *StatusError) Error() string { return "it answered " + e.Status }

// PassingStatus reports whether an HTTP status says that the server, or a proxy before it,
// cannot answer now: the request itself was not judged.
func PassingStatus(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Passing reports whether an error of a call may be gone when the call is repeated: a
// connection that was refused, reset or cut, a name server or a server that did not answer
// in time, a status of [PassingStatus]. What a server says about credentials, permissions
// or certificates does not pass, and repeating it may lock an account.
func Passing(err error) bool {
	var status *StatusError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &status):
		return PassingStatus(status.Code)
	case errors.As(err, &dns):
		return dns.IsTemporary || dns.IsTimeout
	case errors.As(err, &op):
		// What a TLS server says is a "remote error". TCP itself has asked again all the
		// time that a connection was not accepted.
		return op.Op != "remote error" && (op.Op != "dial" || !op.Timeout())
	default:
		return isTimeout(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}
}

func isTimeout(err error) bool {
	var slow net.Error
	return errors.As(err, &slow) && slow.Timeout()
}

package infra_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

type slow struct{ error }

func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

func dialed(err error) error { return fmt.Errorf("asking: %w", &net.OpError{Op: "dial", Err: err}) }

// How often a call is made depends on what went wrong, and never on what a server says
// about who asks.
func TestRetry(t *testing.T) {
	r := infra.Retry{Attempts: 4, Pause: time.Nanosecond}
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"refused":             {dialed(syscall.ECONNREFUSED), 4},
		"reset":               {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, 4},
		"closed":              {io.EOF, 4},
		"cut":                 {fmt.Errorf("page 2: %w", io.ErrUnexpectedEOF), 4},
		"503":                 {&infra.StatusError{Code: 503}, 4},
		"429":                 {&infra.StatusError{Code: 429}, 4},
		"name server is slow": {dialed(&net.DNSError{IsTimeout: true}), 2},
		"no answer in time":   {slow{errors.New("x")}, 2},
		"no connection":       {dialed(slow{errors.New("x")}), 1},
		"no such name":        {dialed(&net.DNSError{IsNotFound: true}), 1},
		"401":                 {&infra.StatusError{Code: 401}, 1},
		"500":                 {&infra.StatusError{Code: 500}, 1},
		"TLS alert":           {&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, 1},
		"certificate":         {x509.UnknownAuthorityError{}, 1},
		"anything else":       {errors.New("incorrect user name or password"), 1},
	} {
		calls := 0
		err := r.Do(t.Context(), func() error { calls++; return c.err })
		if calls != c.calls || !errors.Is(err, c.err) {
			t.Errorf("%s: %d calls, want %d; %v", name, calls, c.calls, err)
		}
		calls = 0
		err = r.Do(t.Context(), func() error {
			if calls++; calls == 1 {
				return c.err
			}
			return nil
		})
		if (err == nil) != (c.calls > 1) {
			t.Errorf("%s once: %v after %d calls", name, err, calls)
		}
	}
}

// The pause between attempts ends with the context, and nothing is called after it.
func TestRetryEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	begun := time.Now()
	err := infra.Retry{Attempts: 9, Pause: time.Hour}.Do(ctx, func() error {
		calls++
		time.AfterFunc(10*time.Millisecond, cancel)
		return io.EOF
	})
	if calls != 1 || !errors.Is(err, io.EOF) || time.Since(begun) > time.Minute {
		t.Errorf("%d calls, %v", calls, err)
	}
	if err := infra.Patient.Do(ctx, func() error { t.Error("called"); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A target has its own time, and its fault names the flag that gives more; the deadline
// of a run is another flag, and Ctrl-C is none.
func TestCutOff(t *testing.T) {
	r := infra.NewRegistry(tiny{name: "a", list: func(ctx context.Context, t infra.Target) infra.Listing {
		<-ctx.Done()
		return infra.Listing{State: code.ScopeFailed, Fault: infra.CutOff(ctx, "vCenter x")}
	}})
	list := func(ctx context.Context) infra.Fault {
		return *r.Collect(ctx, []infra.Target{{IDs: []string{"x"}, Provider: "a"}}, nil).Listings[0].Fault
	}
	r.Timeout = 5 * time.Millisecond
	if f := list(t.Context()); f.Reason != "TimedOut" || f.Message != "vCenter x was not read in full: the 5ms of --timeout are over" || f.Hint != "run again with more time, for example --timeout 15ms" {
		t.Errorf("%+v", f)
	}
	r.Timeout = time.Hour
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, &infra.TimeOver{Flag: infra.DeadlineFlag, Limit: 90 * time.Minute})
	defer cancel()
	if f := list(ctx); f.Reason != "TimedOut" || f.Message != "vCenter x was not read in full: the 1h30m of --deadline are over" {
		t.Errorf("%+v", f)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if f := list(ctx); f.Reason != "Interrupted" {
		t.Errorf("%+v", f)
	}
	if f := infra.CutOff(t.Context(), "x"); f != nil {
		t.Errorf("%+v", f)
	}
}

package infra

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// TestSessionsEndTogether: each session is ended once, with the context of the run, and
// none waits for another: Ctrl-C ends a run within a second.
func TestSessionsEndTogether(t *testing.T) {
	var m Memo
	run, interrupt := context.WithCancel(t.Context())
	var ended atomic.Int32
	for _, session := range []string{"a", "b", "c", "a", "b", "c"} {
		listing, done := context.WithCancel(m.With(run))
		if !AtEnd(listing, session, func(ctx context.Context) {
			ended.Add(1)
			select {
			case <-ctx.Done(): // a server that hangs
				time.Sleep(100 * time.Millisecond)
			case <-time.After(5 * time.Second):
			}
		}) {
			t.Fatal("there is a Memo")
		}
		done()
	}
	interrupt()
	began := time.Now()
	m.Close(run)
	if took := time.Since(began); took > time.Second || ended.Load() != 3 {
		t.Errorf("%d sessions ended in %s", ended.Load(), took)
	}
	if AtEnd(run, "d", nil) {
		t.Error("there is no Memo")
	}
}

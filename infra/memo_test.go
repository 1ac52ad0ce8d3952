package infra

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drift-detector/report/code"
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

// memoized asks one question so often in each listing.
type memoized struct {
	Provider // the rest is not called
	client   *http.Client
	url      string
	times    int
	said     []string
}

func (p *memoized) Spec() Spec { return Spec{Name: "memoized"} }

func (p *memoized) List(ctx context.Context, _ Target) Listing {
	for range p.times {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
		res, err := p.client.Do(req)
		if err != nil {
			p.said = append(p.said, err.Error())
			continue
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		p.said = append(p.said, string(body))
	}
	return Listing{State: code.ScopeComplete}
}

// TestAListingThatAsksAgainIsAnswered: an answer that was none is not repeated, and
// another listing gets the last one.
func TestAListingThatAsksAgainIsAnswered(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, asked.Add(1))
	}))
	defer server.Close()
	p := &memoized{client: &http.Client{Transport: &Bounded{Next: &http.Transport{}, Limit: 1 << 10}}, url: server.URL}
	var m Memo
	defer m.Close(t.Context())
	for _, p.times = range []int{2, 1, 2} {
		NewRegistry(p).Collect(m.With(t.Context()), []Target{{Provider: "memoized"}}, nil)
	}
	if got := strings.Join(p.said, " "); got != "1 2 2 2 3" {
		t.Errorf("three listings were answered %s", got)
	}
}

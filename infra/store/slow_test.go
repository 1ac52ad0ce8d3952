package store

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// slowStore is a store that answers with a status, and then sends a byte each second, or none.
type slowStore struct {
	status int
	sends  bool
}

func (s slowStore) RoundTrip(req *http.Request) (*http.Response, error) {
	body := &slowBody{sends: s.sends, ctx: req.Context(), closed: make(chan struct{})}
	return &http.Response{StatusCode: s.status, Header: http.Header{}, ContentLength: -1, Body: body, Request: req}, nil
}

type slowBody struct {
	sends  bool
	ctx    context.Context
	closed chan struct{}
	once   bool
	sent   int
}

func (b *slowBody) Read(p []byte) (int, error) {
	var next <-chan time.Time
	if b.sends {
		next = time.After(time.Second)
	}
	select {
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	case <-b.closed:
		return 0, io.ErrClosedPipe
	case <-next:
	}
	if b.sent++; b.sent > 100_000 { // more than a day
		return 0, io.EOF
	}
	p[0] = ' '
	return 1, nil
}

func (b *slowBody) Close() error {
	if !b.once {
		b.once = true
		close(b.closed)
	}
	return nil
}

// Whatever is asked of a store has a bound of its own, also when its answer has begun, and
// goes on without an end: the tarball alone is bounded by --deadline. The clock is one of the test.
func TestSlowStore(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(context.Context, objects) error{
		"folders":     func(ctx context.Context, o objects) error { _, err := o.folders(ctx, ""); return err },
		"listing":     func(ctx context.Context, o objects) error { return o.each(ctx, "", func(object) error { return nil }) },
		"description": func(ctx context.Context, o objects) error { _, err := o.small(ctx, "a", 1<<20); return err },
		"tarball":     func(ctx context.Context, o objects) error { _, err := o.source(ctx, "a", "").Open(); return err },
	} {
		for _, s := range []slowStore{{200, false}, {200, true}, {403, false}, {403, true}} {
			if name == "tarball" && s.status == 200 {
				continue // it is large: see stallTimeout
			}
			synctest.Test(t, func(t *testing.T) {
				keys := &infra.Credential{Username: "AKID", Password: backup.NewSensitive("secret")}
				b, _, err := newBucket(t.Context(), "bucket", Options{Endpoint: "http://127.0.0.1:1", Keys: keys})
				if err != nil {
					t.Fatal(err)
				}
				b.client = &http.Client{Transport: s}
				signed, _ := url.Parse("https://127.0.0.1:1/backups/a/a.tar.gz")
				all := []objects{b}
				if name == "description" || name == "tarball" {
					all = append(all, web{b.client, signed})
				}
				for _, o := range all {
					begun := time.Now()
					err = ask(t.Context(), o)
					if took := time.Since(begun); err == nil || took > 5*time.Minute || strings.Contains(err.Error(), "context") {
						t.Errorf("%s, %+v: %v after %s", name, s, err, took)
					}
				}
			})
		}
	}
}

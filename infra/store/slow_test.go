package store

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
				b := bucketOf(t, s)
				signed, _ := url.Parse("https://127.0.0.1:1/backups/a/a.tar.gz")
				all := []objects{b}
				if name == "description" || name == "tarball" {
					all = append(all, web{b.client, signed})
				}
				for _, o := range all {
					begun := time.Now()
					err := ask(t.Context(), o)
					if took := time.Since(begun); err == nil || took > wholeTimeout && name != "tarball" || took > 5*time.Minute || strings.Contains(err.Error(), "context") {
						t.Errorf("%s, %+v: %v after %s", name, s, err, took)
					}
				}
			})
		}
	}
}

// slowly is a store that takes its time for each page or description, and then answers.
type slowly struct {
	takes time.Duration
	keys  int // in all, in pages of one
}

func (s slowly) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.takes):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	query, text := req.URL.Query(), ""
	switch n, _ := strconv.Atoi(query.Get("continuation-token")); {
	case query.Get("list-type") == "":
		name := path.Base(path.Dir(req.URL.Path))
		text = fmt.Sprintf(`{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":%q},"status":{"startTimestamp":"2026-11-21T04:00:00Z"}}`, name)
	case query.Get("delimiter") != "":
		text = "<ListBucketResult><CommonPrefixes><Prefix>backups/</Prefix></CommonPrefixes></ListBucketResult>"
	default:
		text = fmt.Sprintf("<ListBucketResult><IsTruncated>%t</IsTruncated><NextContinuationToken>%d</NextContinuationToken><Contents><Key>backups/n%d/velero-backup.json</Key></Contents></ListBucketResult>", n+1 < s.keys, n+1, n)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

// TestAPlaceHasATime: however many pages and descriptions there are, each of which comes in
// its own time. --deadline is what gives more or less of it.
func TestAPlaceHasATime(t *testing.T) {
	for name, tt := range map[string]struct {
		store slowly
		own   time.Duration // --deadline
		takes time.Duration // at most
		want  string
	}{
		"in time":      {slowly{time.Second, 100}, 0, 3 * time.Minute, ""},
		"pages":        {slowly{50 * time.Second, 1000}, 0, listTime, "does not end: it took more than 10m"},
		"given more":   {slowly{10 * time.Second, 100}, time.Hour, time.Hour, ""},
		"given less":   {slowly{10 * time.Second, 100}, time.Minute, time.Minute, context.DeadlineExceeded.Error()},
		"descriptions": {slowly{5 * time.Second, 110}, 0, 2 * listTime, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.own > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.own)
					defer cancel()
				}
				begun := time.Now()
				all, err := (&Place{objects: bucketOf(t, tt.store)}).Backups(ctx)
				if took := time.Since(begun); took > tt.takes || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("after %s: %d, %v", took, len(all), err)
				}
				if IsEndless(err) != (name == "pages") {
					t.Errorf("%v is %t a bound of listing", err, IsEndless(err))
				}
				for _, s := range all {
					if s.Description == nil || s.Problem != nil {
						t.Fatalf("%+v", s)
					}
				}
			})
		})
	}
}

// TestDescriptionsHaveATime: those for which there was none are problems of their backups.
func TestDescriptionsHaveATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bucketOf(t, slowly{55 * time.Second, 0})
		b.taken.Store(true) // by the listing before
		p := &Place{objects: b}
		all := make([]*Stored, 1000)
		for i := range all {
			name := fmt.Sprint("n", i)
			all[i] = &Stored{Name: name, key: "backups/" + name + "/" + name + tarball, Place: "backups/" + name, described: true}
		}
		begun := time.Now()
		p.describe(t.Context(), all)
		read, late := 0, 0
		for _, s := range all {
			switch {
			case s.Problem == nil && s.Description != nil:
				read++
			case s.Problem != nil && strings.Contains(s.Problem.Error(), "not read: reading what Velero says of the backups of a place took more than 10m"):
				late++
			default:
				t.Fatal(s.Problem)
			}
		}
		if took := time.Since(begun); read != 10*describing || late != 1000-read || took > listTime {
			t.Errorf("%d were read and %d were not, after %s", read, late, took)
		}
	})
}

// TestNothingWaitsForYoungerBackups: two minutes, and of --deadline a quarter.
func TestNothingWaitsForYoungerBackups(t *testing.T) {
	for own, most := range map[time.Duration]time.Duration{0: 2 * time.Minute, time.Minute: 15 * time.Second, time.Hour: 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if own > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, own)
				defer cancel()
			}
			begun := time.Now()
			_, err := (&Place{objects: bucketOf(t, slowly{10 * time.Second, 1 << 20})}).Younger(ctx, &Stored{key: "backups/n/n.tar.gz", Written: begun}, false)
			if took := time.Since(begun); took > most || !IsEndless(err) || ctx.Err() != nil {
				t.Errorf("--deadline %s: after %s: %v", own, took, err)
			}
		})
	}
}

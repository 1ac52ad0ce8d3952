package store

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// refusing is a store that lists backups, and to which there is no connection after that.
type refusing struct {
	backups int
	cause   error
	takes   time.Duration // each try
	until   time.Time     // zero is for ever
	asked   int
}

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	query, text := req.URL.Query(), `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"n"},"status":{}}`
	switch lists := query.Get("list-type") != ""; {
	case lists && query.Get("delimiter") != "":
		text = "<ListBucketResult><CommonPrefixes><Prefix>backups/</Prefix></CommonPrefixes></ListBucketResult>"
	case lists:
		text = "<ListBucketResult>"
		for i := range r.backups {
			text += fmt.Sprintf("<Contents><Key>backups/n-%d/velero-backup.json</Key></Contents>", i)
		}
		text += "</ListBucketResult>"
	case r.until.IsZero() || time.Now().Before(r.until):
		r.asked++
		time.Sleep(r.takes)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: r.cause}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
}

type timeout struct{ error }

func (timeout) Timeout() bool { return true }

// TestNobodyWaitsForAnOutageTwice: of a store that can't be reached any more, what the first
// questions have found out holds for the others, and is the reason of each.
func TestNobodyWaitsForAnOutageTwice(t *testing.T) {
	for name, c := range map[string]struct {
		cause       error
		takes, most time.Duration
		says        string
	}{
		"refused": {syscall.ECONNREFUSED, time.Millisecond, 5 * time.Second, "http://127.0.0.1:1 can't be reached: dial tcp: connection refused"},
		"silent":  {timeout{errors.New("i/o timeout")}, dialTimeout, 2 * dialTimeout, "http://127.0.0.1:1 can't be reached: dial tcp: i/o timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &refusing{backups: 332, cause: c.cause, takes: c.takes}
				p := &Place{objects: bucketOf(t, store)}
				began := time.Now()
				all, _, err := p.Recent(t.Context(), time.Time{}, nil)
				if took := time.Since(began); err != nil || len(all) != 332 || took > c.most {
					t.Errorf("%d backups after %s: %v", len(all), took, err)
				}
				for _, s := range all {
					if s.Problem == nil || !strings.Contains(s.Problem.Error(), c.says) {
						t.Fatalf("%s: %v", s.Name, s.Problem)
					}
				}
				if store.asked > 60 {
					t.Errorf("asked %d times", store.asked)
				}
			})
		})
	}
}

// TestAnOutageEnds: a store that comes back is asked again.
func TestAnOutageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bucketOf(t, &refusing{cause: syscall.ECONNREFUSED, until: time.Now().Add(4 * time.Second)})
		if _, err := b.small(t.Context(), "a", 1<<10); err == nil {
			t.Error("it was reached")
		}
		time.Sleep(outageFor)
		if _, err := b.small(t.Context(), "a", 1<<10); err != nil {
			t.Error(err)
		}
	})
}

// TestRefusedConnections: who does not answer, the store or a proxy before it, is said at once.
func TestRefusedConnections(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + closed.Addr().String()
	closed.Close()
	for name, c := range map[string]struct{ endpoint, proxy, says, next string }{
		"a store": {at, "", at + " can't be reached: dial tcp " + strings.TrimPrefix(at, "http://") + ": connect: connection refused", "check host and port of --s3-endpoint"},
		"a proxy": {"http://store.test", at, "http://store.test can't be reached: its proxy does not answer: ", "check HTTPS_PROXY"},
	} {
		b := bucketOf(t, nil)
		b.endpoint, _ = url.Parse(c.endpoint)
		client, err := newClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		client.Transport.(staying).Proxy = func(*http.Request) (*url.URL, error) {
			if c.proxy == "" {
				return nil, nil
			}
			return url.Parse(c.proxy)
		}
		b.client = client
		began := time.Now()
		_, err = b.folders(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.next) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: after %s: %v", name, time.Since(began), err)
		}
	}
}

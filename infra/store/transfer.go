package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// pin is which content of an object is read. Every pass over it reads the same.
type pin struct {
	mu   sync.Mutex
	etag string // quoted, as the store writes it
	size int64
	seen bool // the size is known
}

// transferred is an object, and how its store is asked for it.
type transferred struct {
	get     func(context.Context, http.Header) (*http.Response, error)
	explain func(error) error
}

// transfer reads an object to its end. Where the connection breaks, it goes on from there
// with the same content, or fails.
type transfer struct {
	transferred
	ctx      context.Context
	pin      *pin
	etag     string
	size     int64 // -1: the store did not say
	modified time.Time
	at       int64
	body     io.ReadCloser
	inAll    int // how often it broke off
	inARow   int // the same, without a byte between
}

// A transfer that breaks off is taken up again so often in all; and so often in a row
// without a byte between.
const (
	maxBreaks = 50
	maxInARow = 5
)

// open begins a transfer.
func open(ctx context.Context, p *pin, o transferred) (*transfer, error) {
	t := &transfer{transferred: o, ctx: ctx, pin: p}
	if err := infra.Patient.Do(ctx, t.begin); err != nil {
		return nil, o.explain(err)
	}
	return t, nil
}

// begin asks for what is left of the object.
func (t *transfer) begin() error {
	header := http.Header{"Accept-Encoding": {"identity"}}
	if t.at > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", t.at))
	}
	t.pin.mu.Lock()
	etag := t.pin.etag
	t.pin.mu.Unlock()
	if isStrong(etag) {
		header.Set("If-Match", etag)
	}
	res, err := t.get(t.ctx, header)
	if err != nil {
		return err
	}
	if err := t.accept(res); err != nil {
		res.Body.Close()
		return err
	}
	t.body = res.Body
	return nil
}

// etagOf returns an ETag with its quotes: the listings of some stores leave them out.
func etagOf(said string) string {
	if said = strings.TrimSpace(said); said == "" || strings.HasSuffix(said, `"`) {
		return said
	}
	return `"` + said + `"`
}

// isStrong reports whether an ETag names one content, byte for byte.
func isStrong(etag string) bool { return etag != "" && !strings.HasPrefix(etag, "W/") }

var rangeForm = lazyregexp.New(`^bytes (\d+)-(\d+)/(\d+)$`)

// accept compares an answer with what is pinned, and pins what is not.
func (t *transfer) accept(res *http.Response) error {
	from, size := int64(0), res.ContentLength
	if res.StatusCode == http.StatusPartialContent {
		m := rangeForm.FindStringSubmatch(res.Header.Get("Content-Range"))
		if m == nil {
			return &lieError{"an answer for a part of the object does not say which"}
		}
		from, _ = strconv.ParseInt(m[1], 10, 64)
		size, _ = strconv.ParseInt(m[3], 10, 64)
	}
	if from != t.at && from != 0 {
		return &lieError{"an answer for a part of the object is of another part"}
	}
	etag := etagOf(res.Header.Get("ETag"))
	t.pin.mu.Lock()
	defer t.pin.mu.Unlock()
	p := t.pin
	switch {
	case p.etag != "" && etag != p.etag, p.seen && size != p.size:
		return errReplaced
	case t.at > 0 && p.etag == "":
		return &lieError{"it broke off, and the server does not say whether the object is still the same (no ETag)"}
	}
	p.etag, p.size, p.seen = etag, size, true
	t.etag, t.size = etag, size
	t.modified, _ = http.ParseTime(res.Header.Get("Last-Modified"))
	if from < t.at { // the server begins again
		_, err := io.CopyN(io.Discard, res.Body, t.at)
		return err
	}
	return nil
}

var errReplaced = errors.New("has been replaced while it was read")

// lieError is an answer that contradicts itself or another one.
type lieError struct{ what string }

func (e *lieError) Error() string { return e.what }

// Read reads on. An error of the connection is not one of the object, unless it comes
// again and again.
func (t *transfer) Read(b []byte) (int, error) {
	for {
		n, err := t.body.Read(b)
		if n > 0 { // an error comes again at the next call
			t.at += int64(n)
			t.inARow = 0
			if t.size >= 0 && t.at > t.size {
				return 0, t.explain(&lieError{"it is longer than the store said"})
			}
			return n, nil
		}
		if err == io.EOF && (t.size < 0 || t.at == t.size) {
			return 0, io.EOF
		}
		if err != nil {
			if err := t.resume(err); err != nil {
				return 0, err
			}
		}
	}
}

// resume takes a transfer up again that broke off.
func (t *transfer) resume(cause error) error {
	t.body.Close()
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	t.inARow++
	t.inAll++
	if t.inARow > maxInARow || t.inAll > maxBreaks {
		return t.explain(&brokenError{t.inAll, t.at, t.size, cause})
	}
	if err := infra.Patient.Do(t.ctx, t.begin); err != nil {
		return t.explain(err)
	}
	return nil
}

// brokenError is a transfer that broke off too often.
type brokenError struct {
	times    int
	at, size int64
	cause    error
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("the transfer broke off %d times, last at byte %d", e.times, e.at)
}

func (e *brokenError) Unwrap() error { return e.cause }

// Close ends the transfer.
func (t *transfer) Close() error { return t.body.Close() }

package infra

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"sync"

	"drift-detector/internal/lazyregexp"
)

// Memo keeps the answers of servers while several backups are compared with one
// infrastructure: what was asked once with a credential is not asked again, so that all
// see the same and a server has the work of one listing. It applies to requests whose
// context [Memo.With] made and whose transport is a [Bounded].
//
// What one listing asks for a second time is asked anew, and the last answer is the one
// that is kept: the first was lost on the way or was none, or whether anything has
// changed is the question.
//
// Answers are kept deflated, and only those that were read to their end.
type Memo struct {
	mu      sync.Mutex
	answers map[[sha256.Size]byte]*answer
	size    int
	end     map[string]func(context.Context) // by session
	Asked   int                              // requests that a server got
	Known   int                              // requests that were answered from here
}

// maxMemo bounds what is kept. What is beyond it is asked for again.
const maxMemo = 256 << 20

type answer struct {
	status int
	header http.Header
	body   []byte // deflated
	tls    *tls.ConnectionState
}

type memoKey struct{}

// With returns a context whose requests are answered from the Memo where it can.
func (m *Memo) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoKey{}, m)
}

// asked are the requests of one listing.
type asked struct {
	mu   sync.Mutex
	keys map[[sha256.Size]byte]bool
}

type askedKey struct{}

// newListing returns a context for one listing.
func newListing(ctx context.Context) context.Context {
	return context.WithValue(ctx, askedKey{}, &asked{keys: map[[sha256.Size]byte]bool{}})
}

// again notes a request, and reports whether the listing has made it before.
func (a *asked) again(k [sha256.Size]byte) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.keys[k]
	a.keys[k] = true
	return before
}

// AtEnd has the Memo of a context, if there is one, call f when nothing is listed any
// more, once for each session, and reports whether it will: one that others go on with is
// not to be ended.
// f gets the context of the run: an interrupted one leaves little time.
func AtEnd(ctx context.Context, session string, f func(context.Context)) bool {
	m, _ := ctx.Value(memoKey{}).(*Memo)
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		m.end = map[string]func(context.Context){}
	}
	m.end[session] = f
	return true
}

// Close ends what listings have left open, all at once, and forgets all answers.
func (m *Memo) Close(ctx context.Context) {
	m.mu.Lock()
	end := m.end
	m.end, m.answers = nil, nil
	m.mu.Unlock()
	var all sync.WaitGroup
	for _, f := range end {
		all.Go(func() { f(ctx) })
	}
	all.Wait()
}

// meaning are the headers that decide what a request asks, and as whom.
var meaning = []string{"Authorization", "Cookie", "Soapaction", "X-Amz-Target", "X-Auth-Token", "Openstack-Api-Version", "Accept"}

// signed is what differs in a signature of AWS each time: its day, its headers and itself.
var signed = lazyregexp.New(`/[0-9]{8}/|, ?SignedHeaders=.*`)

// key names what a request asks. The body is read and put back.
func key(req *http.Request) (k [sha256.Size]byte, err error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", req.Method, req.URL)
	for _, name := range meaning {
		fmt.Fprintf(h, "%s: %q\n", name, signed.ReplaceAllString(req.Header.Get(name), "/"))
	}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return k, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		h.Write(body)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// roundTrip answers a request from the Memo, or sends it and keeps the answer.
func (m *Memo) roundTrip(req *http.Request, next *http.Transport) (*http.Response, error) {
	req = req.Clone(req.Context())
	k, err := key(req)
	if err != nil {
		return nil, err
	}
	of, _ := req.Context().Value(askedKey{}).(*asked)
	again := of.again(k)
	m.mu.Lock()
	a := m.answers[k]
	if again {
		a = nil
	}
	if a != nil {
		m.Known++
	} else {
		m.Asked++
	}
	m.mu.Unlock()
	if a != nil {
		return a.again(req, next)
	}
	res, err := next.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated { // a token is created
		return res, err
	}
	kept := &keeping{ReadCloser: res.Body, memo: m, key: k, answer: &answer{status: res.StatusCode, header: res.Header.Clone(), tls: res.TLS}}
	kept.deflate, _ = flate.NewWriter(&kept.packed, flate.BestSpeed) // the level is valid
	res.Body = kept
	return res, nil
}

// again returns the answer to a request that was answered before. The certificate is verified
// as if it came with it: another backup may pin another one.
func (a *answer) again(req *http.Request, next *http.Transport) (*http.Response, error) {
	if conf := next.TLSClientConfig; a.tls != nil && conf != nil && conf.VerifyConnection != nil {
		if err := conf.VerifyConnection(*a.tls); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), ContentLength: -1, Body: flate.NewReader(bytes.NewReader(a.body)), Request: req, TLS: a.tls,
	}, nil
}

// keeping is the body of an answer that is kept once it was read to its end.
type keeping struct {
	io.ReadCloser
	memo    *Memo
	key     [sha256.Size]byte
	answer  *answer
	packed  bytes.Buffer
	deflate *flate.Writer
	done    bool
}

func (k *keeping) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if !k.done {
		_, _ = k.deflate.Write(p[:n]) // into memory
		if err == io.EOF {
			k.done = true
			k.keep()
		}
	}
	return n, err
}

// Close reads what a decoder leaves behind what it has decoded.
func (k *keeping) Close() error {
	_, _ = io.CopyN(io.Discard, k, maxRest)
	return k.ReadCloser.Close()
}

// maxRest is how much may follow what is decoded: white space.
const maxRest = 4096

func (k *keeping) keep() {
	_ = k.deflate.Close()
	k.answer.body = bytes.Clone(k.packed.Bytes())
	m := k.memo
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.answers[k.key]; old != nil {
		m.size -= len(old.body)
		delete(m.answers, k.key)
	}
	if m.size += len(k.answer.body); m.size > maxMemo {
		return
	}
	if m.answers == nil {
		m.answers = map[[sha256.Size]byte]*answer{}
	}
	m.answers[k.key] = k.answer
}

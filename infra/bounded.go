package infra

import (
	"io"
	"net/http"
)

// Bounded is a transport that cuts every answer after Limit bytes: reading on
// is an error. Servers are not trusted to stop.
type Bounded struct {
	Next  *http.Transport
	Limit int64
}

// RoundTrip implements http.RoundTripper.
func (b *Bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	send := b.Next.RoundTrip
	if m, _ := req.Context().Value(memoKey{}).(*Memo); m != nil {
		send = func(req *http.Request) (*http.Response, error) { return m.roundTrip(req, b.Next) }
	}
	res, err := send(req)
	if err == nil {
		KeepProtocol(res)
		res.Body = &boundedBody{ReadCloser: res.Body, left: b.Limit, limit: b.Limit}
	}
	return res, err
}

// KeepProtocol takes the body off an answer that switches to another protocol, which nobody
// here asks for: it is the bare connection (net/http/transport.go of Go 1.26,
// newReadWriteCloserBody), and neither a context nor a timeout ends reading it.
func KeepProtocol(res *http.Response) {
	if res.StatusCode == http.StatusSwitchingProtocols {
		res.Body.Close()
		res.Body = http.NoBody
	}
}

// CloseIdleConnections closes what is kept for further requests.
func (b *Bounded) CloseIdleConnections() { b.Next.CloseIdleConnections() }

type boundedBody struct {
	io.ReadCloser
	left, limit int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLong(b.limit)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

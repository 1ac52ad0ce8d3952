package runs

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"drift-detector/internal/lab"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/internal/lab/openstacklab"
)

// TrustAuthority lets the vCenter's certificate be verified, not compared.
func (w *World) TrustAuthority() {
	ca := filepath.Join(w.Dir, "vcenter.pem")
	text := fmt.Sprintf("endpoints:\n- endpoint: %q\n  caFile: %q\n", w.VCenter.Named, ca)
	w.Ensure(os.WriteFile(ca, w.VCenter.CA, 0o600))
	w.Ensure(os.WriteFile(w.Creds, []byte(text), 0o600))
}

// TLSFault is what a server shows, or does, in a handshake.
type TLSFault struct {
	Name string
	// Foreign says that no client may send anything to a server that shows this.
	Foreign bool
	Do      lab.Greeting
}

// Greet returns the saboteur's place before handshakes, which it counts as the call that it
// is given for a name.
func (s *Saboteur) Greet(call string) lab.Greeting {
	return func(hello *tls.ClientHelloInfo, own *tls.Config, sign lab.Signing) (*tls.Config, error) {
		if s.strikes(call) {
			return s.Hand.Do(hello, own, sign)
		}
		return own, nil
	}
}

// WireFault is what goes wrong with one answer: real is what the server would have said.
type WireFault struct {
	Name string
	Do   func(w http.ResponseWriter, r *http.Request, real func() *httptest.ResponseRecorder)
}

// WireFaults are those of every call.
var WireFaults = []WireFault{
	{"reset", func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) { drop(w, true) }},
	{"closed", func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) { drop(w, false) }},
	{"lost", func(w http.ResponseWriter, _ *http.Request, real func() *httptest.ResponseRecorder) {
		real()
		drop(w, true)
	}},
	{"cut", func(w http.ResponseWriter, _ *http.Request, real func() *httptest.ResponseRecorder) {
		answer := real()
		CopyHeader(w, answer)
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		panic(http.ErrAbortHandler)
	}},
	{"short", func(w http.ResponseWriter, _ *http.Request, real func() *httptest.ResponseRecorder) {
		answer := real()
		CopyHeader(w, answer)
		w.Header().Del("Content-Length")
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
	}},
	{"hang", func(_ http.ResponseWriter, r *http.Request, _ func() *httptest.ResponseRecorder) {
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
		panic(http.ErrAbortHandler)
	}},
	says("401", 401, "no"), says("403", 403, "no"), says("404", 404, "no"), says("429", 429, "later"), says("500", 500, "<html>broken</html>"),
	says("502", 502, "<html>bad gateway</html>"), says("503", 503, "<html>later</html>"), says("204", 204, ""), says("302", 302, ""),
	says("empty 200", 200, ""), says("HTML 200", 200, "<html><body>log in here</body></html>"), says("{} 200", 200, "{}"), says("<a/> 200", 200, "<a/>"),
	says("SOAP without content", 200, `<?xml version="1.0"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body></Body></Envelope>`),
	says("error as 200", 200, `<Response><Errors><Error><Code>Throttling</Code></Error></Errors><RequestID>x</RequestID></Response>`),
	{"endless", func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
		w.Header().Set("Content-Type", "text/xml")
		for block := bytes.Repeat([]byte("<a>"), 1<<15); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}},
	says("garbage", 200, "\x00\xff\x1b[31m\xfe"),
}

func says(name string, status int, body string) WireFault {
	return WireFault{name, func(w http.ResponseWriter, _ *http.Request, _ func() *httptest.ResponseRecorder) {
		if status == http.StatusFound {
			w.Header().Set("Location", "https://127.0.0.1:1/elsewhere")
		}
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		if body != "" {
			_, _ = io.WriteString(w, body)
		}
	}}
}

// CopyHeader writes the header of a recorded answer.
func CopyHeader(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for k, v := range answer.Header() {
		w.Header()[k] = v
	}
	w.WriteHeader(answer.Code)
}

// drop ends the connection without an answer.
func drop(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the stream alone
	}
	under := conn
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		under = secure.NetConn()
	}
	if tcp, ok := under.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	under.Close()
}

var soapMethod = regexp.MustCompile(`<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)`)

// CallOf names a call of any of the servers. Its pages are made small on the way.
func CallOf(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	name := r.URL.Path
	switch {
	case strings.HasPrefix(name, "/api/v1/nodes"):
		name = "Nodes"
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "limit=500", "limit=3", 1)
	case strings.HasSuffix(name, "/kubeadm-config"):
		name = "ConfigMap"
	case strings.HasPrefix(name, "/clusters/"):
		name, _ = lab.EKSCall(r)
	case strings.HasPrefix(name, "/subscriptions/") || strings.HasSuffix(name, "/oauth2/v2.0/token"):
		name = azurelab.CallOf(r)
	case strings.HasPrefix(name, "/v2") || strings.HasPrefix(name, "/v3"):
		name = openstacklab.CallOf(r)
	case soapMethod.Match(body):
		name = string(soapMethod.FindSubmatch(body)[1])
		body = bytes.Replace(body, []byte("<maxObjects>1250</maxObjects>"), []byte("<maxObjects>12</maxObjects>"), 1)
	default:
		if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") != "" {
			if name = form.Get("Action"); name == "DescribeLoadBalancers" { // of two services
				name += " " + form.Get("Version")
			}
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return name
}

// Saboteur is before servers, counts calls, and spoils some of one kind.
type Saboteur struct {
	Call     string // "" spoils none
	From, To int    // which of them, the first is 1
	Fault    WireFault
	Hand     TLSFault
	Brief    bool // every call has a connection of its own

	Mu      sync.Mutex
	Counts  map[string]int
	Answers map[string][][]byte // the good ones, where none is spoilt
}

// strikes counts a call and reports whether it is one to spoil.
func (s *Saboteur) strikes(call string) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Counts == nil {
		s.Counts, s.Answers = map[string]int{}, map[string][][]byte{}
	}
	s.Counts[call]++
	n := s.Counts[call]
	return call == s.Call && n >= s.From && n <= s.To
}

// Seat puts it before a server. at tells the servers of one kind apart.
func (s *Saboteur) Seat(at string) lab.Front {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		call := at + CallOf(r)
		if s.Brief {
			w.Header().Set("Connection", "close")
		}
		real := func() *httptest.ResponseRecorder {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			return answer
		}
		switch spoil := s.strikes(call); {
		case spoil:
			s.Fault.Do(w, r, real)
		case s.Call != "":
			next.ServeHTTP(w, r)
		default:
			answer := real()
			s.Mu.Lock()
			s.Answers[call] = append(s.Answers[call], answer.Body.Bytes())
			s.Mu.Unlock()
			CopyHeader(w, answer)
			_, _ = w.Write(answer.Body.Bytes())
		}
	}
}

package live

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"drift-detector/internal/lab"
)

// between stands before the server, and does something once when a list goes on to its second
// page. It returns a kubeconfig that leads there, and what the answers to that list were.
func (s *apiserver) between(t *testing.T, list string, does func()) (kubeconfig string, statuses func() []int) {
	t.Helper()
	c, err := lab.SelfSigned("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{c}})
	if err != nil {
		t.Fatal(err)
	}
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: s.addr})
	to.Transport = s.client.Transport
	to.ErrorLog = log.New(io.Discard, "", 0)
	to.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	var once sync.Once
	var mu sync.Mutex
	var all []int
	to.ModifyResponse = func(r *http.Response) error {
		mu.Lock()
		defer mu.Unlock()
		if r.Request.URL.Path == list {
			all = append(all, r.StatusCode)
		}
		return nil
	}
	done := false
	front := &http.Server{ErrorLog: to.ErrorLog, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == list && r.URL.Query().Get("continue") != "" {
			once.Do(func() { done = true; does() })
		}
		to.ServeHTTP(w, r)
	})}
	go func() { _ = front.Serve(l) }()
	t.Cleanup(func() {
		_ = front.Close()
		if !done {
			t.Errorf("%s has no second page", list)
		}
	})
	return writeKubeconfig(t, l.Addr().String(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), admin), func() []int {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

package post

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What is sent arrives whole, from whom it was given; and whatever the server does, the address is
// in no error but for its host.
func TestSend(t *testing.T) {
	const secret = "T000/B000/canary"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		name, password, _ := r.BasicAuth()
		switch {
		case r.Method != "PUT" || string(body) != "metrics" || name != "u" || password != "p" || r.Header.Get("Content-Type") != "text/plain":
			t.Errorf("%s %q of %s:%s", r.Method, body, name, password)
		case strings.HasSuffix(r.URL.Path, "/refuses"):
			http.Error(w, secret, http.StatusInternalServerError)
		case strings.HasSuffix(r.URL.Path, "/redirects"):
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case strings.HasSuffix(r.URL.Path, "/hangs"):
			<-hang
		case strings.HasSuffix(r.URL.Path, "/closes"):
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	defer close(hang)
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	for address, want := range map[string]string{
		server.URL + "/" + secret + "/takes":                             "",
		server.URL + "/" + secret + "/refuses":                           "answers with status 500",
		server.URL + "/" + secret + "/redirects":                         "answers with status 307",
		server.URL + "/" + secret + "/hangs":                             "no answer within",
		server.URL + "/" + secret + "/closes":                            "closes the connection without an answer",
		strings.Replace(server.URL, "http:", "https:", 1) + "/" + secret: "answers without encryption",
		untrusted.URL + "/" + secret:                                     "its certificate is not trusted",
		"http://127.0.0.1:1/" + secret:                                   "connect: connection refused",
	} {
		to, err := Address(address)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err = Send(ctx, "PUT", to, User{"u", "p"}, "text/plain", []byte("metrics"))
		cancel()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v, want %q", (&url.URL{Path: to.Path}).Path, err, want)
		}
	}
	to, err := Address(server.URL + "/" + secret + "/hangs")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := Send(ctx, "PUT", to, User{"u", "p"}, "text/plain", []byte("metrics")); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Error(err)
	}
	for _, no := range []string{"", "pushgateway:9091", "ftp://x/canary", "http:///canary", "http://a b/canary", "://canary"} {
		if _, err := Address(no); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", no, err)
		}
	}
}

// A server that asks for patience is asked once more, unless it asks for more than there is.
func TestSendAgain(t *testing.T) {
	for _, c := range []struct {
		after string // Retry-After
		busy  int    // answers of 429, before it takes the message
		calls int
		want  string
	}{
		{"0", 1, 2, ""}, {"0", 2, 2, "answers with status 429"}, {"3600", 1, 1, "answers with status 429"}, {"18446744073709551615", 9, 2, "answers with status 429"},
	} {
		calls := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); string(body) != "message" {
				t.Errorf("call %d has the body %q", calls, body)
			}
			if calls++; calls <= c.busy {
				w.Header().Set("Retry-After", c.after)
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}))
		to, err := Address(server.URL + "/canary")
		if err != nil {
			t.Fatal(err)
		}
		err = Send(t.Context(), "POST", to, User{}, "text/plain", []byte("message"))
		server.Close()
		if calls != c.calls || (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("Retry-After %s, %d times: %d calls, %v", c.after, c.busy, calls, err)
		}
	}
}

// What is sent without encryption can be read on the way, except where there is no way.
func TestPlain(t *testing.T) {
	for address, want := range map[string]bool{
		"http://gate:9091/x": true, "http://192.0.2.1": true, "http://[2001:db8::1]:80": true, "HTTP://localhost.corp/": true,
		"https://gate/x": false, "http://localhost:9091": false, "http://LOCALHOST": false, "http://127.0.0.1:1": false, "http://127.8.0.1": false, "http://[::1]:9091": false, "http://[::ffff:127.0.0.1]/": false,
	} {
		to, err := Address(address)
		if err != nil || IsPlain(to) != want {
			t.Errorf("%s: %v, %v", address, !want, err)
		}
	}
}

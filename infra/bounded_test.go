package infra_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
)

func TestAnswersAreBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	}))
	t.Cleanup(server.Close)
	for limit, want := range map[int64]int{10: 10, 101: 100} {
		client := http.Client{Transport: &infra.Bounded{Next: &http.Transport{}, Limit: limit}}
		res, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		res.Body.Close()
		client.CloseIdleConnections()
		if len(data) != want || (err == nil) != (want == 100) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(data), err)
		}
	}
}

// An answer that switches to another protocol, and then nothing: reading it ends, and so
// does the call.
func TestNoOtherProtocol(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
		<-gone
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(gone) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&infra.Bounded{Next: &http.Transport{}, Limit: 100}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	read := make(chan error, 1)
	go func() { _, err := io.ReadAll(res.Body); read <- err }()
	select {
	case err := <-read:
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Errorf("%s, %v", res.Status, err)
		}
	case <-time.After(10 * time.Second):
		t.Error("reading goes on")
	}
}

package infra_test

import (
	"compress/gzip"
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

// What is packed is bounded as it is unpacked: a few kilobytes are millions of elements.
func TestPackedAnswersAreBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Error("it asks for no gzip")
		}
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, "<a>"+strings.Repeat("<b/>", 1_000_000)+"</a>")
		_ = packed.Close()
	}))
	t.Cleanup(server.Close)
	client := http.Client{Transport: &infra.Bounded{Next: &http.Transport{}, Limit: 64 << 20}}
	t.Cleanup(client.CloseIdleConnections)
	res, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(infra.Bounds{Items: 100_000}.XML(res.Body))
	if err == nil || !strings.Contains(err.Error(), "more than 100000 elements") || len(data) > 500_000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

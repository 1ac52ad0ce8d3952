package infra_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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

package lab

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// quietLogout serves a Logout only when nothing else is being served, and
// nothing else meanwhile. The simulator locks up when a session ends while one
// of its views is still being read, as it is after a client has gone away: the
// one holds the session's registry and wants the view, the other the reverse
// (simulator/session_manager.go and property_collector.go v0.56.0).
func quietLogout(next http.Handler) http.Handler {
	var serving sync.RWMutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "the request was cut off", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("<Logout ")) {
			serving.Lock()
			defer serving.Unlock()
		} else {
			serving.RLock()
			defer serving.RUnlock()
		}
		next.ServeHTTP(w, r)
	})
}

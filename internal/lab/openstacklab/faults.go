package openstacklab

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// Fault is what goes wrong with calls of one name. Of Hang, Cut, Change and Status the
// first that is given is done.
type Fault struct {
	// Call is a name as CallOf has it. Empty means every call.
	Call string
	// From and To say which of the calls, the first is 1. Zero for From is the first
	// from now on, zero for To the last.
	From, To int

	Hang       bool         // no answer until the client goes away
	Cut        bool         // the connection ends in the middle of the real answer
	Change     func(Object) // edits the real answer, which is JSON
	Status     int          // answered instead, with Body
	Body       string
	RetryAfter int // seconds, for the header; zero leaves it out

	seen int
}

// Fail replaces the faults. The first that applies to a call spoils it.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

// fault returns the one that applies to a call, or nil.
func (s *Server) fault(call string) *Fault {
	for i := range s.faults {
		f := &s.faults[i]
		if f.Call != "" && f.Call != call {
			continue
		}
		f.seen++
		if to := f.To; f.seen >= f.From && (to == 0 || f.seen <= to) {
			applied := *f
			return &applied
		}
	}
	return nil
}

func (f *Fault) spoil(w http.ResponseWriter, r *http.Request, service http.Handler) {
	if f.Hang {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 && !f.Cut && f.Change == nil {
		if f.RetryAfter != 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body))
		return
	}
	real := httptest.NewRecorder()
	service.ServeHTTP(real, r)
	for name, values := range real.Header() {
		w.Header()[name] = values
	}
	body := real.Body.Bytes()
	if f.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(real.Code)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	var o Object
	if json.Unmarshal(body, &o) == nil && f.Change != nil {
		f.Change(o)
		body, _ = json.Marshal(o)
	}
	w.WriteHeader(real.Code)
	_, _ = w.Write(body)
}

// Repeats makes the change of a page of servers after which the first follows again.
func Repeats(page Object) {
	for _, l := range list(page, "servers_links") {
		l["href"], _, _ = strings.Cut(text(l, "href"), "?")
	}
}

// WithoutServers makes the change of a page of servers that leaves them out, and keeps what
// follows.
func WithoutServers(page Object) { page["servers"] = []any{} }

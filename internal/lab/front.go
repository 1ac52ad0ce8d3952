package lab

import (
	"net/http"
	"sync/atomic"
)

// Front is before a server: it answers a request itself, or leaves it to next.
type Front func(w http.ResponseWriter, r *http.Request, next http.Handler)

// front is the Front of a server that runs; nil is none.
type front struct{ current atomic.Pointer[Front] }

func (f *front) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if front := f.current.Load(); front != nil {
			(*front)(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Front puts something before the vCenter, from the next request on.
func (v *VCenter) Front(f Front) { v.front.current.Store(&f) }

// Front puts something before all API servers, from the next request on.
func (a *APIServers) Front(f Front) { a.front.current.Store(&f) }

// Front puts something before AWS, from the next request on.
func (e *EC2) Front(f Front) { e.front.current.Store(&f) }

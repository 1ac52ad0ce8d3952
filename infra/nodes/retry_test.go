package nodes

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
)

// A call that fails for a moment is repeated, with the token that it had, and nothing of
// what it began to say is kept; what says no is not asked again.
func TestAMomentOfTroubleCostsNothing(t *testing.T) {
	half := nodes("", "b", "c")
	half = half[:len(half)-20]
	trouble := map[string]http.HandlerFunc{
		"503":   answer(http.StatusServiceUnavailable, "later"),
		"429":   answer(http.StatusTooManyRequests, "later"),
		"500":   answer(http.StatusInternalServerError, "etcdserver: leader changed"),
		"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, half)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"403": answer(http.StatusForbidden, "no"),
		"401": answer(http.StatusUnauthorized, "no"),
	}
	for name, fail := range trouble {
		for _, at := range []int32{1, 2} {
			var calls atomic.Int32
			s := serve(t, serverOptions{}, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case calls.Add(1) == at:
					fail(w, r)
				case r.URL.Query().Get("continue") == "":
					answer(http.StatusOK, nodes("more", "a"))(w, r)
				default:
					answer(http.StatusOK, nodes("", "b", "c"))(w, r)
				}
			})
			l := list(t, s.kubeconfig(t))
			healed := name != "403" && name != "401"
			if (l.NodeState == stateRead && len(l.Nodes) == 3) != healed || !healed && calls.Load() != at {
				t.Errorf("%s at call %d: %s, %d Nodes after %d calls, %+v", name, at, l.NodeState, len(l.Nodes), calls.Load(), l.Fault)
			}
		}
	}
}

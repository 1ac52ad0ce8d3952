package list

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// A server that repeats the token or the password does not bring it into an error.
func TestACloudThatRepeatsSecrets(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	var token atomic.Value
	s.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if got := r.Header.Get("X-Auth-Token"); got != "" {
			token.Store(got)
			if r.Method == http.MethodGet {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprintf(w, `{"forbidden": {"message": "you sent %s and s3cret-Public-7"}}`, got)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
	l := only(t, data, infra.Access{})
	shown := fmt.Sprintf("%+v %+v", l, l.Fault)
	sent, _ := token.Load().(string)
	if sent == "" || l.Fault == nil || l.Fault.Reason != "NoPermission" || !strings.Contains(l.Fault.Message, "you sent") {
		t.Fatalf("token %q, %+v", sent, l.Fault)
	}
	if strings.Contains(shown, sent) || strings.Contains(shown, "s3cret-Public-7") {
		t.Errorf("a secret is shown: %s", shown)
	}
}

// A redirect is an answer like any other that is not OpenStack's: nothing is sent there.
func TestRedirectsAreNotFollowed(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	for _, path := range []string{"/v3/auth/tokens", "/v2.1/servers/detail"} {
		led := 0
		s.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch r.URL.Path {
			case path:
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(http.StatusFound)
			case "/elsewhere":
				led++
			default:
				next.ServeHTTP(w, r)
			}
		})
		refused(t, only(t, data, infra.Access{}), code.ScopeFailed, "UnexpectedAnswer", "")
		if led > 0 {
			t.Errorf("%s: it was followed", path)
		}
	}
}

// A run that is interrupted revokes its token.
func TestInterruptedRunRevokesItsToken(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	snapshot, secrets := openstacklab.Load(t, New(), data)
	p := small()
	target := p.Targets(snapshot, secrets, infra.Access{})[0]
	ctx, cancel := context.WithCancel(t.Context())
	s.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/servers/detail") {
			cancel()
		}
		next.ServeHTTP(w, r)
	})
	if l := p.List(ctx, target); l.State == code.ScopeComplete || l.Fault == nil || l.Fault.Reason != "Interrupted" {
		t.Errorf("%s: %+v", l.State, l.Fault)
	}
	if given, _ := s.Logins(); given != 1 || s.Calls()["keystone DELETE /v3/auth/tokens"] != 1 {
		t.Errorf("%d tokens, calls %v", given, s.Calls())
	}
}

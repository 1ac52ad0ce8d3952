package list

import (
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"drift-detector/infra"
)

// A vCenter that repeats the password, whatever it is asked and in whatever form, does
// not get it into a report: neither whole nor what a limit on length leaves of it.
func TestAVCenterThatRepeatsThePassword(t *testing.T) {
	const password = "m4rk3r/of+the&vcenter%s"
	forms := map[string]string{
		"as it is": password, "percent-encoded": url.QueryEscape(password), "cut": password[:15],
		"base64 of both": base64.StdEncoding.EncodeToString([]byte("user:" + password)),
		"far behind":     strings.Repeat("x", 285) + " " + password,
		"far behind it":  strings.Repeat("x", 292) + " " + password,
	}
	data := withPassword(t, fleet(t), password)
	for _, method := range []string{"RetrieveServiceContent", "Login", "CreateContainerView", "RetrievePropertiesEx", "Logout"} {
		for name, form := range forms {
			t.Run(method+"/"+name, func(t *testing.T) {
				repeats(t, data, form, &oddVCenter{objects: plainVM, fault: func(m string) string {
					if m == method {
						return html.EscapeString("cannot log in with " + form)
					}
					return ""
				}})
			})
		}
	}
	t.Run("status line", func(t *testing.T) {
		repeats(t, data, password, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprintf(conn, "HTTP/1.1 503 no entry for %s\r\nX-Why: %s\r\nContent-Length: 0\r\n\r\n", password, password)
		}))
	})
}

func repeats(t *testing.T, data []byte, form string, server http.Handler) {
	t.Helper()
	s := httptest.NewTLSServer(server)
	defer s.Close()
	p := small()
	snapshot, secrets := load(t, data)
	targets := p.Targets(snapshot, secrets, infra.Access{
		Reroutes:    []infra.Reroute{{From: fleetServer, To: s.Listener.Addr().String()}},
		Credentials: []infra.Credential{{Endpoint: fleetServer, Thumbprint: infra.Thumbprint(s.Certificate())}},
	})
	for _, l := range []infra.Listing{p.List(t.Context(), targets[0]), infra.NewRegistry(p).Collect(t.Context(), targets[:1], nil).Listings[0]} {
		said := fmt.Sprint(l.Fault, l.Warnings)
		if l.Fault != nil {
			said += l.Fault.Message + l.Fault.Hint
		}
		core := strings.TrimSpace(strings.TrimLeft(form, "x"))
		for i := range len(core) - 8 {
			if strings.Contains(said, core[i:i+8]) {
				t.Fatalf("%q of it is in %s", core[i:i+8], said)
			}
		}
		if l.Fault != nil && !strings.Contains(said, "redacted") && !strings.Contains(form, "xx") {
			t.Errorf("the fault does not show that something was left out: %s", said)
		}
	}
}

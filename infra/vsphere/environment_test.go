package vsphere

import (
	"strings"
	"testing"
)

func TestCredentialOfGovc(t *testing.T) {
	for _, c := range []struct {
		name, url, user, password string
		endpoint, as, with        string // endpoint empty: no credential
	}{
		{"all three", "vc.example.com", "u", "p", "vc.example.com:443", "u", "p"},
		{"a URL", "https://VC.example.com:8443/sdk", "u", "p", "vc.example.com:8443", "u", "p"},
		{"user info", "https://in:side@vc.example.com/sdk", "", "", "vc.example.com:443", "in", "side"},
		{"user info without scheme", "in:side@vc.example.com", "", "", "vc.example.com:443", "in", "side"},
		{"variables before user info", "in:side@vc.example.com", "u", "p", "vc.example.com:443", "u", "p"},
		{"no GOVC_URL", "", "u", "p", "", "", ""},
		{"no user", "vc.example.com", "", "p", "", "", ""},
		{"no password", "vc.example.com", "u", "", "", "", ""},
		{"plain http", "http://vc.example.com", "u", "p", "", "", ""},
		{"no endpoint", "https://%zz", "u", "p", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{"GOVC_URL": c.url, "GOVC_USERNAME": c.user, "GOVC_PASSWORD": c.password}
			got, ok := govcCredential(func(name string) string { return env[name] })
			if ok != (c.endpoint != "") || got.Endpoint != c.endpoint || got.Username != c.as || got.Password.Reveal() != c.with {
				t.Errorf("%t: %s at %s with %q", ok, got.Username, got.Endpoint, got.Password.Reveal())
			}
			if ok && !strings.HasPrefix(got.Source, "GOVC_") {
				t.Errorf("source %q", got.Source)
			}
		})
	}
}

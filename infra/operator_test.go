package infra_test

import (
	"strings"
	"testing"

	"drift-detector/infra"
)

func TestParseReroute(t *testing.T) {
	for _, c := range []struct{ text, from, to string }{
		{"vc.example.com=127.0.0.1:8989", "vc.example.com:443", "127.0.0.1:8989"},
		{"https://VC.example.com/sdk=https://127.0.0.1:8989/sdk", "vc.example.com:443", "127.0.0.1:8989"},
		{"10.0.0.1:6443=jump.example.com:16443", "10.0.0.1:6443", "jump.example.com:16443"},
		{"10.0.0.1:6443=jump.example.com", "10.0.0.1:6443", "jump.example.com:443"},
		{"[2001:db8::1]:6443=[::1]:6443", "[2001:db8::1]:6443", "[::1]:6443"},
		{"2001:db8::1=::1", "[2001:db8::1]:443", "[::1]:443"},
	} {
		got, err := infra.ParseReroute(c.text)
		if err != nil || got.From != c.from || got.To != c.to {
			t.Errorf("%s: from %s to %s, %v; want %s to %s", c.text, got.From, got.To, err, c.from, c.to)
		}
	}
	for text, want := range map[string]string{
		"vc.example.com":                   "expected FROM=TO",
		"":                                 "expected FROM=TO",
		"=b":                               `""`,
		"a=":                               `""`,
		"a=b=c":                            `"b=c"`,
		"a=http://b":                       "http://",
		"http://a=b":                       "http://",
		"a=b:0":                            "port",
		"a=https://u:" + secretWord + "@b": "must not hold a user",
	} {
		_, err := infra.ParseReroute(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secretWord) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestEnvironmentCredential(t *testing.T) {
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
			got, ok := infra.EnvironmentCredential(func(name string) string { return env[name] })
			if ok != (c.endpoint != "") || got.Endpoint != c.endpoint || got.Username != c.as || got.Password.Reveal() != c.with {
				t.Errorf("%t: %s at %s with %q", ok, got.Username, got.Endpoint, got.Password.Reveal())
			}
			if ok && !strings.HasPrefix(got.Source, "GOVC_") {
				t.Errorf("source %q", got.Source)
			}
		})
	}
}

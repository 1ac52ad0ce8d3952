package infra_test

import (
	"errors"
	"strings"
	"testing"

	"drift-detector/infra"
)

func TestParseEndpoint(t *testing.T) {
	for in, want := range map[string]string{
		"vc.example":                      "vc.example:443",
		"VC.Example.":                     "vc.example:443",
		"vc.example:8443":                 "vc.example:8443",
		"https://vc.example/sdk":          "vc.example:443",
		"HTTPS://user:pw@vc.example/sdk":  "vc.example:443",
		"10.0.0.1":                        "10.0.0.1:443",
		"2001:DB8::1":                     "[2001:db8::1]:443",
		"[2001:db8::1]:8443":              "[2001:db8::1]:8443",
		" https://127.0.0.1:36459 ":       "127.0.0.1:36459",
		"https://vc_1.corp.example:443/x": "vc_1.corp.example:443",
	} {
		got, err := infra.ParseEndpoint(in)
		if err != nil || got.String() != want {
			t.Errorf("ParseEndpoint(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := infra.ParseEndpoint("http://vc.example"); !errors.Is(err, infra.ErrPlainHTTP) {
		t.Errorf("http:// gave %v, want ErrPlainHTTP", err)
	}
	for _, in := range []string{
		"", "https://", "ftp://vc.example", "vc.example:0", "vc.example:65536", "vc.example:port", "a b", "vc..example",
		"vc\x00.example", "https://[::1", strings.Repeat("a", 64) + ".example", "-\u202evc",
	} {
		if got, err := infra.ParseEndpoint(in); err == nil {
			t.Errorf("ParseEndpoint(%q) = %q, want an error", in, got)
		}
	}
	for in, want := range map[string]error{
		"m4rk3r://vc.example": infra.ErrScheme, "ftp://u:m4rk3r@vc.example": infra.ErrScheme, "u:m4rk3r@vc:99999": infra.ErrPort, "u:m4rk3r": infra.ErrHost, "u:m4rk3r@v c": infra.ErrHost,
	} {
		if _, err := infra.ParseEndpoint(in); !errors.Is(err, want) || strings.Contains(err.Error(), "m4rk3r") {
			t.Errorf("ParseEndpoint(%q): %v, want %v", in, err, want)
		}
	}
}

func TestAccessIsByEndpointInAnyForm(t *testing.T) {
	a := infra.Access{
		Reroutes:    []infra.Reroute{{From: "https://VC.example/sdk", To: "127.0.0.1:8989"}},
		Credentials: []infra.Credential{{Endpoint: "vc.example:443", Username: "first"}, {Endpoint: "vc.example", Username: "second"}},
	}
	if c, ok := a.CredentialFor("https://vc.example/sdk"); !ok || c.Username != "first" {
		t.Errorf("CredentialFor = %q, %v; want the first that fits", c.Username, ok)
	}
	if _, ok := a.CredentialFor("vc.example:444"); ok {
		t.Error("a credential for port 443 was offered for port 444")
	}
	for from, want := range map[string]string{"vc.example": "127.0.0.1:8989", "vc2.example": "vc2.example:443"} {
		e, err := infra.ParseEndpoint(from)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.DialAddress(e); got != want {
			t.Errorf("DialAddress(%s) = %s, want %s", from, got, want)
		}
	}
}

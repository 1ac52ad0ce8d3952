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

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// The names of functions in a program are compared with what may be there.
func TestUnexpected(t *testing.T) {
	const module = "example.com/m"
	for _, c := range []struct {
		program string
		want    []string
	}{
		{"\x00example.com/m.Read\x00example.com/m.Read.func1\x00example.com/m.Read.deferwrap1\x00", nil},
		{"\x00example.com/m.init\x00example.com/m.init.0\x00example.com/m/sub.init\x00example.com/m/a/b.init.1\x00", nil},
		{"\x00example.com/m/sub.init", nil}, // it does not end: data
		{"\x00example.com/m@v1.2.3/read.go\x00example.com/more.Write\x00see example.com/m.Write\x00", nil},
		{"\x00example.com/m.Readers\x00", []string{"Readers"}},
		{"\x00example.com/m.(*T).Extract\x00example.com/m/sub.Open\x00example.com/m.initialise\x00", []string{"(*T).Extract", "/sub.Open", "initialise"}},
	} {
		got := unexpected([]byte(c.program), module, []string{"Read"})
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.program, got, c.want)
		}
	}
}

// An advisory that is not listed is a fault, and so is one that is listed for nothing.
func TestNews(t *testing.T) {
	found, err := findings([]byte(`{"config":{"scanner_name":"govulncheck"}}
{"osv":{"id":"GO-2099-0001"}}
{"finding":{"osv":"GO-2099-0001","trace":[{"module":"example.com/m","version":"v1.0.0"}]}}
{"finding":{"osv":"` + known[0].id + `","trace":[{"module":"` + known[0].module + `","version":"v3.5.1"}]}}
`))
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, error %v", found, err)
	}
	said := errors.Join(news(found)...).Error()
	if !strings.Contains(said, "GO-2099-0001 is about example.com/m v1.0.0") || !strings.Contains(said, known[1].id+" is no longer") || strings.Contains(said, known[0].id) {
		t.Error(said)
	}
	for _, cut := range []string{"", "{", `{"finding":{"osv":"x"}}`} {
		if _, err := findings([]byte(cut)); err == nil {
			t.Errorf("%q is taken for a whole answer", cut)
		}
	}
}

package infra_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"drift-detector/infra"
)

func TestBriefKeepsTheBeginning(t *testing.T) {
	for _, short := range []string{"", "no route to host", strings.Repeat("x", 300)} {
		if got := infra.Brief(short); got != short {
			t.Errorf("%q became %q", short, got)
		}
	}
	for _, letter := range []string{"x", "ö", "𝕏"} {
		got := infra.Brief("why: " + strings.Repeat(letter, 1<<20))
		if len(got) > 330 || !utf8.ValidString(got) || !strings.HasPrefix(got, "why: "+letter) || !strings.HasSuffix(got, " bytes)") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
	// A server chooses the names in its certificate.
	long := &infra.CertificateError{Server: "vc", SHA256: "AA", Cause: errors.New(strings.Repeat("x", 1<<20))}
	if got := long.Error(); len(got) > 500 || !strings.HasSuffix(got, "its SHA-256 is AA") {
		t.Errorf("%d bytes", len(got))
	}
}

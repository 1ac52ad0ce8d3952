package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Escape makes a foreign string safe for a terminal, a log or an error: control
// characters (C0, C1), line and paragraph separators, bidirectional and other
// format marks and invalid UTF-8 are shown as \xNN per byte. All else stays.
func Escape(s string) string {
	clean := true
	for i, r := range s {
		if Unsafe(r) || r == utf8.RuneError && invalidAt(s, i) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if Unsafe(r) || r == utf8.RuneError && n == 1 {
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(`\x`)
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Unsafe reports whether a character must not reach a terminal as it is: it is a control
// character, a line or paragraph separator, or a mark that only formats.
func Unsafe(r rune) bool {
	if ' ' <= r && r <= '~' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// invalidAt tells invalid UTF-8 from U+FFFD itself, which takes three bytes.
func invalidAt(s string, i int) bool {
	_, n := utf8.DecodeRuneInString(s[i:])
	return n == 1
}

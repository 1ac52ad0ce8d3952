package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"drift-detector/internal/lazyregexp"
)

const hexDigits = "0123456789abcdef"

// command is what a CI obeys in a log: GitHub at the beginning of a line, which folding
// may make of any word (actions/runner ActionCommand.cs), the agents of Azure Pipelines
// and TeamCity anywhere.
var command = lazyregexp.New(`(?i)::(?:add-m|add-path|debug|echo|end-?group|error|group|internal-|notice|remove-m|save-|set-|stop-|warning)|#+#[a-z]*\[`)

// Escape makes a foreign string safe for a terminal, a log or an error: control
// characters (C0, C1), line and paragraph separators, bidirectional and other
// format marks, invalid UTF-8 and the first characters of what a CI takes for a command
// are shown as \xNN per byte. All else stays.
func Escape(s string) string {
	if strings.Contains(s, "::") || strings.Contains(s, "##") {
		s = command.ReplaceAllStringFunc(s, func(c string) string {
			if c[0] == ':' {
				return `\x3a` + c[1:]
			}
			return strings.ReplaceAll(c, "#", `\x23`)
		})
	}
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

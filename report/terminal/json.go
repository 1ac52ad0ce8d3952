package terminal

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON replaces in a JSON document what Escape would show as bytes by \u escapes.
// Outside of strings JSON holds no such characters, apart from its own newlines.
// U+FFFD is among them because encoding/json escapes it only where it stands for
// invalid UTF-8, so that a document would change when it is read and written again.
func JSON(doc []byte) []byte {
	suspect := func(r rune) bool {
		return r != '\n' && (Unsafe(r) || r == utf8.RuneError)
	}
	plain := func(c byte) bool { return ' ' <= c && c <= '~' || c == '\n' } // as nearly all of it is
	first := 0
	for first < len(doc) && plain(doc[first]) {
		first++
	}
	if bytes.IndexFunc(doc[first:], suspect) < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		switch {
		case !suspect(r):
			out = append(out, doc[:n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		doc = doc[n:]
	}
	return out
}

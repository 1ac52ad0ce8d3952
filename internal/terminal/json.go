package terminal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
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
	if isPlain(doc) || bytes.IndexFunc(doc, suspect) < 0 {
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

// isPlain reports whether a document is ASCII, as nearly all are, without the delete
// character: those before the space JSON itself escapes. It looks at eight bytes at once.
func isPlain(doc []byte) bool {
	const beyondASCII = 0x8080808080808080
	i := 0
	for ; i+8 <= len(doc); i += 8 {
		if binary.NativeEndian.Uint64(doc[i:])&beyondASCII != 0 {
			return false
		}
	}
	return bytes.IndexByte(doc, 0x7f) < 0 && bytes.IndexFunc(doc[i:], func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// JSONWriter writes to To what JSON makes of a document, whole lines at a time but for what is
// plain. The document ends with a newline.
type JSONWriter struct {
	To   io.Writer
	rest []byte
}

// Write fails when To does.
func (j *JSONWriter) Write(p []byte) (int, error) {
	if len(j.rest) == 0 && isPlain(p) {
		return j.To.Write(p)
	}
	j.rest = append(j.rest, p...)
	whole := bytes.LastIndexByte(j.rest, '\n') + 1
	_, err := j.To.Write(JSON(j.rest[:whole]))
	j.rest = append(j.rest[:0], j.rest[whole:]...)
	return len(p), err
}

package scan

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

var errSurrogate = errors.New("half of a surrogate pair")

// Unquote appends the content of a JSON string that a scan has found to be
// well-formed, and does as encoding/json does: what is not UTF-8, and half
// surrogate pairs, become U+FFFD.
func Unquote(to, raw []byte) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\' && raw[i+1] == 'u':
			r, err := surrogate(raw[i:])
			if err != nil {
				r, i = utf8.RuneError, i+6
			} else if r > 0xffff {
				i += 12
			} else {
				i += 6
			}
			to = utf8.AppendRune(to, r)
		case c == '\\':
			to = append(to, unescaped(raw[i+1]))
			i += 2
		case c < utf8.RuneSelf:
			to = append(to, c)
			i++
		default:
			r, size := utf8.DecodeRune(raw[i:])
			to = utf8.AppendRune(to, r)
			i += size
		}
	}
	return to
}

// unescaped returns the character that a one-letter escape means.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // quote, backslash, slash
}

// surrogate reads one \uXXXX escape, or two that make one character.
func surrogate(raw []byte) (rune, error) {
	r := hex4(raw[2:])
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(raw[8:])); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, errSurrogate
}

func hex4(raw []byte) rune {
	var r rune
	for _, c := range raw[:4] {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		case c <= 'F':
			r |= rune(c - 'A' + 10)
		default:
			r |= rune(c - 'a' + 10)
		}
	}
	return r
}

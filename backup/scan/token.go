package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// skip passes over any value, checking its syntax.
func (s *Scanner) skip(i int) (int, error) {
	switch s.byte(i) {
	case '"':
		i, _, err := s.text(i + 1)
		return i, err
	case '{':
		return s.skipObject(i)
	case '[':
		return s.skipArray(i)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	}
	return s.number(i)
}

func (s *Scanner) skipObject(i int) (int, error) {
	if s.depth++; s.depth > maxDepth {
		return i, errDepth
	}
	if i = s.space(i + 1); s.byte(i) == '}' {
		s.depth--
		return i + 1, nil
	}
	for {
		if s.byte(i) != '"' {
			return i, syntaxError(i)
		}
		end, _, err := s.text(i + 1)
		if err != nil {
			return end, err
		}
		if i = s.space(end); s.byte(i) != ':' {
			return i, syntaxError(i)
		}
		if i, err = s.skipMember(s.space(i + 1)); err != nil {
			return i, err
		}
		i = s.space(i)
		switch s.byte(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			s.depth--
			return i + 1, nil
		default:
			return i, syntaxError(i)
		}
	}
}

// repeat is the text of an object that was passed over, and how deep it was.
type repeat struct {
	text  []byte
	depth int
}

// Bounds on what is kept of it, in bytes: less than minRepeat is passed over as fast.
const (
	minRepeat = 64
	maxRepeat = 4 << 10
)

// skipMember passes over the value of a member. More than half of an object is what
// Kubernetes notes about the managers of its fields, and most of that is the same text from
// object to object: what equals a text that was passed over is passed over at once. The
// last text is kept for each hash of some bytes of the first minRepeat.
func (s *Scanner) skipMember(i int) (int, error) {
	if s.byte(i) != '{' || len(s.data)-i < minRepeat {
		return s.skip(i)
	}
	head := s.data[i : i+minRepeat]
	hash := binary.LittleEndian.Uint64(head[2:])*0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(head[28:])
	hash = hash*0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(head[56:])
	r := &s.repeats[hash*0x9e3779b97f4a7c15>>32%uint64(len(s.repeats))]
	if n := len(r.text); n > 0 && n <= len(s.data)-i && s.depth <= r.depth && string(s.data[i:i+n]) == string(r.text) {
		return i + n, nil
	}
	end, err := s.skipObject(i)
	if size := end - i; err == nil && size >= minRepeat && size <= maxRepeat {
		r.text, r.depth = append(r.text[:0], s.data[i:end]...), s.depth
	}
	return end, err
}

func (s *Scanner) skipArray(i int) (int, error) {
	if s.depth++; s.depth > maxDepth {
		return i, errDepth
	}
	if i = s.space(i + 1); s.byte(i) == ']' {
		s.depth--
		return i + 1, nil
	}
	for {
		var err error
		if i, err = s.skip(i); err != nil {
			return i, err
		}
		i = s.space(i)
		switch s.byte(i) {
		case ',':
			i = s.space(i + 1)
		case ']':
			s.depth--
			return i + 1, nil
		default:
			return i, syntaxError(i)
		}
	}
}

func (s *Scanner) literal(i int, want string) (int, error) {
	if len(s.data)-i < len(want) || string(s.data[i:i+len(want)]) != want {
		return i, syntaxError(i)
	}
	return i + len(want), nil
}

// number passes over a number in JSON's grammar.
func (s *Scanner) number(i int) (int, error) {
	if s.byte(i) == '-' {
		i++
	}
	switch c := s.byte(i); {
	case c == '0':
		i++
	case '1' <= c && c <= '9':
		i = s.digits(i)
	default:
		return i, syntaxError(i)
	}
	if s.byte(i) == '.' {
		start := i + 1
		if i = s.digits(start); i == start {
			return i, syntaxError(i)
		}
	}
	if c := s.byte(i); c == 'e' || c == 'E' {
		i++
		if c := s.byte(i); c == '+' || c == '-' {
			i++
		}
		start := i
		if i = s.digits(start); i == start {
			return i, syntaxError(i)
		}
	}
	return i, nil
}

func (s *Scanner) digits(i int) int {
	for c := s.byte(i); '0' <= c && c <= '9'; c = s.byte(i) {
		i++
	}
	return i
}

// Masks to look at eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of a word that end the plain text of a string: quotes, slashes,
// control characters, and what is no ASCII.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote - ones) | (slash - ones) | (w - ones*0x20) | w) & highs
}

// text passes over a string, from behind its opening quote to behind its
// closing one. plain says that it is ASCII without escapes.
func (s *Scanner) text(i int) (end int, plain bool, err error) {
	data := s.data
	plain = true
	for start := i; ; {
		for i+8 <= len(data) {
			// The lowest bit that is set is exact: borrows only go up.
			if stop := special(binary.LittleEndian.Uint64(data[i:])); stop != 0 {
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			// A text that is long so far is so most likely: a certificate.
			if i += 8; i-start >= 64 {
				i += plainPart(data[i:min(i+maxPart, len(data))])
				start = i
			}
		}
		switch c := s.byte(i); {
		case c == '"':
			return i + 1, plain, nil
		case c == '\\':
			plain = false
			if i, err = s.escape(i); err != nil {
				return i, false, err
			}
			start = i
		case c < 0x20:
			return i, false, syntaxError(i)
		default:
			plain = plain && c < 0x80
			i++
		}
	}
}

// maxPart bounds how far is looked for the end of a plain part, which an escape may cut short.
const maxPart = 4 << 10

// plainPart returns how many bytes are plain that a text goes on with, but for the last ones.
func plainPart(text []byte) (n int) {
	for _, end := range []byte{'"', '\\'} {
		if at := bytes.IndexByte(text, end); at >= 0 {
			text = text[:at]
		}
	}
	for ; len(text)-n >= 32; n += 32 {
		part := text[n : n+32]
		a, b := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint64(part[8:])
		c, d := binary.LittleEndian.Uint64(part[16:]), binary.LittleEndian.Uint64(part[24:])
		if ((a-ones*0x20)|a|(b-ones*0x20)|b|(c-ones*0x20)|c|(d-ones*0x20)|d)&highs != 0 {
			break
		}
	}
	return n
}

// escape passes over one escape sequence.
func (s *Scanner) escape(i int) (int, error) {
	switch s.byte(i + 1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		for j := i + 2; j < i+6; j++ {
			c := s.byte(j)
			if ('0' > c || c > '9') && ('a' > c || c > 'f') && ('A' > c || c > 'F') {
				return j, syntaxError(j)
			}
		}
		return i + 6, nil
	}
	return i + 1, syntaxError(i + 1)
}

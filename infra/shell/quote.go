package shell

import (
	"strings"

	"drift-detector/internal/terminal"
)

// Quote returns s as one word of a POSIX shell, whatever it holds. It refuses what a
// terminal would not show as it is: control characters, newlines among them,
// direction marks and invalid UTF-8.
//
// Quoting does not stop a program from taking a word for an option: a word of foreign
// origin must not begin with what is foreign.
func Quote(s string) (word string, ok bool) {
	if isPlain(s) {
		return s, true
	}
	if !quotable(s) {
		return "", false
	}
	return string(appendQuoted(nil, s)), true
}

// quotable reports whether Quote takes s.
func quotable(s string) bool { return isPlain(s) || terminal.Escape(s) == s }

// appendQuoted appends what Quote returns, of a part of a line that is quotable.
func appendQuoted(to []byte, s string) []byte {
	if isPlain(s) {
		return append(to, s...)
	}
	return append(append(append(to, '\''), strings.ReplaceAll(s, "'", `'\''`)...), '\'')
}

// isPlain reports whether no character of a word, which is not empty, may mean anything to
// a shell.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '-' <= c && c <= ':': // digits are among them
		case strings.IndexByte("_,@%+=", c) < 0:
			return false
		}
	}
	return s != ""
}

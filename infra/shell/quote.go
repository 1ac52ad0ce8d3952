package shell

import (
	"strings"

	"drift-detector/report/terminal"
)

// Quote returns s as one word of a POSIX shell, whatever it holds. It refuses what a
// terminal would not show as it is: control characters, newlines among them,
// direction marks and invalid UTF-8.
//
// Quoting does not stop a program from taking a word for an option: a word of foreign
// origin must not begin with what is foreign.
func Quote(s string) (word string, ok bool) {
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s, true
	}
	if terminal.Escape(s) != s {
		return "", false
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", true
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '-' <= r && r <= ':': // digits are among them
		return false
	default:
		return !strings.ContainsRune("_,@%+=", r)
	}
}

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
	return "'" + strings.ReplaceAll(s, "'", quote) + "'", true
}

// quote is how a quote is written within quotes.
const quote = `'\''`

// quotable reports whether Quote takes s, which is not plain.
func quotable(s string) bool { return terminal.Escape(s) == s }

// isPlain reports whether no character of a word, which is not empty, may mean anything to
// a shell.
func isPlain(s string) bool {
	for i := range len(s) {
		if !plainBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

var plainBytes = func() (plain [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./:_,@%+=") {
		plain[c] = true
	}
	return plain
}()

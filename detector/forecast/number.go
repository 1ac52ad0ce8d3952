package forecast

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// plural is a number with the words that go with it: "1 ghost", "2 ghosts".
func plural(n int, one, many string) string { return fmt.Sprint(n, " ", verb(n, one, many)) }

// sentence begins a clause with a capital letter.
func sentence(clause string) string {
	first, n := utf8.DecodeRuneInString(clause)
	return string(unicode.ToUpper(first)) + clause[n:]
}

// verb is the word that goes with a number that is elsewhere.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

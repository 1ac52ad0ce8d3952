package rehearsal

import "fmt"

// plural returns a number with the words that go with it: "1 ghost", "2 ghosts".
func plural(n int, one, many string) string { return fmt.Sprint(n, " ", verb(n, one, many)) }

// verb returns the word that goes with a number that is elsewhere.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

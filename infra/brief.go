package infra

import (
	"fmt"
	"unicode/utf8"
)

// maxForeign is how much of a text that somebody else wrote goes into a Fault or
// a warning: enough for any honest error, too little to bury a report.
const maxForeign = 300

// Brief is the beginning of a text that somebody else wrote, whole when it is short.
func Brief(text string) string {
	if len(text) <= maxForeign {
		return text
	}
	end := maxForeign
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:end], len(text))
}

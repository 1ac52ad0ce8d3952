package infra

import (
	"fmt"
	"unicode/utf8"
)

// maxForeign is how much of a text that somebody else wrote goes into a Fault or
// a warning: enough for any honest error, too little to bury a report.
const maxForeign = 300

// Brief returns the beginning of a text that somebody else wrote, whole when it is short.
// Where that may be somebody who was sent a secret, it is for [Redaction.Brief].
func Brief(text string) string { return brief(text, len(text)) }

// brief returns what Brief does, of a text of which only the beginning is there, of so many bytes in all.
func brief(text string, all int) string {
	if len(text) <= maxForeign && len(text) == all {
		return text
	}
	end := min(maxForeign, len(text))
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:end], all)
}

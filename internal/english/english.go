// Package english writes numbers and lists as English sentences have them.
package english

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with its noun: "1 VM", "3 VMs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Join joins the parts that are not empty.
func Join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), sep)
}

// First returns the first of a list, separated by commas, and counts the others:
// "a, b and 3 more".
func First(most int, list []string) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// Choice returns what one may choose from: "json, text or html".
func Choice(list []string) string { return ending(" or ", list) }

// And returns all of a list: "json, text and html".
func And(list []string) string { return ending(" and ", list) }

func ending(word string, list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + word + list[last]
}

// Capital returns text with a capital letter at its beginning.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// Clause returns a text without its last full stop.
func Clause(text string) string { return strings.TrimSuffix(text, ".") }

// Sentence returns text with one full stop at its end; of no text, nothing.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimSuffix(text, ".") + "."
}

package ignore

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"drift-detector/internal/english"
)

// Write writes rules as the YAML that [Read] reads, the same bytes for the same
// rules. It writes nothing when there is more than Read accepts, and returns the
// first error of the writer.
func Write(w io.Writer, rules []Rule) error {
	var b bytes.Buffer
	b.WriteString("rules:")
	if len(rules) == 0 {
		b.WriteString(" []")
	}
	b.WriteByte('\n')
	for i := range rules {
		rules[i].write(&b)
	}
	if b.Len() > maxSize {
		return fmt.Errorf("writing ignore rules: %s make more than 1 MiB, which is too much for an ignore file; narrow them down, or write globs by hand", english.Count(len(rules), "rule"))
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("writing ignore rules: %w", err)
	}
	return nil
}

func (r *Rule) write(b *bytes.Buffer) {
	match := "match"
	if r.Include {
		match = `"!match"`
	}
	fmt.Fprintf(b, "- %s:\n", match)
	tagged := func(c condition) bool { return c.key == "tag" }
	for _, c := range r.Match {
		if !tagged(c) {
			fmt.Fprintf(b, "    %s: %s\n", c.key, quoteAll(c.globs))
		}
	}
	if slices.ContainsFunc(r.Match, tagged) {
		b.WriteString("    tag:\n")
	}
	for _, c := range r.Match {
		if tagged(c) {
			fmt.Fprintf(b, "      %s: %s\n", quote(c.tag), quoteAll(c.globs))
		}
	}
	if r.Reason != "" {
		fmt.Fprintf(b, "  reason: %s\n", quote(r.Reason))
	}
	if r.Expires != "" {
		fmt.Fprintf(b, "  expires: %s\n", r.Expires)
	}
}

func quoteAll(globs []glob) string {
	if len(globs) == 1 {
		return quote(globs[0].text)
	}
	out := make([]string, len(globs))
	for i := range globs {
		out[i] = quote(globs[i].text)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// quote writes a text as a double-quoted scalar of YAML 1.2 (section 5.7), in
// which every character has a form that no terminal and no parser takes amiss.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s { // invalid UTF-8 becomes U+FFFD, as in the JSON of the report
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

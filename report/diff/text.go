package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Text writes the diff for a person: what differs, how far to believe it, the
// counts before and after, then every list.
func Text(w io.Writer, d *Diff) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\nStatus: %s\n", d.headline(), d.verdict(quoted, " -> "))
	for _, warning := range d.Warnings {
		fmt.Fprintf(b, "! %s\n", clean(warning))
	}
	b.WriteByte('\n')
	for _, s := range d.sides() {
		fmt.Fprintf(b, "%s  %s, %s\n", s.name, stamp(s.GeneratedAt), s.completeness())
		for _, k := range s.Backups {
			fmt.Fprintf(b, "     %s  written %s  sha256 %s\n", quoted(k.Path), stamp(k.WrittenTo), quoted(k.SHA256))
		}
	}
	fmt.Fprintf(b, "\n%-15s %7s %7s\n", "", "old", "new")
	for _, n := range d.numbers() {
		fmt.Fprintf(b, "%-15s %7d %7d  %s\n", n.what, n.old, n.new, n.change())
	}
	for _, s := range d.sections() {
		fmt.Fprintf(b, "\n%s (%d)\n", strings.ToUpper(s.title), len(s.rows))
		for i := range s.rows {
			s.rows[i].text(b)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the diff as text: %w", err)
	}
	return nil
}

func (r *row) text(b *bufio.Writer) {
	fmt.Fprintf(b, "  %s %s", r.mark(), clean(r.status))
	if r.place != "" {
		fmt.Fprintf(b, "  %s", quoted(r.place))
	}
	fmt.Fprintf(b, "  %s", quoted(r.name))
	if r.aside != "" {
		fmt.Fprintf(b, "  (%s)", clean(r.aside))
	}
	b.WriteByte('\n')
	for i := range r.facts {
		fmt.Fprintf(b, "      %s\n", clean(r.facts[i].line(quoted)))
	}
}

// quoted shows where a foreign name begins and ends when that is not plain to see.
func quoted(s string) string {
	s = clean(s)
	if s == "" || s[0] == '"' || strings.IndexFunc(s, unicode.IsSpace) >= 0 {
		return `"` + s + `"`
	}
	return s
}

package diff

import (
	"fmt"
	"io"
	"strings"
)

// longest is the most bytes of a diff in Markdown. GitHub takes 65,536 characters
// in a comment, Jira 32,767 as a rule.
const longest = 30_000

// rowRoom is the most characters of one foreign text in it.
const rowRoom = 300

// Markdown writes the diff for a ticket. Foreign text stands in code, where
// nothing reads markup, mentions or links into it. What is cut to keep the ticket
// short is counted.
func Markdown(w io.Writer, d *Diff) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** Status: %s\n", d.headline(), d.verdict(code, " → "))
	for _, warning := range d.Warnings {
		fmt.Fprintf(&b, "\n> **Note:** %s\n", warning)
	}
	b.WriteString("\n| report | made | complete | backups |\n|---|---|---|---|\n")
	for _, s := range d.sides() {
		var paths []string
		for _, k := range s.Backups {
			paths = append(paths, cell(k.Path))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.name, stamp(s.GeneratedAt), s.completeness(), strings.Join(firstOf(paths, 5), "<br>"))
	}
	b.WriteString("\n| | old | new | |\n|---|---:|---:|---:|\n")
	for _, n := range d.numbers() {
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", n.what, n.old, n.new, n.change())
	}
	all := d.sections()
	for i := range all {
		// What one list leaves over is for those after it.
		all[i].markdown(&b, (longest-b.Len())/(len(all)-i))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the diff as Markdown: %w", err)
	}
	return nil
}

func firstOf(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
}

// markdown writes as many rows as there is room for, and the number of the rest.
func (s *section) markdown(b *strings.Builder, room int) {
	fmt.Fprintf(b, "\n### %s (%d)\n\n", s.title, len(s.rows))
	end := b.Len() + room - 200
	for i := range s.rows {
		line := s.rows[i].markdown()
		if b.Len()+len(line) > end {
			fmt.Fprintf(b, "- …and %d more, see the diff as JSON\n", len(s.rows)-i)
			return
		}
		b.WriteString(line)
	}
}

func (r *row) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- **%s**", code(r.status))
	if r.place != "" {
		b.WriteString(" " + code(r.place))
	}
	b.WriteString(" " + code(r.name))
	if r.aside != "" {
		b.WriteString(" (" + code(r.aside) + ")")
	}
	for i := range r.facts {
		b.WriteString("\n  - " + r.facts[i].markdown())
	}
	b.WriteByte('\n')
	return b.String()
}

func (f *fact) markdown() string {
	switch {
	case f.label == "":
		return code(f.new)
	case f.change:
		return code(f.label) + ": " + orNone(f.old) + " → " + orNone(f.new)
	default:
		return f.label + ": " + code(f.new)
	}
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return code(s)
}

// code is foreign text as it is, between as many backticks as its own demand
// (CommonMark 0.31, 6.1). Quotes show where it ends when that is not plain.
func code(s string) string {
	s = clean(s)
	if rs := []rune(s); len(rs) > rowRoom {
		s = fmt.Sprintf("%s… (%d more characters)", string(rs[:rowRoom]), len(rs)-rowRoom)
	}
	if s == "" || strings.TrimSpace(s) != s {
		s = `"` + s + `"`
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cell is foreign text in a table, whose columns bars separate even in code.
func cell(s string) string { return strings.ReplaceAll(code(s), "|", `\x7c`) }

package diff

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/terminal"
	"drift-detector/report/text"
)

// Text writes the diff for a person: what differs, how far to believe it, the
// counts before and after, then every list. Of the options it knows Color and
// Width. It returns the first error of the writer.
func Text(w io.Writer, d *Diff, o text.Options) error {
	p := terminal.NewPrinter(w, o.Width, o.Color)
	p.Print(0, 2, terminal.Line{}.Prose(terminal.Bold, d.headline()))
	p.Print(0, 2, terminal.Lead(terminal.Plain, "Status:", 0).Prose(text.Style(d.New.Status), d.verdict(report.Valid, " -> ")))
	for _, warning := range d.Warnings {
		p.Print(0, 2, terminal.Lead(terminal.Yellow, "!", 0).Prose(terminal.Plain, report.Valid(warning)))
	}
	p.Newline()
	for _, s := range d.sides() {
		p.Print(0, 5, terminal.Lead(terminal.Bold, s.name, 4).Prose(terminal.Plain, stamp(s.GeneratedAt)+", "+s.completeness()))
		for _, k := range s.Backups {
			p.Print(5, 7, terminal.Line{}.Field(terminal.Plain, quoted(k.Path)).
				Named(terminal.Dim, "written", stamp(k.WrittenTo)).Named(terminal.Dim, "sha256", report.Valid(k.SHA256)))
		}
	}
	p.Newline()
	p.Print(0, 0, terminal.Lead(terminal.Dim, fmt.Sprintf("%-15s %7s %7s", "", "old", "new"), 0))
	for _, n := range d.numbers() {
		p.Print(0, 0, terminal.Lead(terminal.Plain, fmt.Sprintf("%-15s %7d %7d  %s", n.what, n.old, n.new, n.change()), 0))
	}
	for _, s := range d.sections() {
		p.Title(fmt.Sprintf("%s (%d)", strings.ToUpper(s.title), len(s.rows)))
		for i := range s.rows {
			s.rows[i].print(p)
		}
	}
	if err := p.Flush(); err != nil {
		return fmt.Errorf("writing the diff as text: %w", err)
	}
	return nil
}

func (r *row) print(p *terminal.Printer) {
	mark, style := r.look()
	l := terminal.Lead(style, mark, 0).Field(style, report.Valid(r.status))
	if r.place != "" {
		l = l.Field(terminal.Dim, quoted(r.place))
	}
	l = l.Field(terminal.Plain, quoted(r.name))
	if r.aside != "" {
		l = l.Prose(terminal.Dim, "("+report.Valid(r.aside)+")")
	}
	p.Print(2, 6, l)
	for i := range r.facts {
		p.Print(6, 8, r.facts[i].laidOut())
	}
}

// sentences are the labels of facts that are read, not copied: they are broken
// where a row ends.
var sentences = []string{"", "message", "hint", "ignored", "warnings"}

func (f *fact) laidOut() terminal.Line {
	var l terminal.Line
	if slices.Contains(sentences, f.label) {
		return l.Prose(terminal.Dim, f.line())
	}
	label, values := f.told()
	words := strings.Fields(report.Valid(label) + ":")
	for i, v := range values {
		if i > 0 {
			words = append(words, "->")
		}
		words = append(words, quoted(v))
	}
	return l.Field(terminal.Dim, words...)
}

package diff

import (
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/markdown"
	"drift-detector/report/outline"
	"drift-detector/report/text"
)

// Formats are the forms of a diff.
var Formats = report.Formats[*Diff]{
	"json":     JSON,
	"markdown": Markdown,
	"text":     func(w io.Writer, d *Diff) error { return Text(w, d, text.Options{}) },
}

// JSON writes the document itself, in the form of [report.JSON].
func JSON(w io.Writer, d *Diff) error { return report.Document(w, d) }

// Text writes the diff for a person: what became of the answers, what differs, how far to believe it, the
// counts before and after, then every list. Of the options it knows Color and
// Width. It returns the first error of the writer.
func Text(w io.Writer, d *Diff, o text.Options) error {
	p := terminal.NewPrinter(w, o.Width, o.Color)
	d.Answer.text(p)
	p.Print(0, 2, terminal.Line{}.Prose(terminal.Bold, d.headline()))
	p.Print(0, 2, terminal.Lead(terminal.Plain, "Status:", 0).Prose(text.Style(code.Mark(d.New.Status)), d.verdict(report.Valid, " -> ")))
	for _, warning := range d.Warnings {
		p.Print(0, 2, terminal.Lead(terminal.Yellow, "!", 0).Prose(terminal.Plain, report.Valid(warning)))
	}
	p.Newline()
	for _, s := range d.sides() {
		p.Print(0, 5, terminal.Lead(terminal.Bold, s.name, 4).Prose(terminal.Plain, outline.Stamp(s.GeneratedAt)+", "+s.completeness()))
		for _, k := range s.Backups {
			p.Print(5, 7, terminal.Line{}.Field(terminal.Plain, terminal.Quoted(report.Valid(k.Path))).
				Named(terminal.Dim, "written", outline.Stamp(k.WrittenTo)).Named(terminal.Dim, "sha256", report.Valid(k.SHA256)))
		}
	}
	p.Newline()
	p.Print(0, 0, terminal.Lead(terminal.Dim, fmt.Sprintf("%-15s %7s %7s", "", "old", "new"), 0))
	for _, n := range d.numbers() {
		p.Print(0, 0, terminal.Lead(terminal.Plain, fmt.Sprintf("%-15s %7d %7d  %s", n.what, n.old, n.new, n.change()), 0))
	}
	text.Sections(p, d.sections())
	if err := p.Flush(); err != nil {
		return fmt.Errorf("writing the diff as text: %w", err)
	}
	return nil
}

// longest is the most bytes of a diff in Markdown. GitHub takes 65,536 characters
// in a comment, Jira 32,767 as a rule.
const longest = 30_000

// Markdown writes the diff for a ticket or a pull request. Foreign text is in code,
// where nothing reads markup, mentions or links into it. What is cut to keep it short is
// counted.
func Markdown(w io.Writer, d *Diff) error {
	var b strings.Builder
	d.Answer.markdown(&b)
	fmt.Fprintf(&b, "**%s** Status: %s\n", d.headline(), d.verdict(markdown.Code, " → "))
	for _, warning := range d.Warnings {
		fmt.Fprintf(&b, "\n> **Note:** %s\n", warning)
	}
	b.WriteString("\n| report | made | complete | backups |\n|---|---|---|---|\n")
	for _, s := range d.sides() {
		var paths []string
		for _, k := range s.Backups {
			paths = append(paths, markdown.Name(k.Path))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.name, outline.Stamp(s.GeneratedAt), s.completeness(), markdown.Cell(english.First(5, paths)))
	}
	b.WriteString("\n| | old | new | |\n|---|---:|---:|---:|\n")
	for _, n := range d.numbers() {
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", n.what, n.old, n.new, n.change())
	}
	if _, err := io.WriteString(w, markdown.Sections(b.String(), d.sections(), longest)); err != nil {
		return fmt.Errorf("writing the diff as Markdown: %w", err)
	}
	return nil
}

package ready

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/text"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the document, with a description of every field.
func Schema() []byte { return report.WithDefinitions(schema) }

// Formats are the forms of it.
var Formats = report.Formats[*Document]{
	"json": func(w io.Writer, d *Document) error { return report.Document(w, d) },
	"text": func(w io.Writer, d *Document) error { return Text(w, d, text.Options{}) },
}

// rows are those of a small terminal, less the one of the next prompt.
const rows = 23

var looks = map[State]struct {
	mark  string
	style terminal.Style
}{Missing: {"!", terminal.Red}, Unseen: {"?", terminal.Yellow}, OnWord: {"w", terminal.Yellow}, Holds: {"+", terminal.Green}}

// headline returns the answer.
func (d *Document) headline() (string, terminal.Style) {
	switch {
	case d.Result != Go:
		return fmt.Sprintf("not yet: %d of %d%s", d.Open, len(d.Items), d.blind()), terminal.Red
	case !isSafe(d.ByDefault):
		return "go: by the plan, paused", terminal.Green
	}
	return "go", terminal.Green
}

// blind says how many were not looked at.
func (d *Document) blind() string {
	n := 0
	for i := range d.Items {
		if d.Items[i].State == Unseen {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d not looked at)", n)
}

// Text writes the answer and the list, as much of it as a small terminal has room for. Of the
// options it knows Color and Width. It returns the first error of the writer.
func Text(w io.Writer, d *Document, o text.Options) error {
	if o.Width == 0 {
		o.Width = 80
	}
	var items [][]byte
	for i := range d.Items {
		items = append(items, d.Items[i].text(o))
	}
	p := terminal.NewPrinter(w, o.Width, o.Color)
	head, style := d.headline()
	p.Print(0, 2, terminal.Lead(style, head, 0))
	age := "Report " + ago(d.GeneratedAt.Sub(d.ReportedAt)) + " old"
	if d.ListedAt != nil {
		age += ", listed " + ago(d.GeneratedAt.Sub(*d.ListedAt)) + " ago"
	}
	if d.BackupAt != nil {
		age += ", backup " + ago(d.GeneratedAt.Sub(*d.BackupAt)) + " old"
	}
	p.Print(0, 2, terminal.Line{}.Prose(terminal.Dim, age+"; by default "+report.SafeWords(d.ByDefault)+", by the plan "+report.SafeWords(d.ByPlan)))
	if err := p.Flush(); err != nil {
		return fmt.Errorf("writing what is ready: %w", err)
	}
	left, shown := rows-5, 0 // the head may need four rows where it is narrow, and the last is for what is cut
	if d.Result == Go {
		items = append(d.holdsOnlyWhile(o), items...)
	}
	for _, t := range items {
		n := bytes.Count(t, []byte("\n"))
		if n > left && shown > 0 {
			break
		}
		left -= n
		shown++
		if _, err := w.Write(t); err != nil {
			return fmt.Errorf("writing what is ready: %w", err)
		}
	}
	if more := len(items) - shown; more > 0 {
		if _, err := fmt.Fprintf(w, "and %s; -o ready.json has all\n", english.Count(more, "more thing")); err != nil {
			return fmt.Errorf("writing what is ready: %w", err)
		}
	}
	return nil
}

// holdsOnlyWhile returns all conditions of a go, in a row each where that is wide enough: nothing
// else says them before the restore begins.
func (d *Document) holdsOnlyWhile(o text.Options) (out [][]byte) {
	for i := range d.Conditions {
		what := string(d.Conditions[i].Code) + ": " + d.Conditions[i].Sentence()
		line := terminal.Lead(terminal.Yellow, "if", 0).Prose(terminal.Plain, terminal.Begin(report.Valid(what), max(o.Width, terminal.Narrowest)-3))
		out = append(out, terminal.Rows(o.Width, o.Color, 0, 2, line))
	}
	return out
}

// text returns an item in at most two parts: what and why, and what next.
func (i *Item) text(o text.Options) []byte {
	var b bytes.Buffer
	p := terminal.NewPrinter(&b, o.Width, o.Color)
	what := i.What
	if i.Why != "" {
		what += ". " + english.Sentence(english.Capital(i.Why))
	}
	if i.State == OnWord {
		what = strings.TrimSuffix(what, ".") + " (on your word)"
	}
	line := terminal.Lead(looks[i.State].style, looks[i.State].mark, 0).Prose(terminal.Plain, report.Valid(what))
	if i.Step > 0 && i.State != Holds {
		line = line.Field(terminal.Dim, "step", fmt.Sprint(i.Step))
	}
	p.Print(0, 2, line)
	if i.Next != "" {
		before, after, has := strings.Cut(i.Next, i.command)
		line := terminal.Lead(terminal.Bold, "Next:", 0).Prose(terminal.Plain, report.Valid(before))
		if has && i.command != "" { // which a break would make two commands of
			line = line.Field(terminal.Plain, report.Valid(i.command))
		}
		p.Print(2, 4, line.Prose(terminal.Plain, report.Valid(strings.TrimPrefix(after, "; "))))
	}
	_ = p.Flush()
	return b.Bytes()
}

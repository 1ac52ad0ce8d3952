package text

import (
	"fmt"
	"io"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/outline"
)

// Readiness writes the document for a person, the answer first, then the
// findings by severity and code; why and what to do are there once for each code, and
// behind no more than o.Most objects: in a fleet a thousand lack the same. All that comes from outside is escaped.
func Readiness(w io.Writer, r *report.Readiness, o Options) error {
	p := newPrinter(w, o)
	answer, mark := r.Answer()
	row := func(label, text string) {
		p.Print(0, 4, terminal.Lead(terminal.Plain, label, 0).Prose(terminal.Plain, text))
	}
	found := func() {
		p.Print(0, 4, terminal.Lead(terminal.Bold, r.Question(), 0).Prose(Style(mark), answer))
		row("Found:", r.Summary.String())
	}
	found()
	for i := range r.Backups {
		row(english.Capital(r.Subject())+":", r.Backups[i].Path)
	}
	if r.Filter != nil {
		row("Only:", r.Filter.String())
	}
	if r.Releases != nil {
		row("Releases:", r.Releases.String())
	}
	p.all = o.Most == 0
	s := outline.Checks(r.Checks, r.Backups)
	for i := range s.Items {
		it := &s.Items[i]
		it.Most = o.Most
		p.Newline()
		line := terminal.Lead(Style(it.Mark), it.Mark, 0).Field(terminal.Bold, it.Code).Prose(terminal.Dim, fmt.Sprintf("(%s, %d)", it.Status, len(it.Likes)))
		if it.Aside != "" {
			line = line.Prose(terminal.Dim, "("+it.Aside+")")
		}
		p.Print(0, 4, line)
		p.likes(it, 2, "; -o FILE lists all")
		for _, f := range it.Facts {
			p.Print(2, 4, terminal.Lead(terminal.Bold, f.Label+":", 0).Prose(terminal.Dim, f.Text))
		}
	}
	if o.AnswerLast {
		p.Newline()
		found()
	}
	return p.Flush()
}

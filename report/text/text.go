// Package text writes a report for a person, as wide as the terminal: the outline
// of package outline as rows and trees.
package text

import (
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// Options say how the text looks, never what it says about counts and verdicts.
type Options struct {
	Color bool // colour beside the marks; for terminals
	Width int  // columns; 0 is 80, the least is terminal.Narrowest
	All   bool // list healthy machines one by one too, and fold nothing
	Most  int  // of the objects of one check, in Readiness; 0 is all of them
	// AnswerLast has Readiness say the answer once more at its end.
	AnswerLast bool
}

// Write prints the report for a person: is it safe to restore and why not, the
// counts, what to know before the restore, the clusters as trees with the worst
// first, then all else. All that comes from outside is escaped. It returns the first
// error of the writer.
func Write(w io.Writer, r *report.Report, o Options) error {
	p := newPrinter(w, o)
	p.answer(r)
	for _, s := range append(outline.ToDo(r), outline.Conditions(r)) {
		p.section(s)
	}
	p.totals(r)
	p.section(outline.Notes(r))
	p.clusters(r)
	for _, s := range outline.Rest(r) {
		p.section(s)
	}
	return p.Flush()
}

// printer writes the parts of a document.
type printer struct {
	*terminal.Printer
	all  bool            // nothing is folded or left out
	said map[string]bool // of one cluster: what was said about machines before
}

func newPrinter(w io.Writer, o Options) *printer {
	return &printer{Printer: terminal.NewPrinter(w, o.Width, o.Color), all: o.All}
}

func (p *printer) answer(r *report.Report) {
	a := r.Answer()
	row := func(label string, as code.Status, word, rest string) {
		l := terminal.Lead(terminal.Bold, label, answerLabel).Prose(Style(code.Mark(as)), word)
		p.Print(0, answerLabel, l.Prose(terminal.Plain, rest))
	}
	how := ""
	if a.ByPlan != "" {
		how = "as Velero restores by default"
	}
	row(a.Question, a.As, a.Safe, how)
	if a.ByPlan != "" {
		row("By the plan:", a.ByPlanAs, a.ByPlan, a.After)
	}
	row("Status:", a.Status, string(a.Status), "")
	for _, f := range a.Facts {
		mark := code.Mark(f.Status)
		p.Print(2, 4, terminal.Lead(Style(mark), mark, 0).Prose(terminal.Plain, f.Text))
	}
}

const answerLabel = 17 // width of the labels of the answers

const label = 11 // width of the labels of the counts

func (p *printer) totals(r *report.Report) {
	p.Newline()
	for _, f := range outline.Totals(r) {
		row := terminal.Lead(terminal.Bold, f.Label, label)
		for _, v := range f.Values {
			if !v.Detail {
				row = row.Named(terminal.Plain, v.Label, v.Text)
			}
		}
		p.Print(0, label+1, row.Items(terminal.Plain, strings.Split(f.Text, ", ")...))
	}
}

// Style returns the colour of a mark, which says the same.
func Style(mark string) terminal.Style {
	switch mark {
	case "!":
		return terminal.Red
	case "?", "-", "*":
		return terminal.Yellow
	case "=":
		return terminal.Green
	}
	return terminal.Dim
}

// Sections writes sections for a person. It returns the first error of the writer.
func Sections(p *terminal.Printer, all []outline.Section) {
	for _, s := range all {
		(&printer{Printer: p, all: true}).section(s)
	}
}

// maxClusters is how many clusters a note names before it counts the others.
const maxClusters = 5

func names(list []string, most int) []string {
	out := make([]string, 0, len(list))
	for i, n := range list[:min(most, len(list))] {
		out = append(out, terminal.Quoted(n))
		if i < len(list)-1 {
			out[i] += ","
		}
	}
	if n := len(list) - most; n > 0 {
		out = append(out, "and", fmt.Sprint(n), "more")
	}
	return out
}

package runbook

import (
	"fmt"

	"drift-detector/report"
	"drift-detector/report/html"
	"drift-detector/report/plan"
)

// Page returns the plan as the HTML page of its report has it.
func Page(p plan.Plan) *html.Runbook {
	b := &html.Runbook{Unknown: p.Unknown, Copying: howToCopy, Variables: variableLines(p.Variables)}
	w := webPage{memory{said: map[string]string{}}, map[int]plan.Row{}}
	for _, r := range p.Rows() {
		w.rows[r.Number] = r
	}
	for _, s := range p.Sections {
		phase := html.RunbookPhase{Title: s.Title}
		for i := range s.Chapters {
			phase.Chapters = append(phase.Chapters, w.chapter(&s.Chapters[i]))
		}
		if len(phase.Chapters) > 0 {
			b.Phases = append(b.Phases, phase)
		}
	}
	return b
}

// webPage is a runbook in the page of a report.
type webPage struct {
	memory
	rows map[int]plan.Row // by number
}

// step returns the step of a number, without what is done in it.
func (w *webPage) step(number int) html.RunbookStep {
	r := w.rows[number]
	return html.RunbookStep{Number: r.Number, Title: r.What, Cluster: r.Cluster, Machines: r.Machines}
}

func (w *webPage) chapter(c *plan.Chapter) html.RunbookChapter {
	w.copied = map[string]string{}
	out := html.RunbookChapter{Title: c.Title, Notes: c.Notes}
	for i := range c.Steps {
		do := w.do(c.Label(i), &c.Steps[i], c.Steps[i].Text, []block{{lines: c.Steps[i].Lines}})
		switch {
		case c.Apart:
			out.Steps = append(out.Steps, w.step(c.Number+i))
		case i == 0:
			out.Steps = append(out.Steps, w.step(c.Number))
		}
		last := &out.Steps[len(out.Steps)-1]
		last.Does = append(last.Does, do)
	}
	for i := range c.Batches {
		out.Steps = append(out.Steps, w.batch(&c.Batches[i]))
	}
	return out
}

func (w *webPage) batch(b *plan.Batch) html.RunbookStep {
	f, s := fold(b), w.step(b.Number)
	s.Pick, s.Lead = texts(f.pick), f.lead(w.forecast(b.Forecast, b.Outcome, fmt.Sprint(b.Number)))
	for _, item := range f.shown() {
		forecast := w.forecast(item.Forecast, item.Outcome, fmt.Sprintf("%d (%d)", b.Number, item.Number))
		s.Items = append(s.Items, item.Name+says(&item, forecast))
	}
	if more := f.more(); more != "" {
		s.Items = append(s.Items, more)
	}
	for n := range b.Steps {
		text := b.Steps[n].Text
		if !b.Serial {
			text = w.once(text, b.Label(n))
		}
		s.Does = append(s.Does, w.do(b.Label(n), &b.Steps[n], text, f.blocks[n]))
	}
	return s
}

func (w *webPage) do(label string, s *plan.Step, text string, blocks []block) html.RunbookDo {
	out := html.RunbookDo{Label: label, Text: text, Controllers: s.Who == report.Controller, As: w.sameAs(label, blocks)}
	if out.As != "" {
		return out
	}
	for _, b := range blocks {
		for i, lines := range pieces(b.lines) {
			of := ""
			if i == 0 {
				of = b.item
			}
			out.Blocks = append(out.Blocks, html.RunbookBlock{Of: of, Commands: lines})
		}
	}
	return out
}

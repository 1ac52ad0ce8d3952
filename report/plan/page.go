package plan

import (
	"cmp"
	"fmt"

	"drift-detector/report"
	"drift-detector/report/html"
)

// Runbook returns the plan as the HTML page of its report has it.
func (p *Plan) Runbook() *html.Runbook {
	b := &html.Runbook{Unknown: p.Unknown, Copying: howToCopy, Variables: variableLines(p.Variables)}
	w := webPage{page{said: map[string]string{}}}
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

// webPage remembers what has been said, as the Markdown of a plan does.
type webPage struct{ page }

func (w *webPage) chapter(c *Chapter) html.RunbookChapter {
	w.copied = map[string]string{}
	out := html.RunbookChapter{Title: c.Title, Notes: c.Notes}
	for i := range c.Steps {
		do := w.do(c.label(i), &c.Steps[i], c.Steps[i].Text, []block{{lines: c.Steps[i].lines}})
		switch {
		case c.Apart:
			out.Steps = append(out.Steps, html.RunbookStep{Number: c.Number + i, Title: brief(c.Steps[i].Text), Cluster: c.Cluster, Does: []html.RunbookDo{do}})
		case i == 0:
			out.Steps = append(out.Steps, html.RunbookStep{Number: c.Number, Title: c.What, Cluster: c.Cluster, Does: []html.RunbookDo{do}})
		default:
			out.Steps[0].Does = append(out.Steps[0].Does, do)
		}
	}
	for i := range c.Batches {
		out.Steps = append(out.Steps, w.batch(&c.Batches[i]))
	}
	return out
}

func (w *webPage) batch(b *Batch) html.RunbookStep {
	f := b.fold()
	s := html.RunbookStep{Number: b.Number, Title: b.Title, Cluster: cmp.Or(b.Cluster, b.clusters()), Machines: b.machines(), Pick: texts(f.pick)}
	s.Lead = b.lead(f, w.forecast(b.Forecast, b.outcome, fmt.Sprint(b.Number)))
	for _, item := range b.shown(f) {
		forecast := w.forecast(item.Forecast, item.outcome, fmt.Sprintf("%d (%d)", b.Number, item.Number))
		s.Items = append(s.Items, item.Name+item.says(forecast))
	}
	if more := b.more(f); more != "" {
		s.Items = append(s.Items, more)
	}
	for n := range b.Steps {
		text := b.Steps[n].Text
		if !b.Serial {
			text = w.once(text, b.label(n))
		}
		s.Does = append(s.Does, w.do(b.label(n), &b.Steps[n], text, f.blocks[n]))
	}
	return s
}

func (w *webPage) do(label string, s *Step, text string, blocks []block) html.RunbookDo {
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

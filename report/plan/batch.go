package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
)

// order is that of findings within a control plane or a group: what is Stale is
// replaced before a Ghost is drained, so that there is room for its load.
var order = []report.Status{report.Healthy, report.Unknown, report.Stale, report.Ghost}

// batches gathers the findings of one set that need the same at the same time.
func (pl *planner) batches(s *set, when string) []Batch {
	g := gathering{when: when}
	ms := make([]*report.Machine, 0, len(s.machines))
	for i := range s.machines {
		ms = append(ms, &s.machines[i])
	}
	slices.SortStableFunc(ms, func(x, y *report.Machine) int {
		return cmp.Compare(slices.Index(order, x.Status), slices.Index(order, y.Status))
	})
	drifted := -1 // the first batch of what an event left behind
	for _, m := range ms {
		at := g.add(string(m.Status)+m.Reason, pl.steps[m], Item{Name: m.Name, Detail: detail(m), Forecast: foreseen(m)}, s.title(), words(m))
		if drifted < 0 && (m.Status == report.Stale || m.Status == report.Ghost) {
			drifted = at
		}
	}
	out := g.finish()
	if drifted >= 0 && !pl.reported[s.id()] {
		out[drifted].Note = event(s)
		pl.reported[s.id()] = true
	}
	return out
}

// event recognises that Stale and Ghosts of one owner are one thing.
func event(s *set) string {
	switch {
	case s.rollout != nil:
		return s.rollout.Sentence()
	case s.counts.Stale > 0 && s.counts.Ghost > 0:
		return fmt.Sprintf("%d Stale and %d Ghost of one owner are most likely one event: machines that were replaced after the backup.", s.counts.Stale, s.counts.Ghost)
	default:
		return ""
	}
}

// words are what is said of a status in a title.
func words(m *report.Machine) string {
	text := string(m.Status)
	if m.Reason != "" {
		text += " (" + m.Reason + ")"
	}
	if m.Status == report.Healthy {
		reasons := make([]string, len(m.Warnings))
		for i, w := range m.Warnings {
			reasons[i] = w.Reason
		}
		text = strings.Join(reasons, ", ")
	}
	return text
}

// detail tells one machine from the next: where its VM is, or was.
func detail(m *report.Machine) string {
	var parts []string
	if i := m.Instance; i != nil {
		parts = append(parts, whereabouts(i))
	} else if m.ProviderID != "" {
		parts = append(parts, "recorded as "+m.ProviderID)
	}
	return strings.Join(parts, "; ")
}

// foreseen is what becomes of a machine if nobody does anything.
func foreseen(m *report.Machine) string {
	if m.Forecast == nil {
		return ""
	}
	text := m.Forecast.Outcome + ": " + m.Forecast.Message
	if m.Forecast.Condition != "" {
		text += "; " + m.Forecast.Condition
	}
	return text + "."
}

func whereabouts(i *report.Instance) string {
	parts := []string{cmp.Or(i.Path, i.Name), "id " + i.ID}
	if i.Ref != "" {
		parts = append(parts, "ref "+i.Ref)
	}
	if i.State != "" {
		parts = append(parts, i.State)
	}
	return strings.Join(parts, ", ")
}

// gathering collects batches of findings whose steps say the same.
type gathering struct {
	when    string
	batches []*pending
}

type pending struct {
	key, owner, words string
	texts             []report.Step
	items             []Item
}

// add puts a finding with steps at this time into the batch of its like, and
// says which that is; -1 without such steps.
func (g *gathering) add(kind string, steps []report.Step, item Item, owner, words string) int {
	var texts []report.Step
	key := kind
	for _, s := range steps {
		if s.When != g.when {
			continue
		}
		texts = append(texts, s)
		item.Commands = append(item.Commands, s.Commands)
		key += "\x00" + s.Who + "\x00" + s.Text
	}
	if len(texts) == 0 {
		return -1
	}
	i := slices.IndexFunc(g.batches, func(p *pending) bool { return p.key == key })
	if i < 0 {
		i = len(g.batches)
		g.batches = append(g.batches, &pending{key: key, owner: owner, words: words, texts: texts})
	}
	g.batches[i].items = append(g.batches[i].items, item)
	return i
}

func (g *gathering) finish() []Batch {
	out := make([]Batch, len(g.batches))
	for i, p := range g.batches {
		out[i] = Batch{Title: fmt.Sprintf("%s: %d %s", p.owner, len(p.items), p.words), Items: p.items}
		out[i].shareForecast()
		// What all do first is done once; what they do later is done by each in its turn.
		shared := len(p.items) > 1
		for n, t := range p.texts {
			step := report.Step{When: t.When, Who: t.Who, Text: t.Text}
			for _, item := range p.items {
				shared = shared && slices.Equal(item.Commands[n], t.Commands)
			}
			if shared {
				step.Commands = t.Commands
				for k := range p.items {
					p.items[k].Commands[n] = nil
				}
			}
			out[i].Steps = append(out[i].Steps, step)
		}
	}
	return out
}

// shareForecast says once what is foreseen for all.
func (b *Batch) shareForecast() {
	first := b.Items[0].Forecast
	for i := range b.Items {
		if b.Items[i].Forecast != first {
			return
		}
	}
	b.Forecast = first
	for i := range b.Items {
		b.Items[i].Forecast = ""
	}
}

// drop leaves of a step what it says instead.
func (b *Batch) drop(n int, text string) {
	b.Steps[n].Text, b.Steps[n].Commands = text, nil
	for i := range b.Items {
		b.Items[i].Commands[n] = nil
	}
}

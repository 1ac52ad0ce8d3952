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

// batches gathers the findings of some sets that need the same at the same time.
func (pl *planner) batches(all []*set, when string) []Batch {
	g := gathering{when: when}
	type member struct {
		*set
		*report.Machine
	}
	var ms []member
	for _, s := range all {
		for i := range s.machines {
			ms = append(ms, member{s, &s.machines[i]})
		}
	}
	slices.SortStableFunc(ms, func(x, y member) int {
		return cmp.Compare(slices.Index(order, x.Status), slices.Index(order, y.Status))
	})
	for _, m := range ms {
		item := Item{Name: m.Machine.Name, Detail: detail(m.Machine), Forecast: foreseen(m.Machine), words: wordsOf(m.Machine.Name, m.Node, m.set.name, m.Instance)}
		if m.Instance == nil {
			item.words["ID"] = recordedID(m.Machine)
		}
		if exist := m.counts.Healthy + m.counts.Ghost; !m.plane && (m.Status == report.Stale || m.Status == report.Ghost) && m.desired != nil && int64(exist) != *m.desired {
			item.Detail = strings.TrimPrefix(fmt.Sprintf("%s; %d wanted, %d exist", item.Detail, *m.desired, exist), "; ")
		}
		at := g.add(string(m.Status)+string(m.Machine.Reason), pl.steps[m.Machine], item, m.title(), words(m.Machine))
		if at < 0 {
			continue
		}
		found := g.batches[at]
		found.serial = m.plane || m.Status != report.Stale && m.Status != report.Healthy
		if text := event(m.set); text != "" && (m.Status == report.Stale || m.Status == report.Ghost) && !pl.reported[m.id()] {
			pl.reported[m.id()] = true
			found.notes = append(found.notes, strings.TrimPrefix(strings.TrimSuffix(m.title(), " "), " ")+": "+text)
		}
	}
	return g.finish()
}

// wordsOf are the words of commands that tell a machine from others.
func wordsOf(name, node, owner string, i *report.Instance) map[string]string {
	out := map[string]string{"NAME": name, "NODE": node, "OWNER": owner}
	if i != nil {
		out["ID"], out["VM"] = strings.ToLower(i.ID), i.Ref
	}
	return out
}

// event recognises that Stale and Ghosts of one owner are one thing.
func event(s *set) string {
	switch {
	case s.rollout != nil:
		return s.rollout.Sentence()
	case s.counts.Stale > 0 && s.counts.Ghost > 0:
		return fmt.Sprintf("%d Stale and %d Ghost of one owner are most likely one event: machines were replaced after the backup.", s.counts.Stale, s.counts.Ghost)
	default:
		return ""
	}
}

// words are what is said of a status in a title.
func words(m *report.Machine) string {
	text := string(m.Status)
	if m.Reason != "" {
		text += " (" + string(m.Reason) + ")"
	}
	if m.Status == report.Healthy {
		reasons := make([]string, len(m.Warnings))
		for i, w := range m.Warnings {
			reasons[i] = string(w.Reason)
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
	text := string(m.Forecast.Outcome) + ": " + m.Forecast.Message
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
	key, words string
	owners     []string
	notes      []string
	serial     bool
	texts      []report.Step
	items      []Item
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
		g.batches = append(g.batches, &pending{key: key, words: words, texts: texts})
	}
	if !slices.Contains(g.batches[i].owners, owner) {
		g.batches[i].owners = append(g.batches[i].owners, owner)
	}
	g.batches[i].items = append(g.batches[i].items, item)
	return i
}

func (g *gathering) finish() []Batch {
	out := make([]Batch, len(g.batches))
	for i, p := range g.batches {
		out[i] = Batch{Title: fmt.Sprintf("%s: %d %s", together(p.owners), len(p.items), p.words), Note: strings.Join(p.notes, " "), Items: p.items, Serial: p.serial}
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

// together names owners, of one kind once.
func together(owners []string) string {
	kind, _, _ := strings.Cut(owners[0], " ")
	out := slices.Clone(owners)
	for i := range out[1:] {
		out[i+1] = strings.TrimPrefix(out[i+1], kind+" ")
	}
	return listed(out)
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

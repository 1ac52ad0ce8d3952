package plan

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// order is that of findings within a control plane or a group: what is Stale is
// replaced before a Ghost is drained, so that there is room for its load.
var order = []code.Status{code.Healthy, code.Unknown, code.Stale, code.Ghost}

// findings returns the batches of a time: those of each cluster alone, what is done first for
// the etcd of several, and those of workers that several clusters have or that can wait
// until all clusters are back. The latter are in the order of their statuses, so that no
// Ghost is drained before what is Stale is replaced.
func (pl *planner) findings(when string) (own map[*report.Cluster][]Batch, common []Batch) {
	own = map[*report.Cluster][]Batch{}
	etcd, workers, plane := pl.gathering(when), pl.gathering(when), pl.gathering(when)
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if c.Self {
			continue
		}
		all := pl.sets(c)
		plane.room = len(all[0].machines)
		pl.gather(&plane, &etcd, all[:1])
		if len(plane.batches) > 0 {
			own[c] = plane.finish()
		}
		pl.gather(&workers, &etcd, all[1:])
	}
	slices.SortStableFunc(workers.batches, func(x, y *pending) int {
		return cmp.Compare(slices.Index(order, x.status), slices.Index(order, y.status))
	})
	for _, p := range slices.Concat(etcd.batches, workers.batches) {
		switch c := p.clusters[0]; {
		case len(p.clusters) > 1 || when == report.AfterRestore && (p.status == code.Stale || p.status == code.Ghost):
			common = append(common, p.batch())
		case p.status == "":
			own[c] = append([]Batch{p.batch()}, own[c]...)
		default:
			own[c] = append(own[c], p.batch())
		}
	}
	return own, common
}

// gather adds the findings of some sets of a cluster.
func (pl *planner) gather(g, etcd *gathering, all []*set) {
	for _, status := range order {
		for _, s := range all {
			for i := range s.machines {
				if m := &s.machines[i]; m.Status == status {
					pl.gatherOne(g, etcd, s, m)
				}
			}
		}
	}
}

func (pl *planner) gatherOne(g, etcd *gathering, s *set, m *report.Machine) {
	if len(pl.steps[m]) == 0 {
		return
	}
	if pl.texts { // nobody reads more of it than the number of its step
		pl.batched(g, etcd, s, m, Item{Name: m.Name, Clusters: s.in}, false)
		return
	}
	drifted := m.Status == code.Stale || m.Status == code.Ghost
	item := Item{Name: m.Name, Detail: detail(m), Forecast: foreseen(m), Outcome: outcome(m), Clusters: s.in, Words: wordsOf(m.Name, m.Node, s.name, m.Instance)}
	item.Words["NAMESPACE"], item.Words["CLUSTER"] = s.cluster.Namespace, s.cluster.Name
	if m.Instance == nil {
		item.Words["ID"] = report.InstanceID(m.ProviderID)
	}
	if exist := s.counts.Healthy + s.counts.Ghost; !s.plane && drifted && s.desired != nil && int64(exist) != *s.desired {
		item.Detail = strings.TrimPrefix(fmt.Sprintf("%s; %d desired, %d exist", item.Detail, *s.desired, exist), "; ")
	}
	text := event(s)
	later := func(step Step) bool { return g.when == report.BeforeRestore && step.When == report.AfterRestore }
	tell := drifted && text != "" && !pl.reported[s.id()] && !slices.ContainsFunc(pl.steps[m], later)
	if tell {
		item.Detail += ". " + strings.TrimSuffix(text, ".")
	}
	pl.batched(g, etcd, s, m, item, tell)
}

// batched puts a finding into its batch; tell says that it says what is behind all of its set.
func (pl *planner) batched(g, etcd *gathering, s *set, m *report.Machine, item Item, tell bool) {
	steps := pl.steps[m]
	if s.plane && g.when == report.BeforeRestore {
		steps = pl.etcdFirst(etcd, s.cluster, m, steps)
	}
	like, owner, said := likeness{backup: s.cluster.Backup, plane: s.plane, status: m.Status, reason: m.Reason}, "", ""
	if !pl.texts {
		owner, said = s.title(), words(m)
	}
	if found := g.add(like, steps, item, owner, said); found != nil {
		if !slices.Contains(found.clusters, s.cluster) {
			found.clusters = append(found.clusters, s.cluster)
		}
		found.status = m.Status
		found.serial = s.plane || m.Status != code.Stale && m.Status != code.Healthy
		if tell {
			pl.reported[s.id()] = true
		}
	}
}

// wordsOf returns the words of commands that tell a machine from others.
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

// words returns what is said of a status in a title.
func words(m *report.Machine) string {
	text := string(m.Status)
	if m.Reason != "" {
		text += " (" + string(m.Reason) + ")"
	}
	if m.Status == code.Healthy {
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
	if warned(m, code.DuplicateID) {
		for i := range m.Others {
			parts = append(parts, "the other VM is "+whereabouts(&m.Others[i]))
		}
		if m.MoreOthers > 0 {
			parts = append(parts, english.Count(m.MoreOthers, "more VM"))
		}
	}
	return strings.Join(parts, "; ")
}

// foreseen returns what becomes of a machine if nobody does anything.
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
	bare    bool // nobody asks for more of a batch than its number and what it is about
	room    int  // for the items of a batch, with those of the cluster that fills it
	batches []*pending
	at      map[likeness]*pending        // those that have room, and by the clusters of the last item those that are full
	of      map[*report.Cluster]*pending // what is done once for a cluster
	said    *said
}

func (pl *planner) gathering(when string) gathering {
	return gathering{when: when, bare: pl.texts, room: most + most/4, at: map[likeness]*pending{}, of: map[*report.Cluster]*pending{}, said: &pl.said}
}

// likeness is what findings of one batch have in common.
type likeness struct {
	backup          int
	plane           bool
	status          code.Status
	reason          code.Reason
	provider, scope string
	steps           int // who does what, by number
	full            bool
	clusters        string // of one that is full
}

// said numbers what steps say, and what all steps of a finding say: two numbers are equal
// where the texts are.
type said struct {
	step map[[2]string]int // by who and text
	all  map[string]int    // by the numbers of steps
	room []byte            // for the next
}

// of returns the number of the steps at a time; there are none where it is 0.
func (x *said) of(steps []Step, when string) int {
	if x.step == nil {
		x.step, x.all = map[[2]string]int{}, map[string]int{}
	}
	x.room = x.room[:0]
	for i := range steps {
		if steps[i].When == when {
			who := [2]string{steps[i].Who, steps[i].Text}
			n, known := x.step[who]
			if !known {
				n = len(x.step)
				x.step[who] = n
			}
			x.room = binary.AppendUvarint(x.room, uint64(n))
		}
	}
	if len(x.room) == 0 {
		return 0
	}
	n, known := x.all[string(x.room)]
	if !known {
		n = len(x.all) + 1
		x.all[string(x.room)] = n
	}
	return n
}

type pending struct {
	bare     bool
	words    string
	status   code.Status
	clusters []*report.Cluster
	owners   []string
	serial   bool
	texts    []Step
	items    []Item
}

// most is how many findings of several clusters one batch has: what is pasted stays
// short enough for a terminal, and the list for a person.
const most = 20

// add puts a finding with steps at this time into the batch of its like, and returns
// that; nil without such steps.
func (g *gathering) add(like likeness, steps []Step, item Item, owner, words string) *pending {
	if like.steps = g.said.of(steps, g.when); like.steps == 0 {
		return nil
	}
	full := like
	full.full, full.clusters = true, strings.Join(item.Clusters, "\x00")
	p := cmp.Or(g.at[full], g.at[like])
	if p == nil {
		p = &pending{bare: g.bare, words: words, texts: steps, items: make([]Item, 0, g.room)}
		if later := func(s Step) bool { return s.When != g.when }; slices.ContainsFunc(steps, later) {
			p.texts = slices.DeleteFunc(slices.Clone(steps), later)
		}
		g.batches = append(g.batches, p)
	}
	if !g.bare {
		for i := range steps {
			if steps[i].When == g.when {
				item.Commands = append(item.Commands, steps[i].Lines)
			}
		}
		if !slices.Contains(p.owners, owner) {
			p.owners = append(p.owners, owner)
		}
	}
	p.items = append(p.items, item)
	if len(p.items) >= most {
		if g.at[like] == p {
			delete(g.at, like)
		}
		like = full
	}
	g.at[like] = p
	return p
}

// finish returns the batches, and begins again.
func (g *gathering) finish() []Batch {
	out := make([]Batch, len(g.batches))
	for i, p := range g.batches {
		out[i] = p.batch()
	}
	g.batches = g.batches[:0]
	clear(g.at)
	clear(g.of)
	return out
}

// batch has once what all do first; what they do later is done by each in its turn. One of
// several clusters is never a loop: some of them may not be unpaused yet.
func (p *pending) batch() Batch {
	if p.bare {
		return p.numbered()
	}
	b := Batch{Title: fmt.Sprintf("%s: %d %s", together(p.owners), len(p.items), p.words), Items: p.items, Serial: p.serial || len(p.clusters) > 1}
	switch {
	case len(p.clusters) == 1:
		b.Cluster = key(p.clusters[0])
	case len(p.clusters) > 1 && p.status != "":
		b.Title = fmt.Sprintf("Workers of %s: %d %s", english.Count(len(p.clusters), "cluster"), len(p.items), p.words)
		for i := range b.Items {
			of := b.Items[i].Clusters[0]
			if slices.ContainsFunc(p.clusters, func(c *report.Cluster) bool { return key(c) == of && c.Paused }) {
				of += ", which is paused"
			}
			b.Items[i].Detail = strings.TrimSuffix("cluster "+of+"; "+b.Items[i].Detail, "; ")
		}
	}
	b.shareForecast()
	shared := len(p.items) > 1
	for n, t := range p.texts {
		step := Step{Step: report.Step{When: t.When, Who: t.Who, Text: t.Text}, kind: t.kind}
		for _, item := range p.items {
			shared = shared && slices.EqualFunc(item.Commands[n], t.Commands, func(c shell.Command, text string) bool { return c.Text() == text })
		}
		if shared {
			step.Commands, step.Lines = t.Commands, t.Lines
			for k := range p.items {
				p.items[k].Commands[n] = nil
			}
		}
		b.Steps = append(b.Steps, step)
	}
	return b
}

// numbered returns a batch of which only the number is read, and what it is about.
func (p *pending) numbered() Batch {
	b := Batch{Items: p.items, Steps: p.texts}
	if len(p.clusters) == 1 {
		b.Cluster = key(p.clusters[0])
	}
	return b
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
	b.Forecast, b.Outcome = first, b.Items[0].Outcome
	for i := range b.Items {
		b.Items[i].Forecast = ""
	}
}

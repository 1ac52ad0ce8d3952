package text

import (
	"fmt"
	"maps"
	"slices"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// What the restored controllers will do: the restore as a whole has a section of
// its own, a machine its line.

// maxNoteClusters is how many clusters a note names before it counts the rest.
const maxNoteClusters = 5

// forecast prints what to know before the restore that is not of a single machine.
// A rollout stands with the machines that it touched.
func (p printer) forecast(r *report.Report, all bool) {
	f := r.Summary.Forecast
	if f == nil {
		return
	}
	p.Title("AFTER THE RESTORE")
	if len(f.Outcomes) > 0 {
		p.Print(2, 4, terminal.Lead(terminal.Bold, "Outcomes", 0).Items(terminal.Plain, outcomeWords(f.Outcomes)...))
	}
	for _, n := range f.Notes {
		if n.Code != report.NotHealing { // a fact of the answer
			p.note(&n, nil, 0)
		}
	}
	for _, n := range r.ClusterNotes() {
		if n.Code == report.RolledOut {
			continue
		}
		most := len(n.Clusters)
		if !all {
			most = min(most, maxNoteClusters)
		}
		p.note(&n.Note, n.Clusters[:most], len(n.Clusters)-most)
	}
}

// note prints a note with the clusters that it is of, and how many more it is of.
func (p printer) note(n *report.Note, clusters []string, more int) {
	row := terminal.Lead(terminal.Yellow, "?", 0).Field(terminal.Plain, n.Code)
	if len(clusters) > 0 {
		row = row.Field(terminal.Bold, listedNames(clusters)...)
	}
	if more > 0 {
		row = row.Prose(terminal.Dim, fmt.Sprintf("and %d more", more))
	}
	p.Print(2, 4, row.Prose(terminal.Plain, n.Sentence()))
}

func outcomeWords(counts map[string]int) []string {
	var out []string
	for _, o := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[o]; n > 0 {
			out = append(out, fmt.Sprint(n, " ", o))
		}
	}
	return out
}

// listedNames are names with commas between them, each of which stays whole.
func listedNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = terminal.Quoted(n)
		if i < len(names)-1 {
			out[i] += ","
		}
	}
	return out
}

// plainOutcomes are what becomes of a machine as its verdict alone lets expect.
var plainOutcomes = map[report.Status]string{report.Healthy: report.Adopted, report.Ghost: report.GhostKeepsRunning, report.Unknown: report.CannotKnow}

// fates prints what becomes of the machines of one cluster. A reason is printed once:
// of what a cluster lacks, all its machines have the same to say.
type fates struct {
	said map[string]bool
	all  bool // print every reason
}

func newFates(all bool) *fates { return &fates{said: map[string]bool{}, all: all} }

// add adds to the line of a machine what its verdict does not say already.
func (t *fates) add(l terminal.Line, m *report.Machine) terminal.Line {
	f := m.Forecast
	if f == nil || m.Unsupported() {
		return l
	}
	plain := plainOutcomes[m.Status] == f.Outcome
	text := f.Outcome
	switch {
	case plain && (f.Condition == "" || m.Status == report.Unknown):
		return l
	case plain:
		text += ", " + f.Condition
	default:
		text = join("; ", join(": ", text, f.Message), f.Condition)
	}
	if t.said[text] && !t.all {
		return l.Prose(terminal.Plain, "after the restore: "+f.Outcome+", as above")
	}
	t.said[text] = true
	return l.Prose(terminal.Plain, "after the restore: "+text)
}

// rollout prints the one event behind many machines, and those of them of which
// there is nothing more to say by their names alone. It returns the others.
func (p printer) rollout(s *report.Set, ms []*report.Machine, fate *fates) []*report.Machine {
	if s.Rollout == nil {
		return ms
	}
	p.Print(4, 8, terminal.Lead(terminal.Yellow, "? RolledOut", 0).Prose(terminal.Plain, s.Rollout.Sentence()))
	var alike, rest []*report.Machine
	for _, m := range ms {
		if m.Forecast != nil && m.Forecast.RolledOut && len(m.Warnings)+len(m.Others) == 0 {
			alike = append(alike, m)
		} else {
			rest = append(rest, m)
		}
	}
	if fate.all || len(alike) <= foldAbove {
		return ms
	}
	for _, group := range byOutcome(alike) {
		p.names(group, fate)
	}
	p.hint("--debug lists each with its VM and its ids")
	return rest
}

// byOutcome puts machines together that have verdict, reason and outcome in
// common, and keeps their order.
func byOutcome(ms []*report.Machine) [][]*report.Machine {
	var out [][]*report.Machine
	at := map[[3]string]int{}
	for _, m := range ms {
		k := [3]string{string(m.Status), m.Reason, m.Forecast.Outcome}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], m)
	}
	return out
}

// names prints machines by their names, and what becomes of them.
func (p printer) names(ms []*report.Machine, fate *fates) {
	m := ms[0]
	l := lookOf(m.Status)
	names := make([]string, len(ms))
	same := true
	for i := range ms {
		names[i] = ms[i].Name
		same = same && *ms[i].Forecast == *m.Forecast
	}
	row := terminal.Lead(l.style, l.mark+" "+string(m.Status), statusWidth)
	if m.Reason != "" {
		row = row.Field(l.style, m.Reason)
	}
	row = row.Field(terminal.Plain, listedNames(names)...)
	if same {
		row = fate.add(row, m)
	} else if m.Forecast.Outcome != plainOutcomes[m.Status] {
		row = row.Prose(terminal.Plain, "after the restore: "+m.Forecast.Outcome)
	}
	p.Print(4, 8, row)
}

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// TextOptions say how Text looks, never what it says about counts and verdicts.
type TextOptions struct {
	Color bool // colour beside the marks; for terminals
	Width int  // columns; 0 is 80, the least is 40
	All   bool // list healthy machines one by one too, and fold nothing
}

// Text writes the report for a person, the answer first: is it safe to restore,
// what to do, the counts, a line per cluster, then every finding by urgency. All
// that comes from outside is escaped. It returns the first error of the writer.
func Text(w io.Writer, r *Report, o TextOptions) error {
	p := newPrinter(w, o)
	p.answer(r)
	p.counts(r)
	p.clusters(r)
	p.findings(r, o.All)
	p.infraMachines(r)
	p.scopes(r)
	p.missing(r)
	p.checks(r, o.All)
	p.errors(r)
	return p.Flush()
}

// look is the mark and the colour of a status: the mark says the same as the
// colour, and the word itself is always beside both.
type look struct {
	mark  string
	style style
	rank  int // by urgency, most urgent first
}

var looks = map[string]look{
	Ghost:   {"!", red, 0},
	Unknown: {"?", yellow, 1},
	Stale:   {"-", yellow, 2},
	Healthy: {"=", green, 3},

	ManualRemediationRequired:            {"!", red, 0},
	NeedFurtherConfirmation:              {"?", yellow, 1},
	NeedFurtherConfirmationInfraMachines: {"?", yellow, 1},
	ManualRemediationNotRequired:         {"-", yellow, 2},
}

func lookOf(status string) look {
	if l, ok := looks[status]; ok {
		return l
	}
	return looks[Unknown]
}

var answers = map[string]string{
	Healthy:                              "YES",
	ManualRemediationNotRequired:         "YES, AND SOME MACHINES NEED REPLACEMENT AFTERWARDS",
	NeedFurtherConfirmationInfraMachines: "CONFIRM FIRST",
	NeedFurtherConfirmation:              "NOT CLEAR YET",
	ManualRemediationRequired:            "NOT WITHOUT MANUAL WORK",
}

func (p *printer) answer(r *Report) {
	l := lookOf(r.Summary.Status)
	answer := cmp.Or(answers[r.Summary.Status], answers[NeedFurtherConfirmation])
	if r.Summary.Machines.Total == 0 && r.Summary.Status == Healthy && tally(r).pools == 0 {
		answer = "NOTHING TO COMPARE"
	}
	p.print(0, 4, lead(bold, "Safe to restore?", 0).prose(l.style, answer))
	p.print(0, 4, lead(plain, "Status:", 0).prose(l.style, r.Summary.Status))
	p.newline()
	for _, f := range facts(r) {
		l := lookOf(f.status)
		p.print(2, 4, lead(l.style, l.mark, 0).prose(plain, f.text))
	}
}

// fact is one sentence of the answer, marked like the status it speaks of.
type fact struct{ status, text string }

func facts(r *Report) []fact {
	t := tally(r)
	m := r.Summary.Machines
	var out []fact
	say := func(n int, status, one, many string) {
		switch {
		case n == 1:
			out = append(out, fact{status, "1 " + one})
		case n > 1:
			out = append(out, fact{status, fmt.Sprintf("%d %s", n, many)})
		}
	}
	const ghost = "that the backup does not know (Ghost). Restored controllers will not manage it: take a newer backup if there is one, else remove it by hand after the restore."
	say(m.Ghost, Ghost, "VM exists "+ghost, "VMs exist "+strings.ReplaceAll(ghost, " it", " them"))
	say(t.ghostControlPlane, Ghost,
		"of the Ghosts is a control plane machine: the restored KubeadmControlPlane may remove its etcd member. Plan for that before the restore.",
		"of the Ghosts are control plane machines: the restored KubeadmControlPlane may remove their etcd members. Plan for that before the restore.")
	say(m.Unknown-t.unsupported, Unknown,
		"machine could not be decided (Unknown). Below it says why; settle that and run again.",
		"machines could not be decided (Unknown). Below each says why; settle that and run again.")
	say(t.unsupported, Unknown,
		"machine is of a provider that is not supported: nothing is known about it.",
		"machines are of a provider that is not supported: nothing is known about them.")
	const stale = "no VM (Stale). A MachineHealthCheck that covers %s replaces it after the restore; without one, delete the Machine then and its owner makes a new one."
	say(m.Stale, Stale, "machine of the backup has "+fmt.Sprintf(stale, "it"), "machines of the backup have "+fmt.Sprintf(stale, "a machine"))
	if f := r.Summary.Forecast; f != nil {
		say(f.NotHealing, Stale,
			"of the Stale will not heal by itself after the restore: no controller replaces it, and it counts as a replica. Its forecast says why.",
			"of the Stale will not heal by themselves after the restore: no controller replaces them, and they count as replicas. Their forecasts say why.")
	}
	say(t.staleControlPlane, Stale,
		"of the Stale is a control plane machine: see that etcd keeps its quorum before you delete it.",
		"of the Stale are control plane machines: see that etcd keeps its quorum before you delete one.")
	say(t.poolsAbsent, Unknown,
		"machine pool was not found: restored controllers will make it anew, with new machines.",
		"machine pools were not found: restored controllers will make them anew, with new machines.")
	say(t.poolsUndecided, Unknown,
		"machine pool could not be decided, below it says why.", "machine pools could not be decided, below each says why.")
	say(r.Summary.Resources.Absent, Unknown,
		"resource that machines are made of is gone: replacing a machine will fail there, see below.",
		"resources that machines are made of are gone: replacing a machine will fail there, see below.")
	say(r.Summary.InfraMachines, Unknown,
		"VM may or may not belong to a cluster of the backup: ask its owner.",
		"VMs may or may not belong to a cluster of the backup: ask their owners.")
	warnings := strings.Join(slices.Sorted(maps.Keys(t.warnings)), ", ")
	say(t.warned, Unknown, "machine carries a warning: "+warnings+".", "machines carry warnings: "+warnings+".")
	say(t.missing, Unknown, "thing is missing in the backup, see below.", "things are missing in the backup, see below.")
	say(len(r.otherErrors()), Unknown, "error occurred, see below.", "errors occurred, see below.")
	if !r.Summary.Complete {
		out = append(out, fact{Unknown, "Not everything could be looked at, so this is not the whole picture. What was not seen is Unknown, never Stale."})
	}
	switch {
	case m.Total == 0 && t.pools > 0:
	case m.Total == 0:
		out = append(out, fact{r.Summary.Status, "The backup holds no machine that could be compared."})
	case m.Healthy == m.Total:
		out = append(out, fact{Healthy, "Every machine of the backup has its VM."})
	}
	return out
}

// tallies are numbers that the answer needs besides the summary's.
type tallies struct {
	ghostControlPlane, staleControlPlane, unsupported, warned, missing int
	pools, poolsAbsent, poolsUndecided                                 int
	warnings                                                           map[string]bool // their reasons
}

func tally(r *Report) tallies {
	t := tallies{warnings: map[string]bool{}}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		for _, s := range c.sets() {
			if s.pool != nil {
				t.pools++
				t.poolsAbsent += one(s.pool.State == Absent)
				t.poolsUndecided += one(s.pool.State != Absent && s.pool.State != Present)
			}
			for j := range s.machines {
				m := &s.machines[j]
				t.ghostControlPlane += one(m.Status == Ghost && m.Role == "control-plane")
				t.staleControlPlane += one(m.Status == Stale && m.Role == "control-plane")
				t.unsupported += one(m.unsupported())
				t.warned += one(len(m.Warnings) > 0)
				for _, w := range m.Warnings {
					t.warnings[w.Reason] = true
				}
			}
		}
	}
	for i := range r.Backups {
		t.missing += len(r.Backups[i].Missing)
	}
	return t
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

const label = 11 // width of the labels of the counts

func (p *printer) counts(r *Report) {
	p.newline()
	row := func(name string, items ...string) {
		p.print(0, label+1, lead(bold, name, label).items(plain, items...))
	}
	s := &r.Summary
	row("Machines", first(fmt.Sprintf("%d in %s:", s.Machines.Total, plural(s.Clusters.Total, "cluster")), s.Machines.words())...)
	row("Clusters", first(fmt.Sprintf("%d:", s.Clusters.Total), s.Clusters.words())...)
	row("Other VMs", fmt.Sprintf("%d to confirm", s.InfraMachines),
		fmt.Sprintf("%d excluded%s", total(s.Excluded), listed(s.Excluded)),
		fmt.Sprintf("%d out of scope%s", s.OutOfScope, listed(s.ForeignTags)))
	for i := range r.Scopes {
		c := &r.Scopes[i]
		row("Looked at", c.title()+": "+c.State, plural(c.Instances, "VM"))
	}
	if text := r.nodeLists(); text != "" {
		row("Node lists", text)
	}
	for _, b := range r.Backups {
		p.print(0, label+1, lead(bold, "Backup", label).field(plain, quoted(b.Path)).items(plain,
			fmt.Sprintf("written %s to %s", stamp(b.WrittenFrom), stamp(b.WrittenTo)), plural(b.Items, "object")))
	}
}

// first puts a word before the first of a list.
func first(word string, list []string) []string {
	list[0] = word + " " + list[0]
	return list
}

// nodeLists says how many clusters were asked for their Nodes and answered.
func (r *Report) nodeLists() string {
	if r.Options.SkipNodes {
		return "not read, as asked"
	}
	asked, read := 0, 0
	for i := range r.Clusters {
		asked += one(r.Clusters[i].Nodes.State != "")
		read += one(r.Clusters[i].Nodes.State == "read")
	}
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s read", read, plural(asked, "cluster"))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// words tells all four, most urgent first, so that none is missed by not being there.
func (n MachineCounts) words() []string {
	return []string{
		fmt.Sprint(n.Ghost, " ", Ghost), fmt.Sprint(n.Unknown, " ", Unknown), fmt.Sprint(n.Stale, " ", Stale), fmt.Sprint(n.Healthy, " ", Healthy),
	}
}

// brief tells those that there are.
func (n MachineCounts) brief() string {
	return join(", ", some(n.Ghost, Ghost), some(n.Unknown, Unknown), some(n.Stale, Stale), some(n.Healthy, Healthy))
}

func (n ClusterCounts) words() []string {
	list := present(
		some(n.ManualRemediationRequired, ManualRemediationRequired),
		some(n.NeedFurtherConfirmation, NeedFurtherConfirmation),
		some(n.ManualRemediationNotRequired, ManualRemediationNotRequired),
		some(n.Healthy, Healthy))
	if len(list) == 0 {
		list = []string{"none"}
	}
	return list
}

func some(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

func present(parts ...string) []string {
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

func join(sep string, parts ...string) string { return strings.Join(present(parts...), sep) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// listed tells the parts of a count: " (10 template, 2 vCLS)".
func listed(counts map[string]int) string {
	parts := make([]string, 0, len(counts))
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, some(counts[k], k))
	}
	if s := join(", ", parts...); s != "" {
		return " (" + s + ")"
	}
	return ""
}

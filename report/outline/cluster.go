package outline

import (
	"cmp"
	"fmt"
	"iter"

	"drift-detector/internal/english"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Cluster is a cluster with all that is said about it.
type Cluster struct {
	Item
	Of        *report.Cluster
	Backup    int // the number of its backup, 0 when there is only one
	Sets      []Set
	Resources []Item // what a restore depends on; Minor when it exists
}

// Set is a control plane or a group of workers.
type Set struct {
	Item         // Name is its title, Text what is said about its pool or rollout
	Brief string // its machines by status, how many there should be
	// Machines have the most urgent first; Minor ones need no line of their own.
	Machines []Item
	Unlisted int // Healthy machines that the report leaves out
	Pool     *report.Pool
}

// Clusters makes one cluster after the other, the worst first.
func Clusters(r *report.Report) iter.Seq[*Cluster] {
	return func(yield func(*Cluster) bool) {
		for _, c := range worstFirst(r) {
			if !yield(cluster(r, c)) {
				return
			}
		}
	}
}

func cluster(r *report.Report, c *report.Cluster) *Cluster {
	out := &Cluster{
		Item: Item{Mark: code.Mark(c.Status), Status: string(c.Status), Name: c.Title(), Minor: true},
		Of:   c,
	}
	if len(r.Backups) > 1 {
		out.Backup = c.Backup + 1
	}
	if c.Self {
		out.Aside = "the management cluster itself, not counted"
	}
	for _, s := range c.Sets() {
		t := set(c, &s)
		out.Minor = out.Minor && t.Minor
		out.Sets = append(out.Sets, t)
	}
	for i := range c.Resources {
		it := resource(c, &c.Resources[i])
		out.Minor = out.Minor && it.Minor
		out.Resources = append(out.Resources, it)
	}
	sorting.StableBy(out.Sets, func(a, b Set) int { return cmp.Compare(a.rank(), b.rank()) })
	out.Facts = remarks(r, c)
	return out
}

// set makes a set; it is Minor when there is nothing to say about it or its machines.
func set(c *report.Cluster, s *report.Set) Set {
	out := Set{
		Item:  Item{Code: string(s.Reason), Name: s.Title, Cluster: c.Title(), Mark: code.Mark(code.Healthy)},
		Brief: brief(s), Pool: s.Pool, Unlisted: s.Counts.Healthy,
	}
	if c.Self {
		out.Aside = "the management cluster itself, not counted"
	}
	if s.Pool != nil {
		out.Text = s.Pool.Message
	}
	if s.Reason != "" {
		out.Mark = "?"
	}
	out.Minor = out.Code+out.Text == "" && s.Rollout == nil
	if s.Rollout != nil {
		out.Facts = []Fact{{Code: string(code.RolledOut), Text: s.Rollout.Sentence()}}
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Status == code.Healthy {
			out.Unlisted--
		}
		it := machineItem(c, s.Title, m)
		if m.Ignored != nil {
			it.Aside, it.Minor = "set aside by an ignore rule: "+m.Ignored.Reason, true
		}
		out.Minor = out.Minor && it.Minor
		out.Machines = append(out.Machines, it)
	}
	out.Unlisted = max(out.Unlisted, 0) // a report that was changed by hand may count too few
	sorting.StableBy(out.Machines, func(a, b Item) int { return cmp.Compare(a.rank(), b.rank()) })
	return out
}

// rank orders machines: those with something to say by urgency, then the others.
func (i *Item) rank() int {
	if i.Minor {
		return 10 + code.Urgency(code.Status(i.Status))
	}
	return code.Urgency(code.Status(i.Status))
}

// rank of a set is that of its most urgent machine.
func (s *Set) rank() int {
	rank := 20
	if s.Code != "" {
		rank = code.Urgency(code.Unknown)
	}
	if len(s.Machines) > 0 {
		rank = min(rank, s.Machines[0].rank())
	}
	return rank
}

func resource(c *report.Cluster, r *report.Resource) Item {
	it := Item{
		Mark: code.Mark(code.Unknown), Status: string(r.State), Kind: r.Kind, Name: r.Name, Cluster: c.Title(), Text: r.Message,
		Facts: fact("Named by", r.UsedBy), What: "resources", Most: 10, names: r.State != code.Absent,
	}
	if r.State == code.Present {
		it.Mark, it.Minor = code.Mark(code.Healthy), true
	}
	if c.Self {
		it.Aside = "the management cluster itself, not counted"
	}
	return it
}

// brief says what a set holds: its machines, the members of its pool, how many there
// should be.
func brief(s *report.Set) string {
	text := Counts(s.Counts)
	if p := s.Pool; p != nil {
		members := "members not known"
		if p.State == code.Present || p.State == code.Absent || len(p.Now) > 0 {
			members = english.Count(len(p.Now), "member")
		}
		text = english.Join(", ", text, members)
	}
	if s.Desired != nil {
		text = english.Join(" ", text, fmt.Sprintf("(%d desired)", *s.Desired))
	}
	return text
}

// Counts lists the counts that are not zero, the most urgent first.
func Counts(n report.MachineCounts) string {
	return english.Join(", ", some(n.Ghost, string(code.Ghost)), some(n.Unknown, string(code.Unknown)), some(n.Stale, string(code.Stale)), some(n.Healthy, string(code.Healthy)))
}

func some(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// remarks returns what is said about a cluster as a whole.
func remarks(r *report.Report, c *report.Cluster) []Fact {
	var out []Fact
	say := func(yes bool, text string) {
		if yes {
			out = append(out, Fact{Text: text})
		}
	}
	unsupported := c.Unsupported()
	say(unsupported > 0, "provider not supported: "+some(unsupported, string(code.Unknown)))
	if unsupported > 0 && unsupported == c.Counts.Total {
		return out
	}
	cp := &c.ControlPlane
	say(!cp.Applicable && cp.Reason == "" && cp.Counts.Total == 0, "control plane without machines")
	ignored := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			if s.Machines[i].Ignored != nil {
				ignored++
			}
		}
	}
	say(ignored > 0, fmt.Sprintf("%d set aside by ignore rules", ignored))
	say(len(r.Backups) > 1, fmt.Sprintf("%s %d", r.Subject(), c.Backup+1))
	say(c.Paused, "paused")
	say(c.Self, "the management cluster itself, not counted")
	say(c.Derived, "no Cluster object in the "+r.Subject())
	if text := nodeList(r, c); text != "" {
		out = append(out, fact("Node list", text)...)
	}
	if c.Forecast != nil {
		out = append(out, fact("After the restore", c.Forecast.Text)...)
	}
	return out
}

// nodeList says why the cluster's Nodes were not read; of a run without Node lists that
// is said once, in the counts.
func nodeList(r *report.Report, c *report.Cluster) string {
	switch c.Nodes.State {
	case "", report.NodesRead:
		return ""
	case report.NodesSkipped:
		if r.Options.SkipNodes {
			return ""
		}
		return "skipped"
	case report.NodesNoKubeconfig:
		if r.IsLive() && c.Nodes.Error != "" { // which may be that nobody could look
			return english.Join(": ", "not read", c.Nodes.Error)
		}
		return english.Join(": ", "not read: no kubeconfig in the "+r.Subject(), c.Nodes.Error)
	}
	return english.Join(": ", "not read", c.Nodes.State, c.Nodes.Error)
}

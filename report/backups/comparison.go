package backups

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Comparison is what each of the newest backups is like beside the infrastructure, which
// was listed once for all of them, and which one to restore.
type Comparison struct {
	ListedAt time.Time `json:"listedAt"`
	Complete bool      `json:"complete"` // every place was listed, and every backup read
	Choice
	Compared []*Compared `json:"compared"` // the newest first
	// ManagementClusters are those that the backups are of, where they are known to be of
	// several: no backup says which of them is lost, and Best is empty.
	ManagementClusters []ManagementCluster `json:"managementClusters,omitempty"`
	// Borrowed says for which places of older backups a newer one gave the credential.
	Borrowed []string `json:"borrowed"`

	again string // see Document.Again
}

// Choice is which of some backups to restore.
type Choice struct {
	Best string `json:"best,omitempty"` // its name
	Why  string `json:"why"`
	// Clusters are those that another backup than Best has better, or that Best lacks.
	Clusters []ClusterChoice `json:"clusters"`

	best *Compared
}

// Compared is one backup beside the infrastructure: what detect says of it alone.
type Compared struct {
	Name     string               `json:"name"`
	Place    string               `json:"place"`
	Safe     code.Safe            `json:"safe,omitempty"`
	Answer   string               `json:"answer,omitempty"` // Safe as people read it
	Complete bool                 `json:"complete"`
	Machines report.MachineCounts `json:"machines"`
	Confirm  int                  `json:"infraMachines"` // VMs that may belong to a cluster
	Clusters int                  `json:"clusters"`
	Lacks    []string             `json:"lacks"`           // errors that check finds, by code
	Missing  []string             `json:"missingClusters"` // that run or may run, and that other backups have
	Error    string               `json:"error,omitempty"` // why it could not be read
	// KubeSystemUID is the uid of Namespace kube-system in it, if it holds that.
	KubeSystemUID string `json:"kubeSystemUID,omitempty"`

	clusters map[string]clusterState
	unplaced int // see clusterState
}

// ClusterChoice is the backup that is best for one cluster.
type ClusterChoice struct {
	Cluster string `json:"cluster"` // namespace/name
	Best    string `json:"best"`
	Why     string `json:"why"`
}

// clusterState is one cluster in one backup.
type clusterState struct {
	counts report.MachineCounts
	runs   bool // something of it was seen: a VM, a Node or an instance of a pool
	// unplaced are VMs that with another backup are the cluster's, and with this one
	// nobody's: a backup that lacks machines knows of no Ghost, either.
	unplaced int
}

// mayRun reports whether it is not known that all of the cluster is gone.
func (s clusterState) mayRun() bool { return s.runs || s.counts.Unknown > 0 }

func stateOf(k *report.Cluster) clusterState {
	s := clusterState{counts: k.Counts, runs: k.Counts.Healthy+k.Counts.Ghost+k.Nodes.Count > 0}
	for i := range k.Workers.Groups {
		if p := k.Workers.Groups[i].Pool; p != nil && len(p.Now) > 0 {
			s.runs = true
		}
	}
	return s
}

// Of takes from the report on a backup what the comparison needs.
func Of(name, place string, r *report.Report) *Compared {
	answer := r.Answer()
	c := &Compared{
		Name: name, Place: place, Answer: answer.Safe, Safe: code.Unclear, Complete: r.Summary.Complete,
		Machines: r.Summary.Machines, Confirm: r.Summary.InfraMachines, Clusters: r.Summary.Clusters.Total,
		clusters: map[string]clusterState{},
	}
	if a := r.Summary.Answer; a != nil {
		c.Safe = a.Safe
	}
	for i := range r.Backups {
		c.KubeSystemUID = r.Backups[i].KubeSystemUID
	}
	for i := range r.Checks {
		if f := &r.Checks[i]; f.Error() && !slices.Contains(c.Lacks, string(f.Code)) {
			c.Lacks = append(c.Lacks, string(f.Code))
		}
	}
	for i := range r.Clusters {
		if k := &r.Clusters[i]; !k.Self {
			c.clusters[k.Namespace+"/"+k.Name] = stateOf(k)
		}
	}
	return c
}

// Unreadable is a backup that could not be read.
func Unreadable(name, place string, err error) *Compared {
	return &Compared{Name: name, Place: place, Error: err.Error()}
}

// measure is one thing by which one backup is better than another, less being better, and
// how to say so.
type measure struct {
	of  func(*Compared) int
	say func(best, other *Compared) string
}

var safest = []code.Safe{code.Yes, code.WithWork, code.Unclear, code.No}

// measures are in order: the first that differs decides. What is equal in all of them is
// decided by age, for the newest. A Ghost is worse than any number of Stale machines, which
// are made again.
var measures = []measure{
	{func(c *Compared) int { return min(len(c.Error), 1) }, func(_, o *Compared) string { return "can't be read" }},
	{func(c *Compared) int { return len(c.Missing) }, func(_, o *Compared) string {
		return "lacks " + english.First(3, o.Missing) + ", which other backups have and which runs, or may run"
	}},
	{func(c *Compared) int { return len(c.Lacks) }, func(_, o *Compared) string {
		return "has " + english.Count(len(o.Lacks), "error") + " in itself: " + english.First(3, o.Lacks)
	}},
	{func(c *Compared) int { return slices.Index(safest, c.Safe) }, func(b, o *Compared) string { return "is safe to restore: " + o.Answer + ", and this one: " + b.Answer }},
	{func(c *Compared) int { return c.Machines.Unknown + c.unplaced }, func(b, o *Compared) string {
		if o.unplaced+b.unplaced > 0 {
			return more(o.Machines.Unknown+o.unplaced, b.Machines.Unknown+b.unplaced, "Unknown or not in it")
		}
		return more(o.Machines.Unknown, b.Machines.Unknown, "Unknown")
	}},
	{func(c *Compared) int { return c.Machines.Ghost }, func(b, o *Compared) string { return more(o.Machines.Ghost, b.Machines.Ghost, "Ghost") }},
	{func(c *Compared) int { return c.Machines.Stale }, func(b, o *Compared) string { return more(o.Machines.Stale, b.Machines.Stale, "Stale") }},
	{func(c *Compared) int { return c.Confirm }, func(b, o *Compared) string {
		return fmt.Sprintf("has %s to confirm, and this one %d", english.Count(o.Confirm, "VM"), b.Confirm)
	}},
}

func more(n, instead int, what string) string {
	return fmt.Sprintf("has %d %s, and this one %d", n, what, instead)
}

// difference is the first measure by which two backups differ, and which way.
func difference(a, b *Compared) (m *measure, d int) {
	for i := range measures {
		if d := measures[i].of(a) - measures[i].of(b); d != 0 {
			return &measures[i], d
		}
	}
	return nil, 0
}

// Choose says which backup to restore, as a whole and for each cluster; of each management
// cluster, where they are of several. compared are the newest first.
func Choose(compared []*Compared) *Comparison {
	c := &Comparison{Compared: compared, Borrowed: []string{}, Complete: true}
	c.ManagementClusters = managementClusters(compared)
	if n := len(c.ManagementClusters); n > 0 {
		c.Choice = Choice{Clusters: []ClusterChoice{}, Why: fmt.Sprintf("these are of %s, by the uid of Namespace kube-system; choose the one that is lost", english.Count(n, "management cluster"))}
	} else {
		c.Choice = choose(compared)
	}
	for _, b := range compared {
		b.Lacks, b.Missing = append([]string{}, b.Lacks...), append([]string{}, b.Missing...)
		c.Complete = c.Complete && b.Complete && b.Error == ""
	}
	return c
}

// choose says which of the backups of a management cluster to restore.
func choose(compared []*Compared) Choice {
	fillMissing(compared)
	fillUnplaced(compared)
	best := compared[0]
	for _, b := range compared {
		if _, d := difference(b, best); d < 0 {
			best = b
		}
	}
	if best.Error != "" {
		return Choice{Why: "no backup could be read", Clusters: []ClusterChoice{}}
	}
	c := Choice{best: best, Best: best.Name, Why: "it is the newest, and no other is better", Clusters: chooseClusters(compared, best)}
	if newest := compared[0]; newest != best {
		m, _ := difference(newest, best)
		c.Why = "the newest, " + newest.Name + ", " + m.say(best, newest)
	}
	if best.Safe != code.Yes {
		c.Why += "; even so the answer is " + best.Answer + ": see its report first"
	}
	return c
}

// fillMissing notes the clusters that a backup lacks. One of which nobody knows whether it
// runs may have been deleted before a newer backup; it was there before an older one.
func fillMissing(compared []*Compared) {
	runs, newer := map[string]bool{}, map[string]bool{}
	for _, b := range compared {
		for name, s := range b.clusters {
			runs[name] = runs[name] || s.runs
		}
	}
	for _, b := range compared {
		for name, s := range b.clusters {
			newer[name] = newer[name] || s.mayRun()
		}
		for _, name := range slices.Sorted(maps.Keys(runs)) {
			if _, has := b.clusters[name]; !has && b.Error == "" && (runs[name] || newer[name]) {
				b.Missing = append(b.Missing, name)
			}
		}
	}
}

// fillUnplaced counts the VMs that a backup does not know of: all are compared with the
// same VMs.
func fillUnplaced(compared []*Compared) {
	running := map[string]int{}
	for _, b := range compared {
		for name, s := range b.clusters {
			running[name] = max(running[name], s.counts.Healthy+s.counts.Ghost)
		}
	}
	for _, b := range compared {
		for name, s := range b.clusters {
			s.unplaced = max(0, running[name]-s.counts.Healthy-s.counts.Ghost-s.counts.Unknown)
			b.clusters[name] = s
			b.unplaced += s.unplaced
		}
	}
}

// chooseClusters finds the clusters that another backup has better.
func chooseClusters(compared []*Compared, best *Compared) []ClusterChoice {
	names, better := map[string]bool{}, []ClusterChoice{}
	for _, b := range compared {
		for name := range b.clusters {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		top := best
		for _, b := range compared {
			if b.cluster(name).betterThan(top.cluster(name)) {
				top = b
			}
		}
		if top == best {
			continue
		}
		have, want := best.cluster(name), top.cluster(name)
		why := fmt.Sprintf("%s there, and %s in %s", want.text(), have.text(), best.Name)
		better = append(better, ClusterChoice{Cluster: name, Best: top.Name, Why: why})
	}
	return better
}

// cluster is a cluster of the backup; nil when it has none of the name.
func (c *Compared) cluster(name string) *clusterState {
	if s, ok := c.clusters[name]; ok {
		return &s
	}
	return nil
}

// betterThan reports whether a restore of the cluster leaves less to do. A cluster that
// is gone is in no backup better than in none.
func (s *clusterState) betterThan(o *clusterState) bool {
	switch {
	case s == nil || !s.mayRun():
		return false
	case o == nil:
		return true
	}
	for _, pair := range [][2]int{
		{s.counts.Unknown + s.unplaced, o.counts.Unknown + o.unplaced},
		{s.counts.Ghost, o.counts.Ghost},
		{s.counts.Stale, o.counts.Stale},
	} {
		if pair[0] != pair[1] {
			return pair[0] < pair[1]
		}
	}
	return false
}

func (s *clusterState) text() string {
	if s == nil {
		return "nothing of it"
	}
	text := fmt.Sprintf("%d Ghost, %d Stale and %d Unknown of %s", s.counts.Ghost, s.counts.Stale, s.counts.Unknown, english.Count(s.counts.Total, "machine"))
	if s.unplaced > 0 {
		text += fmt.Sprintf(" (%d running, but not in it)", s.unplaced)
	}
	return text
}

// write says it in lines, the first of which begins with of, which backups these are. One
// whose answer is not YES is never said to be restored: the next line is how to read why, with
// the flags again.
func (c *Choice) write(line func(string, ...any), of, again string) {
	if c.best.Safe == code.Yes {
		line("%sRestore %s: %s.", of, c.Best, c.Why)
	} else {
		line("%sThe best is %s: %s.", of, c.Best, c.Why)
		line("  drift-detector detect --backup %s -o report.json%s", terminal.Quoted(c.best.Place), again)
	}
	for _, k := range c.Clusters {
		line("Cluster %s is better in %s: %s.", k.Cluster, k.Best, k.Why)
	}
}

// text is the comparison for a person.
func (c *Comparison) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") }
	if c.Best == "" {
		line("Restore none yet: %s.", c.Why)
	} else {
		c.write(line, "", c.again)
	}
	for _, m := range c.ManagementClusters {
		if names := english.First(3, m.Backups); m.Best == "" {
			line("Of %s restore none yet: %s.", names, m.Why)
		} else {
			m.write(line, "Management cluster of "+names+": ", c.again)
		}
	}
	if !c.Complete {
		line("Not everything could be listed or read: what was not seen is Unknown, and the choice may be another one.")
	}
	rows := [][]string{{"NAME", "SAFE TO RESTORE", "GHOST", "STALE", "UNKNOWN", "HEALTHY", "MACHINES", "CLUSTERS", "LACKS"}}
	for _, k := range c.Compared {
		if k.Error != "" {
			rows = append(rows, []string{k.Name, "can't be read"})
			continue
		}
		lacks := dash(english.First(2, k.Lacks))
		if len(k.Missing) > 0 {
			lacks = "cluster " + english.First(2, k.Missing) + strings.TrimSuffix(", "+lacks, ", -")
		}
		m := k.Machines
		rows = append(rows, []string{k.Name, k.Answer, strconv.Itoa(m.Ghost), strconv.Itoa(m.Stale), strconv.Itoa(m.Unknown), strconv.Itoa(m.Healthy), strconv.Itoa(m.Total), strconv.Itoa(k.Clusters), lacks})
	}
	b.WriteString("\n" + terminal.Table(rows))
	if n := len(c.Borrowed); n > 0 {
		line("Credentials that a backup lacks came from another one: %s.", english.First(2, c.Borrowed))
	}
	return b.String()
}

package backups

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Comparison is what each of the newest backups is like beside the infrastructure, which
// was listed once for all of them, and which one to restore.
type Comparison struct {
	ListedAt time.Time `json:"listedAt"`
	Complete bool      `json:"complete"` // every place was listed, every backup read, and no bound left one out
	Choice
	// NotCompared is how many others may hold clusters, and were not compared.
	NotCompared int `json:"notCompared"`
	// Skipped are the backups that are newer than all that Velero offers, and that it does not.
	Skipped  []*Skipped  `json:"skipped"`
	Compared []*Compared `json:"compared"` // the newest first
	// ManagementClusters are those that the backups are of, where they are known to be of
	// several: no backup says which of them is lost, and Best is empty.
	ManagementClusters []ManagementCluster `json:"managementClusters,omitempty"`
	// Borrowed says for which places of older backups a newer one gave the credential.
	Borrowed []string `json:"borrowed"`
}

// Choice is which of some backups to restore.
type Choice struct {
	Best string `json:"best,omitempty"` // its name
	Why  string `json:"why"`
	// Clusters are those that another backup than Best has better, or that Best lacks.
	Clusters []ClusterChoice `json:"clusters"`

	best    *Compared
	bounded bool // a bound left out what may be better
}

// Compared is one backup beside the infrastructure: what detect says of it alone.
type Compared struct {
	Name   string    `json:"name"`
	Place  string    `json:"place"`
	Safe   code.Safe `json:"safe,omitempty"`
	Answer string    `json:"answer,omitempty"` // Safe as people read it
	ByPlan code.Safe `json:"safeByPlan,omitempty"`
	// Conditions are what a YES holds only while each of them does, the special ones first.
	Conditions []report.Note `json:"conditions,omitempty"`

	Complete bool                 `json:"complete"`
	Machines report.MachineCounts `json:"machines"`
	Confirm  int                  `json:"infraMachines"` // VMs that may belong to a cluster
	Clusters int                  `json:"clusters"`
	Lacks    []string             `json:"lacks"`           // errors that check finds, by code
	Missing  []string             `json:"missingClusters"` // that run or may run, and that other backups have
	Error    string               `json:"error,omitempty"` // why it could not be read
	// KubeSystemUID is the uid of Namespace kube-system in it, if it holds that.
	KubeSystemUID string `json:"kubeSystemUID,omitempty"`
	// Skipped says that Velero does not offer it: it is never the best.
	Skipped bool `json:"skipped,omitempty"`
	// Misdated says that its age is not used to choose: what it holds is.
	Misdated bool `json:"misdated,omitempty"`
	// Expired says that a Velero which gets the store deletes it.
	Expired bool `json:"expired,omitempty"`
	// Empty says that nothing of a cluster is in it.
	Empty bool `json:"holdsNoCluster,omitempty"`

	safe, byPlan code.Safe // as they are when no backup were newer: that is what is to be chosen

	uids     map[string]bool // see Tell
	clusters map[string]clusterState
	unplaced int // see clusterState
	broken   map[string]bool
}

// ClusterChoice is the backup that is best for one cluster.
type ClusterChoice struct {
	Cluster string `json:"cluster"` // namespace/name
	Best    string `json:"best"`
	Why     string `json:"why"`
}

// Of takes from the report on a backup what the comparison needs.
func Of(name, place string, r *report.Report) *Compared {
	answer := r.Answer()
	c := &Compared{
		Name: name, Place: place, Answer: answer.Safe, Safe: code.Unclear, Complete: r.Summary.Complete,
		Machines: r.Summary.Machines, Confirm: r.Summary.InfraMachines, Clusters: r.Summary.Clusters.Total,
		clusters: map[string]clusterState{}, Conditions: answer.Conditions,
	}
	if a := r.Summary.Answer; a != nil {
		c.Safe = a.Safe
	}
	c.ByPlan, c.safe = c.Safe, c.Safe
	if a := r.Summary.Answer; a != nil && a.Safe == code.Unclear {
		c.safe = butForNewer(a.Reasons)
	}
	c.byPlan = c.safe
	if a := r.Summary.AnswerByPlan; a != nil {
		if c.ByPlan, c.byPlan = a.Safe, a.Safe; a.Safe == code.Unclear {
			c.byPlan = butForNewer(a.Reasons)
		}
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
	c.fillBroken(r)
	return c
}

// butForNewer returns the answer that an unclear one would be if there were no newer backup.
func butForNewer(reasons []report.AnswerReason) code.Safe {
	rest := slices.DeleteFunc(slices.Clone(reasons), func(r report.AnswerReason) bool { return r.Code == code.NewerBackup })
	if len(rest) == len(reasons) {
		return code.Unclear
	}
	return report.SafeAfter(rest)
}

// fillBroken notes the clusters that an error in the backup itself keeps from working after a
// restore, even by the plan: all of them, where it says of none.
func (c *Compared) fillBroken(r *report.Report) {
	unmended := map[string]bool{}
	switch s := &r.Summary; {
	case s.AnswerByPlan != nil:
		for i := range s.AnswerByPlan.Reasons {
			notes(unmended, &s.AnswerByPlan.Reasons[i])
		}
	case s.Answer != nil:
		for i := range s.Answer.Reasons {
			notes(unmended, &s.Answer.Reasons[i])
		}
	}
	c.broken = map[string]bool{}
	for i := range r.Checks {
		f := &r.Checks[i]
		if !f.Error() || !unmended[f.Object] {
			continue
		}
		for _, name := range f.Clusters {
			c.broken[name] = true
		}
		for name := range c.clusters {
			if len(f.Clusters) == 0 {
				c.broken[name] = true
			}
		}
	}
	for name, s := range c.clusters {
		s.broken = c.broken[name]
		c.clusters[name] = s
	}
}

func notes(objects map[string]bool, reason *report.AnswerReason) {
	if reason.Code == code.BackupError {
		for _, object := range reason.Objects {
			objects[object] = true
		}
	}
}

// offered reports whether Velero offers it, and it holds a cluster.
func (c *Compared) offered() bool { return !c.Skipped && !c.Empty }

// Unreadable returns a backup that could not be read.
func Unreadable(name, place string, err error) *Compared {
	return &Compared{Name: name, Place: place, Error: err.Error()}
}

// Choose says which backup to restore, as a whole and for each cluster; of each management
// cluster, where they are of several. compared are the newest first; of is the flag that leaves out
// newer ones, empty for none.
func Choose(compared []*Compared, of string) *Comparison {
	c := &Comparison{Compared: compared, Borrowed: []string{}, Skipped: []*Skipped{}, Complete: true}
	all, known := managementClusters(compared, of)
	c.ManagementClusters = all
	if n := len(all); n > 0 {
		c.Choice = Choice{Clusters: []ClusterChoice{}, Why: several(n, known)}
	} else {
		c.Choice = choose(compared, of)
	}
	for _, b := range compared {
		b.Lacks, b.Missing = append([]string{}, b.Lacks...), append([]string{}, b.Missing...)
		c.Complete = c.Complete && (b.Skipped || b.Complete && b.Error == "")
	}
	return c
}

// choose says which of the backups of a management cluster to restore.
func choose(compared []*Compared, of string) Choice {
	if of != "" {
		of = " with " + of
	}
	fillMissing(compared)
	fillUnplaced(compared)
	var best, newest *Compared
	for _, b := range compared { // what has a wrong date comes last
		if !b.offered() {
			continue
		}
		if newest == nil {
			newest = b
		}
		if best == nil {
			best = b
		} else if _, d := difference(b, best); d < 0 {
			best = b
		}
	}
	switch {
	case best == nil:
		return Choice{Why: "none of them is offered by Velero and holds a cluster", Clusters: []ClusterChoice{}}
	case best.Error != "":
		return Choice{Why: "no backup could be read", Clusters: []ClusterChoice{}}
	}
	c := Choice{best: best, Best: best.Name, Why: newestOf(best, "it is the newest"+of), Clusters: chooseClusters(compared, best)}
	if slices.ContainsFunc(compared, func(b *Compared) bool { return b.Skipped }) {
		c.Why = newestOf(best, "it is the newest"+of+" that Velero offers")
	}
	if newest != best {
		m, _ := difference(newest, best)
		c.Why = "the newest" + of + ", " + newest.Name + ", " + m.say(best, newest)
		if best.Misdated {
			c.Why += "; its own date is wrong"
		}
	}
	if best.Expired {
		c.Why += "; " + expired
	}
	if best.Safe != code.Yes {
		c.Why += "; even so the answer is " + best.Answer + ": see its report first"
	}
	return c
}

const expired = "it has expired, and a Velero that gets this store deletes it: copy its folder first"

func newestOf(best *Compared, newest string) string {
	if best.Misdated {
		newest = "its date is wrong, as those of all"
	}
	return newest + ", and no other that was compared is better"
}

// Leaves notes how many backups that may hold clusters were not compared, and what is known of
// them: whoever reads which one to restore reads that, too. Where a bound left them out, the
// comparison is not complete.
func (c *Comparison) Leaves(n int, known string, bounded bool) {
	c.NotCompared, c.Complete = n, c.Complete && !bounded
	c.bounded = bounded
	for i := range c.ManagementClusters {
		c.ManagementClusters[i].bounded = bounded
	}
	if n > 0 {
		c.say(were(n) + " not compared" + known)
	}
}

func were(n int) string {
	if n == 1 {
		return "1 other was"
	}
	return english.Count(n, "other") + " were"
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
			if _, has := b.clusters[name]; !has && b.Error == "" && !b.Empty && (runs[name] || newer[name]) {
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
			if b.offered() && b.cluster(name).betterThan(top.cluster(name)) {
				top = b
			}
		}
		if top == best {
			continue
		}
		have, want := best.cluster(name), top.cluster(name)
		why := fmt.Sprintf("%s there, and %s in %s", want.text(), have.text(), best.Name)
		if top.Expired {
			why += "; " + expired
		}
		better = append(better, ClusterChoice{Cluster: name, Best: top.Name, Why: why})
	}
	return better
}

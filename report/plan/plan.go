package plan

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Plan is all that is to be done, in order. Its texts may hold foreign
// names as they are; whoever prints them escapes them.
type Plan struct {
	Answer    []string // what it comes down to
	Unknown   []string // what the plan could not know, because the report does not
	Whole     bool     // the report was made from everything that the backup names
	Variables []Variable
	Checklist []Row
	Sections  []Section
	Of        Narrowing      // what of the plan this is
	Total     int            // steps of the whole plan, whatever this is of it
	Report    *report.Report // that it is made of

	clusters []string // of the report
	limits   func(Narrowing) []string
	tells    func(*report.Cluster) bool // see planner
	indexed  *stepIndex                 // nil until it is asked for
}

// Section is a part of the time line, which Phase names in one word.
type Section struct {
	Title, Phase string
	Chapters     []Chapter
}

// Chapter is about the whole, or about one cluster.
type Chapter struct {
	Title   string
	Cluster string // namespace/name; empty when it is about all
	Notes   []string
	Number  int    // of its steps together; 0 without steps
	What    string // its steps are for
	Apart   bool   // its steps have a number each, from Number on
	Steps   []Step
	Batches []Batch
}

// Batch is findings that need the same, so that a rollout is read once and not
// once per machine. Steps hold the commands that all items share.
type Batch struct {
	Number   int
	Cluster  string // namespace/name; empty when it is about all
	Title    string
	Note     string
	Forecast string       // what becomes of all of them if nobody does anything
	Outcome  code.Outcome // of which Forecast is
	Steps    []Step
	Items    []Item
	Serial   bool // one item goes through all steps before the next begins
}

// Item is one finding of a batch. Commands holds its own ones, per step.
type Item struct {
	Number       int // in the whole plan's list, whatever is printed of it
	Name, Detail string
	Forecast     string // where it is not that of all
	Outcome      code.Outcome
	Clusters     []string // that it is of, or may be; none: it is not known
	Commands     [][]shell.Command
	Words        map[string]string // what tells it from other items, by the names of variables

	vm       bool     // it is a VM to confirm
	machines []string // that it is about, where it is not one itself
}

// The phases of a plan.
const (
	Before  = "before"
	Restore = "restore"
	After   = "after"
)

// Row is a line of the checklist.
type Row struct {
	Number               int
	Phase, Cluster, What string
	Machines             int // how many findings it is about; 0 when about the restore itself
}

// Narrowing is the part of a plan that somebody wants to see. Its zero value is all.
type Narrowing struct {
	Clusters   []string // names, or namespace/name; any of them
	Namespaces []string // any of them
	Phase      string   // Before, Restore or After
	Step       int      // a number of the checklist
}

// String says it in the words of the command line.
func (n Narrowing) String() string {
	parts := []string{(&report.Filter{Clusters: n.Clusters, Namespaces: n.Namespaces}).String()}
	if n.Phase != "" {
		parts = append(parts, "--phase "+n.Phase)
	}
	if n.Step != 0 {
		parts = append(parts, fmt.Sprintf("--step %d", n.Step))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// shows reports whether a cluster was asked for.
func (n Narrowing) shows(cluster string) bool {
	namespace, name, _ := strings.Cut(cluster, "/")
	return (len(n.Clusters) == 0 || slices.Contains(n.Clusters, cluster) || slices.Contains(n.Clusters, name)) &&
		(len(n.Namespaces) == 0 || slices.Contains(n.Namespaces, namespace))
}

// AllClusters reports whether no cluster was asked for.
func (n Narrowing) AllClusters() bool { return len(n.Clusters)+len(n.Namespaces) == 0 }

// In says in which file the report of the plan is, for the variable that lines read.
func (p *Plan) In(file string) {
	for i := range p.Variables {
		if p.Variables[i].Name == reportFile {
			p.Variables[i].Value = file
		}
	}
}

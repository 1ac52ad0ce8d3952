// Package text writes a report for a person, as wide as the terminal.
package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// Options say how the text looks, never what it says about counts and verdicts.
type Options struct {
	Color bool // colour beside the marks; for terminals
	Width int  // columns; 0 is 80, the least is 40
	All   bool // list healthy machines one by one too, and fold nothing
}

// Write prints the report for a person, the answer first: is it safe to restore,
// what to do, the counts, a line per cluster, what to know before the restore, then
// every finding by urgency. All that comes from outside is escaped. It returns the first error of the writer.
func Write(w io.Writer, r *report.Report, o Options) error {
	p := printer{terminal.NewPrinter(w, o.Width, o.Color)}
	p.answer(r)
	p.counts(r)
	p.clusters(r)
	p.forecast(r, o.All)
	p.findings(r, o.All)
	p.infraMachines(r)
	p.ignored(r)
	p.scopes(r)
	p.missing(r)
	p.checks(r, o.All)
	p.errors(r)
	return p.Flush()
}

// printer writes the parts of a report.
type printer struct{ *terminal.Printer }

func (p printer) answer(r *report.Report) {
	a := r.Answer()
	l := lookOf(a.Status)
	p.Print(0, 4, terminal.Lead(terminal.Bold, "Safe to restore?", 0).Prose(lookOf(a.As).style, a.Safe))
	p.Print(0, 4, terminal.Lead(terminal.Plain, "Status:", 0).Prose(l.style, string(a.Status)))
	p.Newline()
	for _, f := range a.Facts {
		l := lookOf(f.Status)
		p.Print(2, 4, terminal.Lead(l.style, l.mark, 0).Prose(terminal.Plain, f.Text))
	}
}

const label = 11 // width of the labels of the counts

func (p printer) counts(r *report.Report) {
	p.Newline()
	row := func(name string, items ...string) {
		p.Print(0, label+1, terminal.Lead(terminal.Bold, name, label).Items(terminal.Plain, items...))
	}
	s := &r.Summary
	row("Machines", first(fmt.Sprintf("%d in %s:", s.Machines.Total, plural(s.Clusters.Total, "cluster")), machineWords(s.Machines))...)
	if n := s.IgnoredMachines; n != nil {
		row("Ignored", "of these: "+orNone(brief(*n)))
	}
	row("Clusters", first(fmt.Sprintf("%d:", s.Clusters.Total), clusterWords(s.Clusters))...)
	row("Other VMs", join(", ", fmt.Sprintf("%d to confirm", s.InfraMachines), some(s.IgnoredInfraMachines, "of them ignored")),
		fmt.Sprintf("%d excluded%s", total(s.Excluded), listed(s.Excluded)),
		fmt.Sprintf("%d out of scope%s", s.OutOfScope, listed(s.ForeignTags)))
	for i := range r.Scopes {
		c := &r.Scopes[i]
		row("Looked at", c.Title()+": "+string(c.State), plural(c.Instances, "VM"))
	}
	if text := nodeLists(r); text != "" {
		row("Node lists", text)
	}
	for _, b := range r.Backups {
		p.Print(0, label+1, terminal.Lead(terminal.Bold, "Backup", label).Field(terminal.Plain, terminal.Quoted(b.Path)).Items(terminal.Plain,
			fmt.Sprintf("written %s to %s", stamp(b.WrittenFrom), stamp(b.WrittenTo)), plural(b.Items, "object")))
	}
}

// first puts a word before the first of a list.
func first(word string, list []string) []string {
	list[0] = word + " " + list[0]
	return list
}

// nodeLists says how many clusters were asked for their Nodes and answered.
func nodeLists(r *report.Report) string {
	if r.Options.SkipNodes {
		return "not read, as asked"
	}
	asked, read := 0, 0
	for i := range r.Clusters {
		asked += one(r.Clusters[i].Nodes.State != "")
		read += one(r.Clusters[i].Nodes.State == report.NodesRead)
	}
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s read", read, plural(asked, "cluster"))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// machineWords lists all four counts, most urgent first, also those that are zero.
func machineWords(n report.MachineCounts) []string {
	return []string{
		fmt.Sprint(n.Ghost, " ", report.Ghost), fmt.Sprint(n.Unknown, " ", report.Unknown), fmt.Sprint(n.Stale, " ", report.Stale), fmt.Sprint(n.Healthy, " ", report.Healthy),
	}
}

// brief lists the counts that are not zero.
func brief(n report.MachineCounts) string {
	return join(", ", some(n.Ghost, string(report.Ghost)), some(n.Unknown, string(report.Unknown)), some(n.Stale, string(report.Stale)), some(n.Healthy, string(report.Healthy)))
}

func clusterWords(n report.ClusterCounts) []string {
	list := present(
		some(n.ManualRemediationRequired, string(report.ManualRemediationRequired)),
		some(n.NeedFurtherConfirmation, string(report.NeedFurtherConfirmation)),
		some(n.ManualRemediationNotRequired, string(report.ManualRemediationNotRequired)),
		some(n.Healthy, string(report.Healthy)))
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

// listed returns the parts of a count: " (10 template, 2 vCLS)".
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

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

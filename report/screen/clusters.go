package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
	"drift-detector/report/text"
)

// marks are the marks of statuses, the most urgent first.
const marks = "!?-="

// column are counts of the table, after the name.
type column struct {
	title string
	width int
	of    func(*report.MachineCounts) int
}

// columnsFor returns the columns, wide enough for these counts; where none is Unknown there is no
// column for that.
func columnsFor(all []report.MachineCounts) []column {
	out := []column{
		{"GHOST", 0, func(n *report.MachineCounts) int { return n.Ghost }},
		{"STALE", 0, func(n *report.MachineCounts) int { return n.Stale }},
		{"UNKN", 0, func(n *report.MachineCounts) int { return n.Unknown }},
		{"OK", 0, func(n *report.MachineCounts) int { return n.Healthy }},
	}
	for i := range out {
		out[i].width = len(out[i].title)
		for j := range all {
			out[i].width = max(out[i].width, len(fmt.Sprint(out[i].of(&all[j]))))
		}
	}
	if !slices.ContainsFunc(all, func(n report.MachineCounts) bool { return n.Unknown > 0 }) {
		return slices.Delete(out, 2, 3)
	}
	return out
}

// leastAfter is the least room for what happens after the restore, in columns.
const leastAfter = 28

// clusters prints the table: these clusters, and the sum of the others.
func (p *printer) clusters(r *report.Report, shown, rest []*report.Cluster) {
	if len(shown) == 0 {
		return
	}
	name, more := len("CLUSTER"), ""
	if len(rest) > 0 {
		more = english.Count(len(rest), "more cluster")
		name = len(more)
	}
	for _, c := range shown {
		name = max(name, terminal.Width(terminal.Escape(c.Title())))
	}
	var sum report.MachineCounts
	by := map[string]int{}
	for _, c := range rest {
		sum.Add(c.Counts)
		by[code.Mark(c.Status)]++
	}
	counts := []report.MachineCounts{sum}
	for _, c := range shown {
		counts = append(counts, c.Counts)
	}
	t := table{printer: p, columns: columnsFor(counts)}
	title := ""
	for _, c := range t.columns {
		title += fmt.Sprintf(" %*s", c.width, c.title)
	}
	t.name = min(name, max(p.Width-len("! ")-len(title)-leastAfter, 12))
	t.after = p.Width - len("! ") - t.name - len(title) - len("  ")
	p.Newline()
	after, last := outline.AfterRestore(r), []string{"AFTER THE RESTORE"}
	if r.IsLive() { // of which nothing is restored
		last = nil
	}
	t.row(terminal.Bold, " ", "CLUSTER", title, last)
	for _, c := range shown {
		mark := code.Mark(c.Status)
		if last != nil {
			last = after.Of(c)
		}
		t.row(text.Style(mark), mark, c.Title(), t.numbers(&c.Counts), last)
	}
	if len(rest) > 0 {
		var words []string
		for _, m := range strings.Split(marks, "") {
			if by[m] > 0 {
				words = append(words, fmt.Sprintf("%d %s", by[m], m))
			}
		}
		t.row(terminal.Dim, " ", more, t.numbers(&sum), words)
	}
}

// table is a table of so many columns for a name and for what comes last.
type table struct {
	*printer
	columns     []column
	name, after int
}

// row prints a row. What comes last is cut where it does not fit, or has a row of its
// own where the terminal is too narrow.
func (t *table) row(st terminal.Style, mark, name, numbers string, after []string) {
	name = shorten(name, t.name)
	name += strings.Repeat(" ", t.name-terminal.Width(name))
	l := terminal.Lead(st, mark, 1)
	if t.after < leastAfter/2 {
		t.Print(0, 2, l.Field(terminal.Plain, name+numbers))
		t.Print(4, 4, terminal.Lead(terminal.Dim, fit(after, t.Width-4), 0))
		return
	}
	t.Print(0, 2, l.Field(terminal.Plain, name+numbers+"  "+fit(after, t.after)))
}

// numbers returns the counts of a row; none is a dash.
func (t *table) numbers(n *report.MachineCounts) string {
	var b strings.Builder
	for _, c := range t.columns {
		if v := c.of(n); v > 0 {
			fmt.Fprintf(&b, " %*d", c.width, v)
		} else {
			fmt.Fprintf(&b, " %*s", c.width, "-")
		}
	}
	return b.String()
}

// fit joins as many words as fit in so many columns; an ellipsis stands for the others.
func fit(words []string, width int) string {
	for n := len(words); n > 0; n-- {
		s := strings.Join(words[:n], ", ")
		if n < len(words) {
			s += ", …"
		}
		if terminal.Width(s) <= width {
			return s
		}
	}
	return shorten(strings.Join(words, ", "), width)
}

// worstFirst returns the clusters that count, the worst first: by their status, then by
// how many machines are Ghost, Unknown and Stale.
func worstFirst(r *report.Report) []*report.Cluster {
	var out []*report.Cluster
	for i := range r.Clusters {
		if c := &r.Clusters[i]; !c.Self {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *report.Cluster) int {
		return cmp.Or(code.Urgency(a.Status)-code.Urgency(b.Status), b.Counts.Ghost-a.Counts.Ghost,
			b.Counts.Unknown-a.Counts.Unknown, b.Counts.Stale-a.Counts.Stale)
	})
	return out
}

// shorten escapes a name and cuts it to so many columns: of a long one the end is
// kept, which tells names of one origin apart.
func shorten(s string, width int) string { return terminal.End(terminal.Escape(s), width) }

package runbook

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report/plan"
)

// Look says where the table of a plan appears, and what can be typed there.
type Look struct {
	Color   bool
	Width   int    // columns; 0 is 80, the least is terminal.Narrowest
	Height  int    // rows of the terminal, of which one is the prompt's; 0: as many as it takes
	Program string // as a shell reads it
	Report  string // its path, as a shell reads it
	Options string // those of this run that choose a part of the plan, as a shell reads them
}

// narrowTable is the width below which a row has no column for clusters.
const narrowTable = 60

// Table writes what there is to do, one row for each step, and how to go on. It returns the
// first error of the writer.
func Table(w io.Writer, p plan.Plan, look Look) error {
	var b bytes.Buffer
	t := terminal.NewPrinter(&b, look.Width, look.Color)
	width := max(cmp.Or(look.Width, 80), terminal.Narrowest)
	t.Print(0, 2, terminal.Lead(terminal.Bold, english.Count(p.Total, "step")+", in this order.", 0).Prose(terminal.Plain, "None of their commands has been run; --all prints them."))
	if of := p.Of.String(); of != "" {
		t.Print(0, 2, terminal.Lead(terminal.Plain, fmt.Sprintf("%d of them: only %s.", len(p.Checklist), of), 0))
	}
	for i, line := range p.Unknown {
		if look.Height > 0 { // a row each, and few of them
			if i == mostUnknown {
				line = fmt.Sprintf("and %d more that the plan could not know: --all", len(p.Unknown)-i)
			}
			line = terminal.Begin(line, width-2)
		}
		t.Print(0, 2, terminal.Lead(terminal.Yellow, "?", 1).Prose(terminal.Plain, line))
		if look.Height > 0 && i == mostUnknown {
			break
		}
	}
	clusters, counts := 0, 0
	for _, r := range p.Checklist {
		clusters, counts = max(clusters, terminal.Width(terminal.Escape(clusterWord(r)))), max(counts, len(count(r)))
	}
	clusters = min(clusters, width*3/8)
	commands := look.next(p)
	below := 2 // an empty row, and the prompt
	for _, c := range commands {
		below += 1 + max(terminal.Width("Next "+c.line)-1, 0)/width
	}
	_ = t.Flush()
	shown := len(p.Checklist)
	if look.Height > 0 {
		shown = fits(p.Checklist, look.Height-bytes.Count(b.Bytes(), []byte("\n"))-below)
	}
	phase := ""
	for _, r := range p.Checklist[:shown] {
		if r.Phase != phase {
			if phase == "" {
				t.Print(0, 0, terminal.Lead(terminal.Bold, titleOf(&p, r.Phase), 0))
			} else {
				t.Title(titleOf(&p, r.Phase))
			}
			phase = r.Phase
		}
		lead, room := fmt.Sprintf("%4d", r.Number), width-len("1234  ")-counts-2
		l := terminal.Lead(terminal.Plain, lead, len(lead))
		what := r.What
		if width >= narrowTable {
			l = l.Field(terminal.Dim, fill(terminal.Begin(terminal.Escape(clusterWord(r)), clusters), clusters))
			room -= clusters + 2
		} else if r.Cluster != "" {
			_, name, _ := strings.Cut(clusterWord(r), "/")
			what = name + ": " + what
		}
		what = fitted(terminal.Escape(what), room)
		if r.Machines > 0 {
			what = fill(what, room) + fmt.Sprintf("%*s", counts+2, count(r))
		}
		t.Print(0, 6, l.Field(terminal.Plain, what))
	}
	if more := len(p.Checklist) - shown; more > 0 {
		t.Print(0, 6, terminal.Lead(terminal.Dim, fmt.Sprintf("   … %d more: --all", more), 0))
	}
	t.Newline()
	for i, c := range commands {
		lead := ""
		if i == 0 {
			lead = "Next"
		}
		if len("Next ")+terminal.Width(c.line) > width {
			t.Print(2, 4, terminal.Lead(terminal.Plain, c.line, 0))
			continue
		}
		l := terminal.Lead(terminal.Dim, lead, 4).Field(terminal.Plain, c.line)
		if len("Next ")+terminal.Width(c.line+"  "+c.why) <= width {
			l = l.Prose(terminal.Dim, c.why)
		}
		t.Print(0, 6, l)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// mostUnknown is how many lines of a small terminal say what the plan could not know.
const mostUnknown = 3

// command is what to type next, and what for.
type command struct{ line, why string }

func (look *Look) next(p plan.Plan) []command {
	first := 1
	if len(p.Checklist) > 0 {
		first = p.Checklist[0].Number
	}
	start := look.Program + " plan " + look.Report
	return []command{
		{start + fmt.Sprintf(" --step %d", first), "a step with its commands"},
		{start + look.Options + " -o plan.md", "all of them, to keep"},
		{start + look.Options + " -o plan.env", "their variables, to fill in"},
	}
}

// fits returns how many steps have room in so many rows: one at least.
func fits(steps []plan.Row, room int) int {
	used, phase := -1, "" // the first title has no empty row above it
	for i, r := range steps {
		if r.Phase != phase {
			phase, used = r.Phase, used+2 // an empty row, and the title
		}
		used++
		counts := min(len(steps)-i-1, 1) // the row that counts the others
		if used+counts > room {
			return max(i, 1)
		}
	}
	return len(steps)
}

func titleOf(p *plan.Plan, phase string) string {
	for _, s := range p.Sections {
		if s.Phase == phase {
			return s.Title
		}
	}
	return phase
}

// clusterWord returns the first of the clusters of a row.
func clusterWord(r plan.Row) string {
	first, _, more := strings.Cut(cmp.Or(r.Cluster, "all"), ", ")
	if more {
		first += ", …"
	}
	return first
}

// fitted returns a title in so many columns: of the names the end is kept, which tells them apart,
// and what is behind the colon is not cut as long as there is room for both.
func fitted(what string, room int) string {
	about, means, ok := strings.Cut(what, ": ")
	if ok && terminal.Width(what) > room {
		about = terminal.End(about, max(room-terminal.Width(means)-2, room/3))
		what = about + ": " + means
	}
	return terminal.Begin(what, room)
}

// count returns how many machines a row is about, as a word.
func count(r plan.Row) string {
	if r.Machines == 0 {
		return ""
	}
	return fmt.Sprint(r.Machines)
}

// fill makes a word so many columns wide.
func fill(s string, width int) string {
	return fmt.Sprintf("%s%*s", s, max(width-terminal.Width(s), 0), "")
}

// Package screen writes what a person must know of a report on one screen of a
// terminal: the answer, what decides it, the clusters with the worst first, and what
// to type next. Everything else is in the long forms.
package screen

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/text"
)

// Options say where the screen appears and what can be typed there.
type Options struct {
	Color   bool   // colour beside the marks; for terminals
	Width   int    // columns; 0 is 80, the least is terminal.Narrowest
	Height  int    // rows of the terminal; 0 is 24, the least
	Program string // how the program is called, as a shell reads it; empty: drift-detector
	Report  string // path of the saved JSON, as a shell reads it; empty: none was saved
	Again   string // the command that saves it, where none was; empty: it cannot be repeated
}

const (
	leastHeight   = 24
	fixedRows     = 5 // the next commands, an empty row before them and what is to be done, and where people type
	leastToDo     = 4 // rows of what is to be done
	leastClusters = 5 // rows of clusters, where there are as many
	// narrowestTable is the width beneath which there is no table of clusters: its numbers and what
	// is left of a name need as much.
	narrowestTable = 36
	leastFaults    = 4 // rows of what was not listed, its title among them
)

// Write prints the screen: no more rows than the terminal has at 80 columns, whatever the
// report holds. Names of the report are escaped, and shortened where they do not fit. It
// returns the first error of the writer.
func Write(w io.Writer, r *report.Report, o Options) error {
	o.Width = max(cmp.Or(o.Width, 80), terminal.Narrowest)
	o.Height = max(o.Height, leastHeight)
	o.Program = cmp.Or(o.Program, "drift-detector")
	p := &printer{terminal.NewPrinter(w, o.Width, o.Color), o}
	todo, all, conditions := p.lines(r), worstFirst(r), p.conditions(r)
	if o.Width < narrowestTable {
		all = nil
	}
	next := p.next(r, append(slices.Clip(todo), conditions...))
	room := o.Height - p.answer(r) - fixedRows - p.broken(next)
	brief := 0
	if len(conditions) > 0 {
		l, hang := inBrief(conditions)
		brief = p.rows(hang, l)
		room -= brief
	}
	if !r.Summary.Complete {
		room -= leastFaults + 1
	}
	title, each, least := 2, 1, leastClusters
	if p.Width < 80 {
		title, each, least = 3, 2, 1
	}
	needs := p.needs(todo)
	if len(conditions) > 0 {
		needs = p.needs(append(slices.Clip(todo), conditions...)) - brief
	}
	clusters := min(len(all), max((room-title-needs)/each, least), max(room-title-leastToDo, 0)/each)
	if clusters < len(all) {
		clusters = max(clusters-1, 0) // a row counts the others
	}
	if clusters > 0 {
		room -= title + each*(clusters+min(1, len(all)-clusters))
	}
	room = max(room, leastToDo-min(brief, 1))
	if whole := append(slices.Clip(todo), conditions...); p.rowsOf(whole) <= room+brief {
		todo, conditions = whole, nil
		room += brief
	}
	rows := p.toDo(todo, room)
	if len(conditions) > 0 {
		if len(todo) == 0 {
			p.Newline()
		}
		l, hang := inBrief(conditions)
		p.Print(0, hang, l)
	}
	p.clusters(r, all[:clusters], all[clusters:])
	p.incomplete(r, leastFaults-1+max(room-rows, 0))
	p.Newline()
	for _, c := range next {
		p.command(c)
	}
	return p.Flush()
}

type printer struct {
	*terminal.Printer
	Options
}

// answer prints both answers and what they are of, and returns how many rows that took.
func (p *printer) answer(r *report.Report) (rows int) {
	a := r.Answer()
	line := func(hang int, l terminal.Line) {
		p.Print(0, hang, l)
		rows += p.rows(hang, l)
	}
	row := func(label string, as code.Status, word, rest string) {
		line(2, terminal.Lead(terminal.Bold, label, answerLabel).Prose(text.Style(code.Mark(as)), word).Prose(terminal.Dim, rest))
	}
	conditions := ""
	if len(a.Conditions) > 0 {
		conditions = "under " + english.Count(len(a.Conditions), "condition")
	}
	if r.IsMoved() {
		conditions = english.Join(", ", "by clusterctl, which unpauses all Clusters", conditions)
	}
	if a.ByPlan == "" {
		row(a.Question, a.As, a.Safe, conditions)
	} else {
		row("Safe to restore?", a.As, a.Safe, "as Velero restores by default")
		row("By the plan:", a.ByPlanAs, a.ByPlan, english.Join(", ", a.After, conditions))
	}
	name, when := p.backups(r)
	l := terminal.Lead(terminal.Plain, name, 0).Prose(terminal.Plain, when)
	listed := fmt.Sprintf("Listed: %d of %s, %s.", len(r.Scopes)-len(r.Incomplete()), english.Count(len(r.Scopes), "place"), english.Count(instances(r), "VM"))
	l = l.Prose(terminal.Plain, listed)
	if f := r.Options.Filter; f != nil {
		l = l.Prose(terminal.Plain, "Only "+shorten(f.String(), 2*p.Width/3)+".")
		if f.View {
			l = l.Prose(terminal.Plain, "The answers are those of the whole report.")
		}
	}
	if n := r.Summary.Ignored; n > 0 {
		l = l.Prose(terminal.Plain, english.Count(n, "finding")+" set aside by ignore rules.")
	}
	line(2, l)
	return rows
}

const answerLabel = 17 // width of the labels of the answers

func instances(r *report.Report) int {
	n := 0
	for i := range r.Scopes {
		n += r.Scopes[i].Instances
	}
	return n
}

// backups says which backups were read and how old they were.
func (p *printer) backups(r *report.Report) (name, when string) {
	if len(r.Backups) == 0 {
		return "No backup.", ""
	}
	oldest := slices.MinFunc(r.Backups, func(a, b report.Backup) int { return a.WrittenFrom.Compare(b.WrittenFrom) })
	name = shorten(oldest.Path[strings.LastIndexByte(oldest.Path, '/')+1:], p.Width/2)
	if n := len(r.Backups); n > 1 {
		when = "and " + english.Count(n-1, "newer backup") + ", "
	}
	if at := oldest.WrittenFrom; !at.IsZero() {
		when += at.UTC().Format("2006-01-02 15:04Z") + age(r.GeneratedAt.Sub(at))
	}
	if len(r.Backups) == 1 && when != "" {
		name += ","
	}
	return name, when + "."
}

// age returns a short text, as kubectl writes it: with it the row of the lab's backup is one.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return ""
	case d < time.Hour:
		return fmt.Sprintf(", %dm old", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf(", %dh old", int(d.Hours()))
	default:
		return fmt.Sprintf(", %dd old", int(d.Hours()/24))
	}
}

// rows returns how many rows a line takes.
func (p *printer) rows(hang int, l terminal.Line) int {
	var b bytes.Buffer
	one := terminal.NewPrinter(&b, p.Width, false)
	one.Print(0, hang, l)
	_ = one.Flush()
	return bytes.Count(b.Bytes(), []byte("\n"))
}

// incomplete says what was not listed and how to complete it, in so many rows.
func (p *printer) incomplete(r *report.Report, room int) {
	if r.Summary.Complete {
		return
	}
	p.Newline()
	what := "not everything could be read"
	if n := len(r.Incomplete()); n > 0 {
		what = fmt.Sprintf("%d of %s not listed", n, english.Count(len(r.Scopes), "place"))
	}
	if p.Width < narrowestTable {
		what = strings.TrimSuffix(what, " not listed")
	} else if n := r.Summary.Machines.Unknown; n > 0 {
		what += "; " + english.Count(n, "machine") + " Unknown"
	}
	p.Print(0, 2, terminal.Lead(terminal.Yellow, "Incomplete:", 0).Prose(terminal.Yellow, what))
	rows, each, all := 0, 2, faults(r)
	switch {
	case p.Width < narrowestTable:
		each = 1
	case len(all) == 1:
		each = max(room-1, 1) // one is where it is
	}
	for i, f := range all {
		name := shorten(f.where, p.Width/2)
		where := terminal.Lead(terminal.Plain, "  "+name, 0)
		if f.reason != "" {
			where = where.Field(terminal.Bold, f.reason)
		}
		if affected := counted(r.Affected(f.clusters), p.Width-terminal.Width("  "+name+"  "+f.reason+"  ")); affected != "" {
			where = where.Field(terminal.Plain, affected)
		}
		hint := terminal.Lead(terminal.Plain, "   ", 0).Prose(terminal.Plain, terminal.Begin(terminal.Escape(cmp.Or(f.hint, f.message)), each*p.Width-12))
		if rows += p.rows(4, where) + p.rows(4, hint); i > 0 && rows > room {
			return
		}
		p.Print(0, 4, where)
		p.Print(0, 4, hint)
	}
}

// command is what to type next, and what for.
type command struct{ label, line, what string }

// next returns the commands to type, one of two where the report's name is so long that both would
// take the room of what matters.
func (p *printer) next(r *report.Report, todo []line) []command {
	switch {
	case p.Report == "":
		again := []command{{"Next", p.Again, "keeps it for plan and render"}}
		if p.Again == "" || p.broken(again) > 3 {
			return []command{{"Next", "the same with -o report.json", "keeps it for plan and render"}}
		}
		return again
	case len(r.ToDo) == 0:
		return []command{{"Next", p.Program + " render " + p.Report, "everything, cluster by cluster"}}
	}
	all := []command{{"Next", p.Program + " plan " + p.Report, "the steps, in a safe order"}}
	if len(todo) == 0 || code.Of(code.Reason(todo[0].word)).Code == "" { // none that explain knows
		return all
	}
	both := append(all, command{"", p.Program + " explain " + todo[0].word + " " + p.Report, "what that means"})
	if p.broken(both) > 3 {
		return all
	}
	return both
}

// broken returns how many rows a terminal adds where it breaks commands.
func (p *printer) broken(all []command) (rows int) {
	for _, c := range all {
		rows += max(terminal.Width(c.lead())-1, 0) / p.Width
	}
	return rows
}

func (c *command) lead() string { return fmt.Sprintf("%-4s %s", c.label, c.line) }

// command says what a command is for; beside a long one there is no room to.
func (p *printer) command(c command) {
	row := terminal.Lead(terminal.Plain, c.lead(), max(min(p.Width*3/5, 60), terminal.Width(c.lead())+1))
	if l := row.Prose(terminal.Dim, c.what); p.rows(0, l) == 1 {
		row = l
	}
	p.Print(0, 5, row)
}

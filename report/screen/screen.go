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
	Width   int    // columns; 0 is 80, the least is 40
	Program string // how the program is called, as a shell reads it; empty: drift-detector
	Report  string // path of the saved JSON, as a shell reads it; empty: none was saved
}

// How many rows the parts of the screen take at 80 columns, so that all of them fit in 24
// for a few clusters, and in 30 for any number.
const (
	screenRows = 30
	fixedRows  = 11 // the answer, the next commands, titles and what is between the parts
	mostFirst  = 8  // of what decides
	leastFirst = 3
	mostFaults = 10 // of what was not listed
	leastFault = 4
	manyRows   = 15 // of clusters
	worstRows  = 10 // of clusters, where there are more
)

// Write prints the screen: at most 30 rows of 80 columns, whatever the report holds.
// Names of the report are escaped, and shortened where they do not fit. It returns the
// first error of the writer.
func Write(w io.Writer, r *report.Report, o Options) error {
	o.Width = max(cmp.Or(o.Width, 80), 40)
	o.Program = cmp.Or(o.Program, "drift-detector")
	p := &printer{terminal.NewPrinter(w, o.Width, o.Color), o}
	first, more := decisive(r)
	all := worstFirst(r)
	shown := len(all)
	if shown > manyRows || shown > worstRows && !r.Summary.Complete {
		shown = worstRows
	}
	room := screenRows - fixedRows - shown - min(len(all)-shown, 1)
	faults, most := 0, mostFirst
	if !r.Summary.Complete {
		room -= 2
		most -= 2
		faults = min(max(room-most, leastFault), mostFaults)
	}
	p.answer(r, first)
	left, rows := p.first(first, min(max(room-faults, leastFirst), most))
	more += left
	p.clusters(r, all[:shown], all[shown:])
	p.incomplete(r, max(faults, room-rows))
	p.next(first, more)
	return p.Flush()
}

type printer struct {
	*terminal.Printer
	Options
}

func (p *printer) answer(r *report.Report, first []line) {
	a := r.Answer()
	todo, ask := 0, 0
	for i := range first {
		switch first[i].mark {
		case "!":
			todo++
		case "?":
			ask++
		}
	}
	why := ""
	if s := r.Summary.Answer; s != nil && (s.Safe == code.No || s.Safe == code.Unclear) {
		var parts []string
		if todo > 0 {
			parts = append(parts, english.Count(todo, "thing")+" to do first")
		}
		if ask > 0 {
			parts = append(parts, fmt.Sprintf("%d to confirm", ask))
		}
		if why = strings.Join(parts, ", "); why != "" {
			why = ": " + why
		}
	} else if len(first) > 0 && s != nil && s.Safe == code.Yes {
		why = ", under the conditions below"
	}
	p.Print(0, 2, terminal.Lead(terminal.Bold, "Safe to restore?", 0).Prose(text.Style(code.Mark(a.As)), a.Safe+why))
	name, when := p.backups(r)
	l := terminal.Lead(terminal.Plain, name, 0).Prose(terminal.Plain, when)
	listed := fmt.Sprintf("Listed: %d of %s, %s.", len(r.Scopes)-len(r.Incomplete()), english.Count(len(r.Scopes), "place"), english.Count(instances(r), "VM"))
	l = l.Prose(terminal.Plain, listed)
	if f := r.Options.Filter; f != nil {
		l = l.Prose(terminal.Plain, "Only "+shorten(f.String(), 2*p.Width/3)+".")
		if f.View {
			l = l.Prose(terminal.Plain, "The answer is that of the whole report.")
		}
	}
	if n := r.Summary.Ignored; n > 0 {
		l = l.Prose(terminal.Plain, english.Count(n, "finding")+" set aside by ignore rules.")
	}
	p.Print(0, 2, l)
}

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

// age is short, as kubectl writes it: with it the row of the lab's backup is one.
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

// first prints what decides, as far as there is room, and returns how many things it
// left out, and how many rows it took.
func (p *printer) first(all []line, room int) (left, rows int) {
	if len(all) == 0 {
		return 0, 0
	}
	p.Title("FIRST")
	width, hang, name := 0, 5, p.Width-5
	if p.Width >= 80 {
		name = p.Width - 30
		for i := range all {
			width = max(width, len(" 1 ! ")+len(all[i].code))
		}
		hang = width + 1
	}
	for i := range all {
		l := &all[i]
		row := terminal.Lead(text.Style(l.mark), fmt.Sprintf("%2d %s %s", i+1, l.mark, l.code), width).Prose(terminal.Plain, l.text(name))
		n, rest := p.rows(hang, row), 0
		if toDo(all[i+1:]) > 0 {
			rest = 1 // the row that counts them
		}
		if i > 0 && p.Width >= 80 && rows+n+rest > room || i == mostFirst || l.hidden {
			if n := toDo(all[i:]); n > 0 {
				of := ""
				if all[len(all)-1].hidden {
					of = " of the whole report"
				}
				p.Print(0, hang, terminal.Lead(terminal.Dim, fmt.Sprintf("   and %d more%s: render shows all", n, of), 0))
				rows++
			}
			return len(all) - i, rows
		}
		rows += n
		p.Print(0, hang, row)
	}
	return 0, rows
}

// toDo is how many of the lines are things to do or to confirm, which the answer counts.
func toDo(all []line) int {
	n := 0
	for i := range all {
		if all[i].mark == "!" || all[i].mark == "?" {
			n++
		}
	}
	return n
}

// rows is how many rows a line takes.
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
	if n := r.Summary.Machines.Unknown; n > 0 {
		what += "; " + english.Count(n, "machine") + " Unknown"
	}
	p.Print(0, 2, terminal.Lead(terminal.Yellow, "Incomplete:", 0).Prose(terminal.Yellow, what))
	rows, each, all := 0, 2, faults(r)
	if len(all) == 1 {
		each = room
	}
	for i, f := range all {
		name := shorten(f.where, p.Width/2)
		where := terminal.Lead(terminal.Plain, "  "+name, 0)
		if f.reason != "" {
			where = where.Field(terminal.Bold, f.reason)
		}
		if affected := counted(r.Affected(f.causes), p.Width-terminal.Width("  "+name+"  "+f.reason+"  ")); affected != "" {
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

// next says what to type.
func (p *printer) next(first []line, more int) {
	p.Newline()
	if p.Report == "" {
		p.command("Next", p.Program+" detect … -o report.json", "keeps it for plan and render")
		return
	}
	everything := "everything, cluster by cluster"
	if more > 0 {
		everything = fmt.Sprintf("everything, %d more to know", more)
	}
	p.command("Next", p.Program+" plan "+p.Report, "what to do, in a safe order")
	p.command("", p.Program+" render "+p.Report, everything)
	if len(first) > 0 {
		p.command("", p.Program+" explain "+string(first[0].code), "what a code means")
	}
}

// command says what a command is for; beside a long one there is no room to.
func (p *printer) command(label, command, what string) {
	row := terminal.Lead(terminal.Plain, fmt.Sprintf("%-4s %s", label, command), min(p.Width*3/5, 60))
	if l := row.Prose(terminal.Dim, what); p.Width < 80 || p.rows(0, l) == 1 {
		row = l
	}
	p.Print(0, 7, row)
}

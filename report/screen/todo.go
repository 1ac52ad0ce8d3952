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
	"drift-detector/report/text"
)

// line is a thing to do.
type line struct {
	when, steps, mark, word string
	about, means            string
}

// text returns what is behind the code, in at most so many columns where that is not 0: of what it
// means the first clause then, and as much of the end of the name as fits.
func (l *line) text(width int) string {
	about, means := l.about, l.means
	if width > 0 {
		if i := strings.IndexAny(means, ":;,("); i > 0 {
			means = strings.TrimSpace(means[:i])
		}
		about = shorten(about, max(width-terminal.Width(means)-2, 12))
		return terminal.Begin(english.Join(": ", about, means), width)
	}
	return english.Join(": ", about, means)
}

// whens are the phases in a word.
var whens = map[code.Phase]string{code.Before: "BEFORE", code.Restoring: "RESTORE", code.Paused: "PAUSED", code.After: "LATER"}

// lines returns the things to do, in the order of the report; those that are about what a narrowed
// report does not show are left out.
func (p *printer) lines(r *report.Report) []line {
	var out []line
	if r.IsLive() {
		for _, d := range r.Drift() {
			l := line{when: "NOW", mark: code.Mark(d.Machine.Status), word: d.Word, about: terminal.Escape(d.Machine.Namespace + "/" + d.Machine.Name)}
			l.about, l.means = shorten(l.about, p.Width*5/8), terminal.Escape(d.Means())
			out = append(out, l)
		}
		return out
	}
	places := r.Places()
	for i := range r.ToDo {
		t := &r.ToDo[i]
		if !places.IsShown(t) {
			continue
		}
		about := places.About(t, 1)
		if about != "" {
			about = shorten(about, p.Width*5/8)
		}
		out = append(out, line{whens[t.Phase], t.StepsText(), t.Mark(), p.word(t.Code), about, terminal.Escape(t.Message)})
	}
	return out
}

// word returns a code, which a report of another release may have longer than any of this.
func (p *printer) word(c code.Reason) string {
	return terminal.Begin(terminal.Escape(string(c)), min(p.Width-12, 32))
}

// conditions returns what a YES depends on and that is not to be done, in the report's order: what
// is special to it in its own words.
func (p *printer) conditions(r *report.Report) (out []line) {
	now, by := r.Summary.Answer, r.Summary.AnswerByPlan
	if yes := now != nil && now.Safe == code.Yes || by != nil && by.Safe == code.Yes; !yes {
		return nil
	}
	all := r.Answer().Conditions
	for i := range all {
		c := &all[i]
		if slices.ContainsFunc(r.ToDo, func(t report.ToDo) bool { return t.Code == c.Code }) {
			continue
		}
		means := cmp.Or(code.Of(c.Code).Screen, terminal.Escape(english.Clause(c.Sentence())))
		out = append(out, line{when: "IF", mark: "?", word: p.word(c.Code), means: means})
	}
	return out
}

// inBrief returns the conditions by their codes, each once: none of them is left out where there is
// no room for their words.
func inBrief(all []line) (l terminal.Line, hang int) {
	var words []string
	for i := range all {
		if !slices.Contains(words, all[i].word) {
			words = append(words, all[i].word)
		}
	}
	return terminal.Lead(text.Style("?"), "IF ?", 0).Prose(terminal.Plain, strings.Join(words, ", ")), 5
}

// columnsOf returns the widths of what is before the text.
func columnsOf(all []line) (steps, word int) {
	steps = 2
	for i := range all {
		steps, word = max(steps, len(all[i].steps)), max(word, len(all[i].word))
	}
	return min(steps, mostSteps), word
}

// mostSteps are the columns for numbers of steps: a longer list is cut, or its row would begin
// behind those of the others.
const mostSteps = 20

// row returns a line as it is printed, beneath the one before it, and where its further rows begin.
// One that is cut has no further rows.
func (p *printer) row(all []line, i int, cut bool) (l terminal.Line, hang int) {
	at := &all[i]
	if p.Width < 80 {
		word, steps := at.word, step(at.steps)
		if cut { // one row for both
			word = terminal.Begin(word, max(p.Width-len("! ")-terminal.Width(steps)-1, 8))
		}
		l := terminal.Lead(text.Style(at.mark), at.mark+" "+word, 0)
		l = l.Prose(terminal.Dim, steps)
		if !cut {
			l = l.Prose(terminal.Plain, at.text(0))
		}
		return l, 2
	}
	steps, word := columnsOf(all)
	when := at.when
	if i > 0 && all[i-1].when == when {
		when = ""
	}
	lead := fmt.Sprintf("%-7s %s%s %s ", when, strings.Repeat(" ", max(steps-terminal.Width(at.steps), 0)), terminal.Begin(at.steps, steps), at.mark)
	hang = len(lead) + word + 1
	width := 0
	if cut {
		width = p.Width - hang
	}
	return terminal.Lead(text.Style(at.mark), lead+at.word, hang-1).Prose(terminal.Plain, at.text(width)), hang
}

func step(steps string) string {
	if steps == "" {
		return ""
	}
	if strings.ContainsAny(steps, " -") {
		return "(steps " + strings.ReplaceAll(steps, " ", ", ") + ")"
	}
	return "(step " + steps + ")"
}

// needs returns how many rows all lines would take that are to be done before the last Cluster is
// unpaused.
func (p *printer) needs(all []line) int {
	n := 0
	for i := range all {
		if all[i].mark == "!" || all[i].mark == "?" {
			l, hang := p.row(all, i, false)
			n += p.rows(hang, l)
		}
	}
	return n
}

// toDo prints the things to do in so many rows, and returns how many it took. Where there is
// no room for all, what is urgent comes before the rest, and those are cut that are too long for
// the room that is left; the last row counts what was left out.
func (p *printer) toDo(all []line, room int) int {
	if len(all) == 0 {
		return 0
	}
	p.Newline()
	each := 1
	if p.Width < 80 {
		each = 2 // the second is what it means
	}
	shown := all
	if p.rowsOf(all) > room && each*len(all) > room {
		shown = urgentFirst(all, (room-1)/each) // the last row counts the others
	}
	spare, rows := room-each*len(shown)-min(1, len(all)-len(shown)), 0
	for i := range shown {
		l, hang := p.row(shown, i, false)
		n := p.rows(hang, l)
		cut := n-each > spare
		if cut {
			l, hang = p.row(shown, i, true)
			n = each
		}
		p.Print(0, hang, l)
		if cut && each > 1 {
			p.Print(2, 2, terminal.Lead(terminal.Plain, shown[i].text(p.Width-2), 0))
		}
		spare, rows = spare-(n-each), rows+n
	}
	if n := len(all) - len(shown); n > 0 {
		p.Print(0, 2, terminal.Lead(terminal.Dim, p.more(n), 0))
		rows++
	}
	return rows
}

// urgentFirst returns so many of them in their order, of which the urgent ones come first.
func urgentFirst(all []line, left int) []line {
	urgent := 0
	for i := range all {
		if all[i].mark == "!" || all[i].mark == "?" {
			urgent++
		}
	}
	var out []line
	for i := range all {
		is := all[i].mark == "!" || all[i].mark == "?"
		switch {
		case is && left > 0:
			left, urgent = left-1, urgent-1
		case !is && left > urgent:
			left--
		default:
			continue
		}
		out = append(out, all[i])
	}
	return out
}

func (p *printer) rowsOf(all []line) int {
	n := 0
	for i := range all {
		l, hang := p.row(all, i, false)
		n += p.rows(hang, l)
	}
	return n
}

// more says how many are not shown, and what shows them: in one row.
func (p *printer) more(n int) string {
	said := fmt.Sprintf("        and %d more: ", n)
	if p.Width < 80 {
		said = strings.TrimPrefix(said, "      ")
	}
	if whole := said + p.Program + " render " + p.Report; p.Report != "" && terminal.Width(whole) <= p.Width {
		return whole
	}
	if whole := said + "render shows all"; terminal.Width(whole) <= p.Width {
		return whole
	}
	return strings.TrimSuffix(said, ": ")
}

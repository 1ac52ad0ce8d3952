// Package terminal makes text for people out of foreign words: escaped, laid out
// at the width of a terminal, coloured beside what the words say.
package terminal

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Style is how a word looks on a terminal. It never carries a meaning that the
// words do not say.
type Style uint8

const (
	Plain Style = iota
	Bold
	Dim
	Red
	Green
	Yellow
)

// sequences are what a terminal is sent for each style; that of Plain ends the one before.
var sequences = [...]string{Plain: "\x1b[0m", Bold: "\x1b[1m", Dim: "\x1b[2m", Red: "\x1b[31m", Green: "\x1b[32m", Yellow: "\x1b[33m"}

// word is a piece of text that is never broken: an id is copied and pasted.
type word struct {
	text  string // escaped
	pad   int32  // least width, when another word follows in its row
	gap   int8   // spaces before it, when it is not the first of its row
	style Style
	part  bool // begins a part of the line, which rather moves to the next row than be broken
}

// Line is text that is laid out at the width of the terminal, in parts that are
// two spaces apart.
type Line []word

// Lead begins a line with a mark or a label of at least width characters. What
// comes next stays beside it as far as it fits.
func Lead(st Style, s string, width int) Line {
	return Line{{text: Escape(s), style: st, pad: int32(max(width, 1))}}
}

func (l Line) add(st Style, words iter.Seq[string]) Line {
	first := len(l) > 1
	for s := range words {
		w := word{text: s, style: st, gap: 1}
		if first {
			w.gap, w.part, first = 2, true, false
		}
		l = append(l, w)
	}
	return l
}

// Field adds a part of words that stay whole, whatever is in them.
func (l Line) Field(st Style, words ...string) Line {
	escaped := make([]string, len(words))
	for i, s := range words {
		escaped[i] = Escape(s)
	}
	return l.add(st, slices.Values(escaped))
}

// Prose adds a part that may be broken at spaces.
func (l Line) Prose(st Style, s string) Line {
	s = Escape(s)
	return slices.Grow(l, strings.Count(s, " ")+1).add(st, strings.FieldsSeq(s))
}

// Named adds a part that is a label and a piece that stays whole: "id 42-…".
func (l Line) Named(st Style, label, s string) Line {
	if s == "" {
		return l
	}
	return l.add(st, slices.Values(append(strings.Fields(label), Quoted(s))))
}

// Items adds a list, separated by commas, that is rather broken between its
// items than within them.
func (l Line) Items(st Style, items ...string) Line {
	for i, s := range items {
		if i < len(items)-1 {
			s += ","
		}
		from := len(l)
		l = l.Prose(st, s)
		if i > 0 && from < len(l) {
			l[from].gap = 1
		}
	}
	return l
}

// Quoted shows where a foreign name begins and ends when that is not plain to see.
func Quoted(s string) string {
	s = Escape(s)
	if s == "" || s[0] == '"' || strings.IndexFunc(s, unicode.IsSpace) >= 0 {
		return `"` + s + `"`
	}
	return s
}

// Printer writes lines. The first error of its writer is kept and returned by Flush.
type Printer struct {
	to    *bufio.Writer
	width int
	color bool
	now   Style
}

// Rows returns a line as Print lays it out, in one row or more.
func Rows(width int, color bool, indent, hang int, l Line) []byte {
	var b bytes.Buffer
	p := NewPrinter(&b, width, color)
	p.Print(indent, hang, l)
	_ = p.Flush() // a Buffer takes all
	return b.Bytes()
}

// Narrowest is the least width that is laid out: what a terminal has less breaks in it.
const Narrowest = 24

// NewPrinter returns a printer of that many columns: 0 is 80, the least is Narrowest.
func NewPrinter(w io.Writer, width int, color bool) *Printer {
	if width <= 0 {
		width = 80
	}
	return &Printer{to: bufio.NewWriter(w), width: max(width, Narrowest), color: color}
}

// Print lays a line out: the first row after indent spaces, the next ones after
// hang spaces. A part that does not fit in what is left of a row begins the next
// one; a word that does not fit in any row is alone.
func (p *Printer) Print(indent, hang int, l Line) {
	p.Branch(strings.Repeat(" ", indent), strings.Repeat(" ", hang), l)
}

// Branch lays a line out as Print does, with the lines of a tree before its rows:
// first before the first row, next before the others.
func (p *Printer) Branch(first, next string, l Line) {
	col, before := Width(first), 0
	p.text(first)
	for i, w := range l {
		gap := 0
		if i > 0 {
			gap = int(w.gap) + max(0, int(l[i-1].pad)-before)
		}
		need := Width(w.text)
		if before = need; w.part {
			need = l.part(i)
		}
		if i > 0 && col+gap+need > p.width {
			p.turn(Plain)
			p.Newline()
			p.text(next)
			gap, col = 0, Width(next)
		}
		if w.style != p.now {
			p.turn(Plain)
		}
		p.spaces(gap)
		p.turn(w.style)
		p.text(w.text)
		col += gap + before
	}
	p.turn(Plain)
	p.Newline()
}

// turn changes the style of what comes next.
func (p *Printer) turn(st Style) {
	if !p.color || p.now == st {
		return
	}
	if p.now != Plain {
		p.text(sequences[Plain])
	}
	if p.now = st; st != Plain {
		p.text(sequences[st])
	}
}

// columns are the same wherever the program runs: no locale has a say.
var columns = runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many columns a terminal needs for escaped text: two for each ideograph,
// none for a mark that is drawn over the character before it.
func Width(s string) int {
	n := 0
	for _, r := range s {
		if r > '~' && (r < '─' || r > '╿') { // the lines of a tree are a column each
			return columns.StringWidth(s)
		}
		n++
	}
	return n
}

// Begin returns as much of the beginning of escaped text as so many columns hold, with an
// ellipsis for the rest.
func Begin(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	return columns.Truncate(s, max(width, 1), "…")
}

// End does what Begin does, and keeps the end.
func End(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	for s != "" && Width(s) >= max(width, 1) {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	return "…" + s
}

// part returns the width of the part that begins at word i.
func (l Line) part(i int) int {
	n := Width(l[i].text)
	for _, w := range l[i+1:] {
		if w.part {
			break
		}
		n += int(w.gap) + Width(w.text)
	}
	return n
}

func (p *Printer) spaces(n int) {
	for range n {
		_ = p.to.WriteByte(' ')
	}
}

// Newline ends a row, or leaves one empty.
func (p *Printer) Newline() { _ = p.to.WriteByte('\n') }

func (p *Printer) text(s string) { _, _ = p.to.WriteString(s) }

// Title begins a part of the text.
func (p *Printer) Title(s string) {
	p.Newline()
	p.Print(0, 0, Lead(Bold, s, 0))
}

// Flush writes what is left and returns the first error of the writer.
func (p *Printer) Flush() error { return p.to.Flush() }

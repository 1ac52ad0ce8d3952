package report

import (
	"bufio"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// style is how a word looks on a terminal. It never carries a meaning that the
// words do not say.
type style string

const (
	plain  style = ""
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	reset        = "\x1b[0m"
)

// word is a piece of text that is never broken: an id is copied and pasted.
type word struct {
	text  string // escaped
	style style
	gap   int  // spaces before it, when it is not the first of its row
	pad   int  // least width, when another word follows in its row
	part  bool // begins a part of the line, which rather moves to the next row than be broken
}

// line is text that is laid out at the width of the terminal, in parts that are
// two spaces apart.
type line []word

// lead begins a line with a mark or a label of at least width characters. What
// comes next stays beside it as far as it fits.
func lead(st style, s string, width int) line {
	return line{{text: Escape(s), style: st, pad: max(width, 1)}}
}

func (l line) add(st style, words ...string) line {
	for i, s := range words {
		w := word{text: s, style: st, gap: 1}
		if i == 0 && len(l) > 1 {
			w.gap, w.part = 2, true
		}
		l = append(l, w)
	}
	return l
}

// field adds a part that stays whole.
func (l line) field(st style, s string) line { return l.add(st, Escape(s)) }

// column adds a field that takes at least width characters.
func (l line) column(st style, s string, width int) line {
	l = l.field(st, s)
	l[len(l)-1].pad = width
	return l
}

// prose adds a part that may be broken at spaces.
func (l line) prose(st style, s string) line { return l.add(st, strings.Fields(Escape(s))...) }

// named adds a part that is a label and a piece that stays whole: "id 42-…".
func (l line) named(st style, label, s string) line {
	if s == "" {
		return l
	}
	return l.add(st, append(strings.Fields(label), quoted(s))...)
}

// items adds a list, separated by commas, that is rather broken between its
// items than within them.
func (l line) items(st style, items ...string) line {
	for i, s := range items {
		if i < len(items)-1 {
			s += ","
		}
		from := len(l)
		l = l.prose(st, s)
		if i > 0 && from < len(l) {
			l[from].gap = 1
		}
	}
	return l
}

// quoted shows where a foreign name begins and ends when that is not plain to see.
func quoted(s string) string {
	s = Escape(s)
	if s == "" || s[0] == '"' || strings.IndexFunc(s, unicode.IsSpace) >= 0 {
		return `"` + s + `"`
	}
	return s
}

// printer writes lines. The first error of its writer is kept and told by Flush.
type printer struct {
	*bufio.Writer
	width int
	color bool
	now   style
}

func newPrinter(w io.Writer, o TextOptions) *printer {
	width := o.Width
	if width <= 0 {
		width = 80
	}
	return &printer{Writer: bufio.NewWriter(w), width: max(width, 40), color: o.Color}
}

// print lays a line out: the first row after indent spaces, the next ones after
// hang spaces. A part that does not fit in what is left of a row begins the next
// one; a word that does not fit in any row stands alone.
func (p *printer) print(indent, hang int, l line) {
	col := indent
	p.spaces(indent)
	for i, w := range l {
		gap := 0
		if i > 0 {
			gap = w.gap + max(0, l[i-1].pad-runes(l[i-1].text))
		}
		need := runes(w.text)
		if w.part {
			need = l.part(i)
		}
		if i > 0 && col+gap+need > p.width {
			p.turn(plain)
			p.newline()
			gap, col = hang, 0
		}
		if w.style != p.now {
			p.turn(plain)
		}
		p.spaces(gap)
		p.turn(w.style)
		p.text(w.text)
		col += gap + runes(w.text)
	}
	p.turn(plain)
	p.newline()
}

// turn changes the style of what comes next.
func (p *printer) turn(st style) {
	if !p.color || p.now == st {
		return
	}
	if p.now != plain {
		p.text(reset)
	}
	p.text(string(st))
	p.now = st
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// part is the width of the part that begins at word i.
func (l line) part(i int) int {
	n := runes(l[i].text)
	for _, w := range l[i+1:] {
		if w.part {
			break
		}
		n += w.gap + runes(w.text)
	}
	return n
}

func (p *printer) spaces(n int) {
	for range n {
		_ = p.WriteByte(' ')
	}
}

func (p *printer) newline() { _ = p.WriteByte('\n') }

func (p *printer) text(s string) { _, _ = p.WriteString(s) }

// title begins a part of the text.
func (p *printer) title(s string) {
	p.newline()
	p.print(0, 0, lead(bold, s, 0))
}

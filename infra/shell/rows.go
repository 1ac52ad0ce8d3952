package shell

import "strings"

// Rows returns the command in rows of so many characters at most, if no word of it is longer. A
// command of several rows is in braces, and so is each call in it that is: a row that is copied
// alone, which may be the one that changes something without what looks first, or with the half
// of its words, is a mistake in its syntax or waits for more, and does nothing.
func (c Command) Rows(most int) []string {
	if text := c.Text(); len(text) <= most || c.ask {
		return []string{text}
	}
	const indent, begin, end = "  ", "{ ", "; }"
	most -= len(begin) + 2*len(end)
	open := false // a call has braces of its own
	closed := func() string {
		was := open
		open = false
		return map[bool]string{true: end}[was]
	}
	rows := []string{begin}
	last := func() *string { return &rows[len(rows)-1] }
	inText := false // of a loose word
	room := func(n int) bool {
		return len(strings.TrimSpace(*last())) == 0 || *last() == begin || len(*last())+n <= most
	}
	parts := c.parts()
	for i, p := range parts {
		var whole strings.Builder
		p.write(&whole)
		text := whole.String()
		if p.spaced {
			inText = false
		}
		switch {
		case p.loose && len(text) > 0 && text[0] == '\'':
			if p.spaced && room(parts.word(i)+len(" \\")) {
				*last() += " "
			} else if p.spaced {
				*last() += " \\"
				rows = append(rows, indent+indent)
			}
			for k, piece := range pieces(text, &inText) {
				if k > 0 && !room(len(piece)) { // within the quotes
					rows = append(rows, indent+indent)
				}
				*last() += piece
			}
		case p.kind == raw && (p.text == andThen || p.text == pipe):
			*last() += closed() + strings.TrimRight(text, " ")
			next := parts.upTo(i + 1)
			if room(next + 1) {
				*last() += " "
				continue
			}
			rows = append(rows, indent)
			if open = len(indent)+next > most && !parts.isOpen(i+1); open {
				*last() += begin
			}
		case p.kind == raw && strings.Contains(p.text, "\n"):
			for k, row := range strings.Split(p.text, "\n") {
				if k > 0 {
					rows = append(rows, indent)
				}
				*last() += row
			}
		case p.spaced && !room(parts.word(i)+len(" \\")):
			*last() += " \\"
			rows = append(rows, indent+indent+text)
		case p.spaced:
			*last() += " " + text
		default:
			*last() += text
		}
	}
	*last() += closed() + end
	return rows
}

// pieces returns those of a quoted word that end in a comma outside of JSON's texts. A row that ends
// within a word waits for the rest of it.
func pieces(text string, inText *bool) (out []string) {
	from := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && *inText:
			i++
		case c == '"':
			*inText = !*inText
		case c == ',' && !*inText:
			out, from = append(out, text[from:i+1]), i+1
		}
	}
	return append(out, text[from:])
}

// line is all parts of a command.
type line []part

func (c Command) parts() (all line) {
	for _, run := range c.runs {
		all = append(all, *run...)
	}
	return all
}

// isOpen reports whether what begins with a part has to have an end, as braces have.
func (l line) isOpen(at int) bool {
	p := l[at]
	return p.kind == raw && strings.ContainsAny(p.text, "{(")
}

// word returns how long the word is that begins with a part.
func (l line) word(from int) int {
	n := 1 + l[from].size()
	for _, p := range l[from+1:] {
		if p.spaced || p.kind == raw && (p.text == andThen || p.text == pipe) {
			break
		}
		n += p.size()
	}
	return n
}

// upTo returns how long the piece is that begins with a part and ends before the next joint.
func (l line) upTo(from int) int {
	n := 0
	for _, p := range l[from:] {
		if p.kind == raw && (p.text == andThen || p.text == pipe || strings.Contains(p.text, "\n")) {
			break
		}
		n += p.size() + 1
	}
	return n
}

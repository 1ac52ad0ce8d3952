package shell

import "strings"

// Rows returns the command in rows of so many characters at most, if no word of it is longer. A
// command of several rows is in braces: a row of it that is copied alone, which may be the one that
// changes something without what looks first, is a mistake in its syntax or waits for more,
// and does nothing.
func (c Command) Rows(most int) []string {
	if text := c.Text(); len(text) <= most || c.ask {
		return []string{text}
	}
	const indent, begin, end = "  ", "{ ", "; }"
	most -= len(begin) + len(end)
	rows := []string{begin}
	last := func() *string { return &rows[len(rows)-1] }
	room := func(n int) bool {
		return len(strings.TrimSpace(*last())) == 0 || *last() == begin || len(*last())+n <= most
	}
	for i, p := range c.parts {
		text := string(p.append(nil))
		switch {
		case p.kind == raw && (p.text == andThen || p.text == pipe):
			*last() += strings.TrimRight(text, " ")
			if next := c.upTo(i + 1); room(next + 1) {
				*last() += " "
			} else {
				rows = append(rows, indent)
			}
		case p.kind == raw && strings.Contains(p.text, "\n"):
			for k, row := range strings.Split(p.text, "\n") {
				if k > 0 {
					rows = append(rows, indent)
				}
				*last() += row
			}
		case p.spaced && !room(c.word(i)+len(" \\")):
			*last() += " \\"
			rows = append(rows, indent+indent+text)
		case p.spaced:
			*last() += " " + text
		default:
			*last() += text
		}
	}
	*last() += end
	return rows
}

// word is how long the word is that begins with a part.
func (c Command) word(from int) int {
	n := 1 + len(c.parts[from].append(nil))
	for _, p := range c.parts[from+1:] {
		if p.spaced || p.kind == raw && (p.text == andThen || p.text == pipe) {
			break
		}
		n += len(p.append(nil))
	}
	return n
}

// upTo is how long the piece is that begins with a part and ends before the next joint.
func (c Command) upTo(from int) int {
	n := 0
	for _, p := range c.parts[from:] {
		if p.kind == raw && (p.text == andThen || p.text == pipe || strings.Contains(p.text, "\n")) {
			break
		}
		n += len(p.append(nil)) + 1
	}
	return n
}

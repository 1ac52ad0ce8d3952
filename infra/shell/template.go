package shell

import "strings"

// Template returns the line that all lines are that differ in words or variables alone: in the
// place of a word that differs is a variable, or a word with one in it, as name says. name
// gets the values of one place, a value a line, and whether they are the names of variables;
// the variable that it names has them. ok is false when the lines differ in more, or a place
// has no name. What an Ask says of its variable does not count: said is said instead.
func Template(lines []Command, said string, name func(values []string, variables bool) (string, bool)) (template Command, ok bool) {
	first, all := lines[0], make([]line, len(lines))
	for i, c := range lines {
		all[i] = c.parts()
		if len(all[i]) != len(all[0]) || c.ask != first.ask {
			return Command{}, false
		}
	}
	var out run
	values := make([]string, len(lines))
	for k, p := range all[0] {
		same := true
		for i, parts := range all {
			values[i] = parts[k].text
			if parts[k].kind != p.kind || parts[k].spaced != p.spaced {
				return Command{}, false
			}
			same = same && values[i] == p.text
		}
		switch {
		case same:
			out = append(out, p)
		case first.ask && k > 0:
			out = append(out, part{kind: raw, spaced: p.spaced, text: said})
		case p.kind == raw:
			return Command{}, false
		default:
			pieces, ok := common(values, p.kind == variable, name)
			if !ok {
				return Command{}, false
			}
			pieces[0].spaced = p.spaced
			for i := range pieces {
				pieces[i].loose = p.loose && pieces[i].kind == word
			}
			out = append(out, pieces...)
		}
	}
	first.runs = []*run{&out}
	return first, true
}

// common returns what stands for words that differ: a variable, between what all of them begin
// and end with.
func common(values []string, variables bool, name func([]string, bool) (string, bool)) ([]part, bool) {
	before, after := shared(values) // nothing, of variables
	cut := make([]string, len(values))
	for i, w := range values {
		cut[i] = w[len(before) : len(w)-len(after)]
	}
	named, ok := name(cut, variables)
	if !ok {
		return nil, false
	}
	var out []part
	if before != "" {
		out = append(out, wordOf(before))
	}
	out = append(out, part{kind: variable, text: named})
	if after != "" {
		out = append(out, wordOf(after))
	}
	return out, true
}

// delimiters are where a name or an id may begin or end within a word.
const delimiters = "/:=, "

// shared returns what all values begin and end with, as far as a delimiter.
func shared(values []string) (before, after string) {
	before, after = values[0], values[0]
	for _, w := range values {
		for !strings.HasPrefix(w, before) {
			before = before[:len(before)-1]
		}
	}
	before = before[:strings.LastIndexAny(before, delimiters)+1]
	for _, w := range values {
		for !strings.HasSuffix(w[len(before):], after) {
			after = after[1:]
		}
	}
	if i := strings.IndexAny(after, delimiters); i >= 0 {
		return before, after[i:]
	}
	return before, ""
}

package shell

import (
	"slices"
	"strings"

	"drift-detector/internal/terminal"
)

// Raw is shell text of the program's own: variables, redirections, operators. It is
// not quoted. A newline in it is a space where a command is one line, see Command.Rows.
type Raw string

// Loose is a word in which white space behind a comma means nothing, as in JSON and in label
// selectors: rows may break there.
type Loose string

// Variable reads a variable by its name. An unset or empty one ends the command: an empty
// --context would quietly mean the current one.
type Variable string

// Pieces are one word, put together of strings, Raws and Variables.
type Pieces []any

// Command is a line for a shell, or the text for whose sake there is none. It remembers
// which of its words are foreign or the reader's to fill in, so that lines can be compared by
// their words. The zero Command is no line.
type Command struct {
	runs    []*run // of its parts; lines that are put together share those of what they are made of
	refused string
	ask     bool
	inTurn  bool
}

type run []part

// part is a piece of a line.
type part struct {
	kind   partKind
	plain  bool // a word that needs no quotes
	spaced bool // a space is before it
	loose  bool // see [Loose]
	text   string
}

func wordOf(text string) part { return part{kind: word, plain: isPlain(text), text: text} }

type partKind uint8

const (
	raw partKind = iota
	word
	variable
)

// Line joins words to a command: a string is quoted, a Raw stays as it is.
func Line(words ...any) Command {
	return Command{}.behind(false, words)
}

// behind puts words behind a line.
func (c Command) behind(spaced bool, words []any) Command {
	if len(words) == 0 {
		return c
	}
	n := len(words)
	for _, w := range words {
		if pieces, several := w.(Pieces); several {
			n += len(pieces) - 1
		}
	}
	own := make(run, 0, n)
	for i, w := range words {
		pieces, several := w.(Pieces)
		if !several {
			pieces = words[i : i+1]
		}
		for k, p := range pieces {
			var add part
			switch p := p.(type) {
			case Raw:
				add = part{kind: raw, text: string(p)}
			case Variable:
				add = part{kind: variable, text: string(p)}
			case string:
				add = wordOf(p)
			case Loose:
				add = wordOf(string(p))
				add.loose = true
			default:
				continue
			}
			if add.kind == word && !add.plain && !quotable(add.text) {
				return Command{refused: add.text}
			}
			add.spaced = k == 0 && (spaced || i > 0)
			own = append(own, add)
		}
	}
	if len(own) == 0 {
		return c
	}
	return Command{runs: append(slices.Clip(c.runs), &own), inTurn: c.inTurn}
}

// around puts program text around lines, with another text between those that are not zero. The
// first that is refused is the result.
func around(before, between, after *run, lines ...Command) Command {
	var out Command
	n := 2 + len(lines) - 1
	for i := range lines {
		if lines[i].refused != "" {
			return lines[i]
		}
		n += len(lines[i].runs)
		out.inTurn = out.inTurn || lines[i].inTurn
	}
	if before == nil && after == nil { // of nearly all
		n -= 2
	}
	out.runs = make([]*run, 0, n)
	add := func(r *run) {
		if r != nil {
			out.runs = append(out.runs, r)
		}
	}
	add(before)
	joint := (*run)(nil)
	for i := range lines {
		if len(lines[i].runs) > 0 {
			add(joint)
			out.runs, joint = append(out.runs, lines[i].runs...), between
		}
	}
	add(after)
	return out
}

// program returns text of the program's own, nil for none.
func program(text string) *run {
	if text == "" {
		return nil
	}
	return &run{{kind: raw, text: text}}
}

// Wrap puts program text around a line.
func (c Command) Wrap(before, after Raw) Command { return c.wrap(string(before), string(after)) }

func (c Command) wrap(before, after string) Command {
	return around(program(before), nil, program(after), c)
}

// With adds words to a line.
func (c Command) With(words ...any) Command {
	if c.refused != "" {
		return c
	}
	return c.behind(true, words)
}

// Text returns the line; empty where there is none.
func (c Command) Text() string {
	n := 0
	for _, run := range c.runs {
		for i := range *run {
			n += 1 + (*run)[i].size()
		}
	}
	var text strings.Builder
	text.Grow(n)
	for _, run := range c.runs {
		for i := range *run {
			if (*run)[i].spaced {
				text.WriteByte(' ')
			}
			(*run)[i].write(&text)
		}
	}
	return text.String()
}

// write writes the text of a part, as it is in one line.
func (p *part) write(to *strings.Builder) {
	switch {
	case p.kind == variable:
		to.WriteString(`"${`)
		to.WriteString(p.text)
		to.WriteString(`:?}"`)
	case p.kind == raw:
		to.WriteString(strings.ReplaceAll(p.text, "\n", " "))
	case p.plain:
		to.WriteString(p.text)
	default:
		to.WriteByte('\'')
		to.WriteString(strings.ReplaceAll(p.text, "'", quote))
		to.WriteByte('\'')
	}
}

// size returns how long that text is.
func (p *part) size() int {
	switch {
	case p.kind == variable:
		return len(`"${`) + len(p.text) + len(`:?}"`)
	case p.kind == raw || p.plain:
		return len(p.text)
	}
	return len("''") + len(p.text) + strings.Count(p.text, "'")*(len(quote)-1)
}

// Between pieces of a line.
const (
	andThen = " && "
	pipe    = " | "
)

var (
	thenRun, pipeRun              = program(andThen), program(pipe)
	checkRun, stopRun, stoppedRun = program("{ "), program(" ||\n{ echo "), program(" >&2; false; }; }") // of OrStop
	testRun, equalsRun            = program(`test "$(`), program(`)" = `)                                // of Prints
)

// Refused returns the text for whose sake there is no line.
func (c Command) Refused() string { return c.refused }

// IsZero reports whether c is neither a line nor a refused one.
func (c Command) IsZero() bool { return len(c.runs) == 0 && c.refused == "" }

// Variables calls note with the name of each [Variable] that the line reads.
func (c Command) Variables(note func(name string)) {
	for _, run := range c.runs {
		for _, p := range *run {
			if p.kind == variable {
				note(p.text)
			}
		}
	}
}

// Then runs next only when c succeeded.
func (c Command) Then(next Command) Command {
	switch {
	case c.IsZero():
		return next
	case next.IsZero():
		return c
	}
	return around(nil, thenRun, nil, c, next)
}

// Pipe has next read what c prints. What next needs it to print is for next to see: nothing
// else says that c failed.
func (c Command) Pipe(next Command) Command { return around(nil, pipeRun, nil, c, next) }

// Or runs next where it fails.
func (c Command) Or(next Command) Command { return around(nil, program(" || "), nil, c, next) }

// All runs each command only when those before it succeeded.
func All(lines ...Command) Command {
	isLine := func(c Command) bool { return !c.IsZero() }
	i := slices.IndexFunc(lines, isLine)
	switch {
	case i < 0:
		return Command{}
	case !slices.ContainsFunc(lines[i+1:], isLine):
		return lines[i]
	}
	return around(nil, thenRun, nil, lines...)
}

// OrStop makes a check that fails say why, with the words that it found, and end
// what depends on it.
func (c Command) OrStop(why string, found ...any) Command {
	return around(checkRun, stopRun, stoppedRun, c, Line("stop: "+why).With(found...))
}

// OrSay makes a command whose failure is printed and stops nothing that follows. The
// message is the program's own.
func (c Command) OrSay(message string) Command { return c.wrap("", " ||\necho '"+message+"' >&2") }

// Keep assigns what a command prints to a variable, and fails when the command does.
func (c Command) Keep(name string) Command { return c.wrap(name+"=$(", ")") }

// Each runs c for each word that a variable holds, which another one holds meanwhile.
// The words have to be of a form that needs no quotes.
func (c Command) Each(word, words string) Command {
	return c.wrap("for "+word+" in $"+words+"; do ", "; done")
}

// EachOrStop does what Each does, but ends with the first word for which c fails, and fails then.
func (c Command) EachOrStop(word, words string) Command {
	return c.wrap("(for "+word+" in $"+words+"; do ", " || exit 1; done)")
}

// Private makes what a command writes readable by nobody else.
func (c Command) Private() Command { return c.wrap("(umask 077; ", ")") }

// Prints fails unless c prints want, a string, a Raw or a Variable, and nothing else.
func (c Command) Prints(want any) Command {
	return around(testRun, equalsRun, nil, c, Line(want))
}

// Empty fails when a variable holds anything.
func Empty(variable string) Command { return Line(Raw(`test -z "$` + variable + `"`)) }

// Lacks fails when a variable holds a text, which is put together of pieces. What Quote
// leaves as it is has no meaning in a pattern either.
func Lacks(variable string, pieces ...any) Command {
	return Line(Pieces(pieces)).wrap(`case "$`+variable+`" in *`, "*) false ;; esac")
}

// Ask leaves the value of a variable to the operator. What is said of it may be
// foreign: it is escaped behind a comment sign.
func Ask(name, what string) Command { return Set(name, "", what) }

// Set does what Ask does, with a value of the program's own, which most operators need not change.
func Set(name, value, what string) Command {
	return ask(name+"='"+value+"' # ", what)
}

// Default sets a variable of the environment, unless it is set already, to a value that may be
// empty; one that a shell would not read as it is, is left out. What is said of it is escaped.
func Default(name, value, what string) Command {
	if value != "" && !isPlain(value) {
		value = ""
	}
	return ask("export "+name+`="${`+name+":-"+value+`}" # `, what)
}

func ask(line, what string) Command {
	return Command{runs: []*run{{{kind: raw, text: line}, {kind: raw, text: terminal.Escape(what)}}}, ask: true, inTurn: true}
}

// IsAsk reports whether Ask or Set made the line.
func (c Command) IsAsk() bool { return c.ask }

// InTurn marks a line that depends on what was done before for another object.
func (c Command) InTurn() Command {
	c.inTurn = true
	return c
}

// IsInTurn reports whether the line depends on what was done before for another object, or
// on a value that the operator fills in.
func (c Command) IsInTurn() bool { return c.inTurn }

package shell

import (
	"strings"

	"drift-detector/internal/terminal"
)

// Raw is shell text of the program's own: variables, redirections, operators. It is
// not quoted.
type Raw string

// Variable reads a variable. An unset or empty one ends the command: an empty
// --context would quietly mean the current one.
func Variable(name string) Raw { return Raw(`"${` + name + `:?}"`) }

// Command is a line for a shell, or the text for whose sake there is none. The zero
// Command is no line.
type Command struct{ text, refused string }

// Line joins words to a command: a string is quoted, a Raw stays as it is.
func Line(words ...any) Command { return joined("", words, "") }

// joined puts program text around words.
func joined(before string, words []any, after string) Command {
	var room [512]byte // as nearly all fit into
	text := append(room[:0], before...)
	for i, w := range words {
		if i > 0 {
			text = append(text, ' ')
		}
		switch w := w.(type) {
		case Raw:
			text = append(text, w...)
		case string:
			var ok bool
			if text, ok = appendQuoted(text, w); !ok {
				return Command{refused: w}
			}
		}
	}
	return Command{text: string(append(text, after...))}
}

// With adds words to a line.
func (c Command) With(words ...any) Command {
	if c.refused != "" {
		return c
	}
	return joined(c.text+" ", words, "")
}

// Text returns the line; empty where there is none.
func (c Command) Text() string { return c.text }

// Refused returns the text for whose sake there is no line.
func (c Command) Refused() string { return c.refused }

// IsZero reports whether c is neither a line nor a refused one.
func (c Command) IsZero() bool { return c == Command{} }

// wrap puts program text around a line.
func (c Command) wrap(before, after string) Command {
	if c.refused != "" {
		return c
	}
	return Command{text: before + c.text + after}
}

// Then runs next only when c succeeded.
func (c Command) Then(next Command) Command {
	switch {
	case c.refused != "" || next.IsZero():
		return c
	case next.refused != "" || c.text == "":
		return next
	}
	return Command{text: c.text + " && " + next.text}
}

// Or runs next only when c failed.
func (c Command) Or(next Command) Command {
	if c.refused == "" && next.refused != "" {
		return next
	}
	return c.wrap("{ ", " || { "+next.text+"; }; }")
}

// All runs each command only when those before it succeeded.
func All(first Command, more ...Command) Command {
	texts := make([]string, 0, 1+len(more))
	for _, c := range append([]Command{first}, more...) {
		if c.refused != "" {
			return c
		}
		if c.text != "" {
			texts = append(texts, c.text)
		}
	}
	return Command{text: strings.Join(texts, " && ")}
}

// OrStop makes a check that fails say why, with the words that it found, and end
// what depends on it.
func (c Command) OrStop(why string, found ...any) Command {
	if c.refused != "" {
		return c
	}
	return joined("{ "+c.text+" || { echo ", append([]any{"stop: " + why}, found...), " >&2; false; }; }")
}

// OrSay makes a command whose failure is printed and stops nothing that follows. The
// message is the program's own.
func (c Command) OrSay(message string) Command { return c.wrap("", " || echo '"+message+"' >&2") }

// Keep assigns what a command prints to a variable, and fails when the command does.
func (c Command) Keep(name string) Command { return c.wrap(name+"=$(", ")") }

// Each runs c for each word that a variable holds, which another one holds meanwhile.
// The words have to be of a form that needs no quotes.
func (c Command) Each(word, words string) Command {
	return c.wrap("for "+word+" in $"+words+"; do ", "; done")
}

// Private makes what a command writes readable by nobody else.
func (c Command) Private() Command { return c.wrap("(umask 077; ", ")") }

// Prints fails unless c prints want, a string or a Raw, and nothing else.
func (c Command) Prints(want any) Command {
	if c.refused != "" {
		return c
	}
	return joined(`test "$(`+c.text+`)" = `, []any{want}, "")
}

// PrintsAny fails unless c prints anything.
func (c Command) PrintsAny() Command { return c.wrap(`test -n "$(`, `)"`) }

// Empty fails when a variable holds anything.
func Empty(variable string) Command { return Line(Raw(`test -z "$` + variable + `"`)) }

// Has fails unless a variable holds a text, which is put together of pieces, each a
// string or a Raw.
func Has(variable string, pieces ...any) Command {
	return pattern(pieces).wrap(`case "$`+variable+`" in *`, "*) ;; *) false ;; esac")
}

// Lacks fails when a variable holds a text, see Has.
func Lacks(variable string, pieces ...any) Command {
	return pattern(pieces).wrap(`case "$`+variable+`" in *`, "*) false ;; esac")
}

// pattern is pieces without spaces between them. What Quote leaves as it is has no
// meaning in a pattern either.
func pattern(pieces []any) Command {
	var out Command
	for _, p := range pieces {
		next := Line(p)
		if next.refused != "" {
			return next
		}
		out.text += next.text
	}
	return out
}

// Ask leaves the value of a variable to the operator. What is said of it may be
// foreign: it is escaped behind a comment sign.
func Ask(name, what string) Command { return Set(name, "", what) }

// Set is Ask with a value of the program's own, which most operators need not change.
func Set(name, value, what string) Command {
	return Command{text: name + "='" + value + "' # " + terminal.Escape(what)}
}

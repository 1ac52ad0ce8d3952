package plan

import (
	"regexp"
	"strings"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// raw is shell text of our own: variables, redirections, operators.
type raw string

// command is a line for a shell, or the foreign text for whose sake there is none.
type command struct{ text, refused string }

// line joins words to a command: a string is quoted, raw stays as it is.
func line(words ...any) command {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch w := w.(type) {
		case raw:
			b.WriteString(string(w))
		case string:
			q, ok := Quote(w)
			if !ok {
				return command{refused: w}
			}
			b.WriteString(q)
		}
	}
	return command{text: b.String()}
}

// then runs next only when c succeeded.
func (c command) then(next command) command {
	if c.refused != "" {
		return c
	}
	switch {
	case next.refused != "":
		return next
	case c.text == "":
		return next
	case next.text == "":
		return c
	}
	return command{text: c.text + " && " + next.text}
}

// stop makes a check that fails say why, with what it found, and end what depends
// on it.
func (c command) stop(why string, found ...any) command {
	say := line(append([]any{raw("echo"), "stop: " + why}, found...)...)
	switch {
	case c.refused != "":
		return c
	case say.refused != "":
		return say
	default:
		return command{text: "{ " + c.text + " || { " + say.text + " >&2; false; }; }"}
	}
}

// keep assigns what a command prints to a variable, and fails when it does.
func (c command) keep(name string) command {
	if c.refused != "" {
		return c
	}
	return command{text: name + "=$(" + c.text + ")"}
}

// empty fails when a variable holds anything.
func empty(name string) command { return line(raw(`test -z "$` + name + `"`)) }

// has fails unless a variable holds a text, which is put together of pieces; lacks
// fails when it does.
func has(name string, pieces ...any) command {
	return pattern(pieces).wrap(`case "$`+name+`" in *`, "*) ;; *) false ;; esac")
}

func lacks(name string, pieces ...any) command {
	return pattern(pieces).wrap(`case "$`+name+`" in *`, "*) false ;; esac")
}

// pattern is pieces without spaces between them. What Quote leaves as it is has no
// meaning in a pattern either.
func pattern(pieces []any) command {
	var out command
	for _, p := range pieces {
		next := line(p)
		if next.refused != "" {
			return next
		}
		out.text += next.text
	}
	return out
}

func (c command) wrap(before, after string) command {
	if c.refused != "" {
		return c
	}
	return command{text: before + c.text + after}
}

// all is commands of which each runs only when those before it succeeded.
func all(first command, more ...command) command {
	for _, c := range more {
		first = first.then(c)
	}
	return first
}

// orSay makes a command whose failure is told and stops nothing that follows.
func (c command) orSay(what string) command {
	if c.refused != "" {
		return c
	}
	return command{text: c.text + " || echo '" + what + "' >&2"}
}

// private makes what a command writes readable by nobody else.
func (c command) private() command {
	if c.refused != "" {
		return c
	}
	return command{text: "(umask 077; " + c.text + ")"}
}

// ask leaves the value of a variable to the operator; what is said of it may be
// foreign, and stands behind a comment sign.
func ask(name, what string) command { return preset(name, "", what) }

// preset is ask with a value that most operators need not change.
func preset(name, value, what string) command {
	return command{text: name + "='" + value + "' # " + terminal.Escape(what)}
}

var asking = regexp.MustCompile(`^[A-Z][A-Z0-9_]*='' # `)

// asks says that a line is one of ask.
func asks(line string) bool { return asking.MatchString(line) }

// draft collects the steps of one finding.
type draft struct {
	steps   []report.Step
	refused bool
}

// step adds a step. When one of its commands can't be made, neither it nor any
// later step has commands: half of a sequence is worse than none.
func (d *draft) step(when, who, text string, commands ...command) {
	s := report.Step{When: when, Who: who, Text: text, Commands: []string{}}
	for _, c := range commands {
		if c.refused != "" && !d.refused {
			d.refused = true
			s.Text += ` No command is made from here on: "` + terminal.Escape(c.refused) + `" holds characters that must not reach a shell. Do it by hand, and ask how such a name came into the backup.`
		}
	}
	if !d.refused {
		for _, c := range commands {
			if c.text != "" {
				s.Commands = append(s.Commands, c.text)
			}
		}
	}
	d.steps = append(d.steps, s)
}

// before and after add a step of the operator.
func (d *draft) before(text string, commands ...command) {
	d.step(report.BeforeRestore, report.Operator, text, commands...)
}

func (d *draft) after(text string, commands ...command) {
	d.step(report.AfterRestore, report.Operator, text, commands...)
}

// controller adds a step that a controller does, and the operator may watch.
func (d *draft) controller(text string, commands ...command) {
	d.step(report.AfterRestore, report.Controller, text, commands...)
}

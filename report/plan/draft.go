package plan

import (
	"drift-detector/infra/shell"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Step is a step of a plan, as reports have it, with what else is known of it.
type Step struct {
	report.Step
	Lines []shell.Command // Commands, that are no text yet

	kind    kind
	about   []string  // the objects of the answer that it settles
	settles []settled // once the commands are done
}

// settled is what a line settles: a reason about an object, or, without a code, each that waits
// for that object.
type settled struct {
	object string
	code   code.Reason
}

// kind says what steps are that are arranged in a way of their own.
type kind uint8

const (
	other    kind = iota
	forEtcd       // done once for the etcd of a cluster, before the restore
	reminder      // says what not to do
)

// draft collects the steps of one finding.
type draft struct {
	steps   []Step
	refused bool
	read    map[string]bool // gets the variables that the commands read; nil: nobody asks
	texts   bool            // nobody asks for the words of commands
	bare    bool            // nobody asks for more of a step than that it is there, and what it is about
}

// step adds a step. When one of its commands can't be made, neither it nor any
// later step has commands: half of a sequence is worse than none.
func (d *draft) step(when, who, text string, commands ...shell.Command) *Step {
	s := Step{Step: report.Step{When: when, Who: who, Text: text, Commands: make([]string, 0, len(commands))}}
	for _, c := range commands {
		if c.Refused() != "" && !d.refused {
			d.refused = true
			s.Text += ` No command is made from here on: "` + terminal.Escape(c.Refused()) + `" holds characters that must not reach a shell. Do it by hand, and ask how such a name came into the backup.`
		}
	}
	for _, c := range commands {
		if d.refused || c.IsZero() {
			continue
		}
		s.Commands = append(s.Commands, c.Text())
		if d.read != nil {
			c.Variables(func(name string) { d.read[name] = true })
		}
		if !d.texts {
			s.Lines = append(s.Lines, c)
		}
	}
	d.steps = append(d.steps, s)
	return &d.steps[len(d.steps)-1]
}

// afterWith does what after does, with a text and commands that are made only when they are read.
func (d *draft) afterWith(what func() (text string, commands []shell.Command)) *Step {
	if d.bare {
		return d.after("")
	}
	text, commands := what()
	return d.after(text, commands...)
}

// before and after add a step of the operator.
func (d *draft) before(text string, commands ...shell.Command) *Step {
	return d.step(report.BeforeRestore, report.Operator, text, commands...)
}

func (d *draft) after(text string, commands ...shell.Command) *Step {
	return d.step(report.AfterRestore, report.Operator, text, commands...)
}

// controller adds a step that a controller does, and the operator may watch.
func (d *draft) controller(text string, commands ...shell.Command) {
	d.step(report.AfterRestore, report.Controller, text, commands...)
}

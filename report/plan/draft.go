package plan

import (
	"regexp"

	"drift-detector/infra/shell"
	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// draft collects the steps of one finding.
type draft struct {
	steps   []report.Step
	refused bool
}

// step adds a step. When one of its commands can't be made, neither it nor any
// later step has commands: half of a sequence is worse than none.
func (d *draft) step(when, who, text string, commands ...shell.Command) {
	s := report.Step{When: when, Who: who, Text: text, Commands: make([]string, 0, len(commands))}
	for _, c := range commands {
		if c.Refused() != "" && !d.refused {
			d.refused = true
			s.Text += ` No command is made from here on: "` + terminal.Escape(c.Refused()) + `" holds characters that must not reach a shell. Do it by hand, and ask how such a name came into the backup.`
		}
	}
	if !d.refused {
		for _, c := range commands {
			if c.Text() != "" {
				s.Commands = append(s.Commands, c.Text())
			}
		}
	}
	d.steps = append(d.steps, s)
}

// before and after add a step of the operator.
func (d *draft) before(text string, commands ...shell.Command) {
	d.step(report.BeforeRestore, report.Operator, text, commands...)
}

func (d *draft) after(text string, commands ...shell.Command) {
	d.step(report.AfterRestore, report.Operator, text, commands...)
}

// controller adds a step that a controller does, and the operator may watch.
func (d *draft) controller(text string, commands ...shell.Command) {
	d.step(report.AfterRestore, report.Controller, text, commands...)
}

var asking = regexp.MustCompile(`^[A-Z][A-Z0-9_]*='' # `)

// isAsk reports whether shell.Ask made the line.
func isAsk(line string) bool { return asking.MatchString(line) }

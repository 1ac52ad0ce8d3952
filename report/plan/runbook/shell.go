package runbook

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"drift-detector/infra/shell"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/plan"
)

// Shell writes the plan as a script for a POSIX shell that does nothing as it
// is: prose is behind "##", every command behind "# ". Only the variables,
// which are empty, are set. It returns the first error of the writer.
func Shell(w io.Writer, p plan.Plan) error {
	s := &script{bufio.NewWriter(w)}
	s.printf("#!/bin/sh\n")
	s.prose("", "Restore runbook. As it is, this script does nothing: every command is commented out. Read one, take its '# ' away, run it, look at what it did, and go on to the next.")
	s.printf("\nset -eu\n")
	if of := title(&p); of != "" {
		s.title("RUNBOOK" + of)
	}
	s.list("", lead(&p))
	if len(p.Unknown) > 0 && p.Of.Step == 0 {
		s.title("WHAT THIS PLAN COULD NOT KNOW")
		s.list("", p.Unknown)
	}
	if todo := due(&p); len(todo) > 0 {
		s.title("WHAT IS TO BE DONE")
		s.list("", todo)
	}
	if p.Of.Step == 0 {
		s.title("CHECKLIST")
		for _, r := range p.Checklist {
			s.printf("## [ ] %4d  %-7s  %s: %s%s\n", r.Number, r.Phase, terminal.Escape(cmp.Or(r.Cluster, "all")), terminal.Escape(r.What), counted(r.Machines))
		}
	}
	if len(p.Variables) > 0 {
		s.title("SET THESE ONCE")
		s.prose("", "A line whose variable is not set ends with an error and does nothing.")
		for _, v := range variableLines(p.Variables) {
			s.printf("%s\n", v)
		}
	}
	for _, section := range p.Sections {
		if len(section.Chapters) > 0 {
			s.title(strings.ToUpper(section.Title))
		}
		for i := range section.Chapters {
			s.chapter(&section.Chapters[i])
		}
	}
	return s.Flush()
}

// counted says how many findings a row is about.
func counted(machines int) string {
	if machines == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d)", machines)
}

type script struct{ *bufio.Writer }

func (s *script) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

func (s *script) title(text string) {
	s.printf("\n## ======== %s\n", terminal.Escape(text))
}

func (s *script) list(indent string, lines []string) {
	for _, l := range lines {
		s.prose(indent+"- ", l)
	}
}

// prose writes text as comments, broken at spaces.
func (s *script) prose(lead, text string) {
	const width = 96
	row := "## " + lead
	fresh := true
	for _, word := range strings.Fields(terminal.Escape(text)) {
		if !fresh && utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > width {
			s.printf("%s\n", row)
			row, fresh = "## "+strings.Repeat(" ", len(lead)), true
		}
		if !fresh {
			row += " "
		}
		row, fresh = row+word, false
	}
	s.printf("%s\n", row)
}

// commands writes commands as comments. Quote lets no line break through.
func (s *script) commands(lines []shell.Command) {
	for _, l := range texts(lines) {
		s.printf("# %s\n", l)
	}
}

func (s *script) chapter(c *plan.Chapter) {
	s.printf("\n## ---- %s\n", terminal.Escape(c.Title))
	s.list("", c.Notes)
	for i := range c.Steps {
		s.step(c.Label(i), &c.Steps[i], []block{{lines: c.Steps[i].Lines}})
	}
	for i := range c.Batches {
		s.batch(&c.Batches[i])
	}
}

func (s *script) step(label string, step *plan.Step, blocks []block) {
	text := step.Text
	if step.Who == report.Controller {
		text = "The controllers do this. " + text
	}
	s.prose("[ ] "+label+" ", text)
	for _, b := range blocks {
		if b.item != "" {
			s.prose("* ", b.item)
		}
		s.commands(b.lines)
	}
}

func (s *script) batch(b *plan.Batch) {
	s.printf("\n## %d. %s\n", b.Number, terminal.Escape(b.Title))
	f := fold(b)
	if text := f.lead(b.Forecast); text != "" {
		s.prose("", text)
	}
	for _, item := range f.shown() {
		s.prose(fmt.Sprintf("(%d) ", item.Number), item.Name+says(&item, item.Forecast))
	}
	if f.pick != nil {
		s.commands(f.pick)
	}
	if more := f.more(); more != "" {
		s.prose("", more)
	}
	for n := range b.Steps {
		s.step(b.Label(n), &b.Steps[n], f.blocks[n])
	}
}

package plan

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// Shell writes the plan as a script for a POSIX shell that does nothing as it
// is: prose stands behind "##", every command behind "# ". Only the variables,
// which are empty, are set. It returns the first error of the writer.
func Shell(w io.Writer, p Plan) error {
	s := &script{bufio.NewWriter(w)}
	s.printf("#!/bin/sh\n")
	s.prose("", "Restore runbook. As it is, this script does nothing: every command is commented out. Read one, take its '# ' away, run it, look at what it did, and go on to the next.")
	s.printf("\nset -eu\n")
	s.list("", p.Answer)
	if len(p.Unknown) > 0 {
		s.title("WHAT THIS PLAN COULD NOT KNOW")
		s.list("", p.Unknown)
	}
	if len(p.Variables) > 0 {
		s.title("SET THESE ONCE")
		s.prose("", "A line whose variable is not set ends with an error and does nothing.")
		for _, v := range variableLines(p.Variables) {
			s.printf("%s\n", v)
		}
	}
	for _, section := range p.Sections {
		s.title(strings.ToUpper(section.Title))
		for i := range section.Chapters {
			s.chapter(&section.Chapters[i])
		}
	}
	return s.Flush()
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
func (s *script) commands(lines []string) {
	for _, l := range lines {
		s.printf("# %s\n", l)
	}
}

func (s *script) chapter(c *Chapter) {
	s.printf("\n## ---- %s\n", terminal.Escape(c.Title))
	s.list("", c.Notes)
	s.steps(c.Steps)
	for i := range c.Batches {
		s.batch(&c.Batches[i])
	}
}

func (s *script) steps(steps []report.Step) {
	for i, step := range steps {
		text := step.Text
		if step.Who == report.Controller {
			text = "The controllers do this. " + text
		}
		s.prose(fmt.Sprintf("%d. ", i+1), text)
		s.commands(step.Commands)
	}
}

func (s *script) batch(b *Batch) {
	s.printf("\n## %s\n", terminal.Escape(b.Title))
	if b.Note != "" {
		s.prose("", b.Note)
	}
	if b.Forecast != "" {
		s.prose("", "Forecast: "+b.Forecast)
	}
	s.steps(b.Steps)
	for i := range b.Items {
		item := &b.Items[i]
		s.prose("* ", strings.TrimSuffix(item.Name+": "+item.Detail, ": "))
		if item.Forecast != "" {
			s.prose("  ", "Forecast: "+item.Forecast)
		}
		for n, commands := range item.Commands {
			if len(b.Steps) > 1 && len(commands) > 0 {
				s.prose("  ", fmt.Sprintf("step %d", n+1))
			}
			s.commands(commands)
		}
	}
}

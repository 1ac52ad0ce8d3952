package plan

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/markdown"
	"drift-detector/report/terminal"
)

// Markdown writes the plan as a runbook in CommonMark. Foreign text is escaped:
// it makes no heading, link, markup or code of its own. It returns the first
// error of the writer.
func Markdown(w io.Writer, p Plan) error {
	m := &page{bufio.NewWriter(w)}
	m.printf("# Restore runbook\n\n")
	m.list(p.Answer)
	if len(p.Unknown) > 0 {
		m.printf("## What this plan could not know\n\n")
		m.list(p.Unknown)
	}
	if len(p.Variables) > 0 {
		m.printf("## Set these once\n\nThe commands are for sh or bash. Copy one block at a time, and look at what it did before you take the next: within a block, but for the pausing of Clusters, what follows a command that failed does not run. A line whose variable is not set ends with an error and does nothing.\n\n")
		m.code("", variableLines(p.Variables))
	}
	for _, s := range p.Sections {
		m.printf("## %s\n\n", prose(s.Title))
		for _, c := range s.Chapters {
			m.chapter(&c)
		}
	}
	return m.Flush()
}

// variableLines set the variables, with what each is behind it.
func variableLines(vs []Variable) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = "export " + shell.Set(v.Name, v.Value, v.Meaning).Text()
	}
	return out
}

type page struct{ *bufio.Writer }

func (m *page) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *page) list(lines []string) {
	for _, l := range lines {
		m.printf("- %s\n", prose(l))
	}
	m.printf("\n")
}

func (m *page) chapter(c *Chapter) {
	m.printf("### %s\n\n", prose(c.Title))
	if len(c.Notes) > 0 {
		m.list(c.Notes)
	}
	m.steps(c.Steps)
	for i := range c.Batches {
		m.batch(&c.Batches[i])
	}
}

func (m *page) steps(steps []report.Step) {
	for i, s := range steps {
		m.printf("%d. %s%s\n\n", i+1, whose(s), prose(s.Text))
		m.commands("   ", s.Commands)
	}
}

// whose marks what is not the reader's to do.
func whose(s report.Step) string {
	if s.Who == report.Controller {
		return "*The controllers do this.* "
	}
	return ""
}

func (m *page) batch(b *Batch) {
	m.printf("#### %s\n\n", prose(b.Title))
	if b.Note != "" {
		m.printf("%s\n\n", prose(b.Note))
	}
	if b.Forecast != "" {
		m.printf("Forecast: %s\n\n", prose(b.Forecast))
	}
	m.steps(b.Steps)
	for i := range b.Items {
		item := &b.Items[i]
		m.printf("- **%s**", prose(item.Name))
		if item.Detail != "" {
			m.printf(": %s", prose(item.Detail))
		}
		if item.Forecast != "" {
			m.printf(". Forecast: %s", prose(item.Forecast))
		}
		m.printf("\n")
		first := true
		for n, commands := range item.Commands {
			if len(commands) == 0 {
				continue
			}
			if first {
				m.printf("\n")
				first = false
			}
			if len(b.Steps) > 1 {
				m.printf("  Step %d:\n\n", n+1)
			}
			m.commands("  ", commands)
		}
	}
	m.printf("\n")
}

// commands writes the commands of one step. A fence is what a forge copies at
// one click, and a terminal runs what is pasted line by line, whatever has become
// of the line before. So a fence holds no two steps, and within it what follows a
// command runs only when that one succeeded, but for the pausing of Clusters, each
// of which stands for itself. Where the operator fills a value in, the commands
// before it are a fence of their own.
func (m *page) commands(indent string, lines []string) {
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && (!isAsk(lines[to]) || isAsk(lines[to-1])) {
			to++
		}
		m.code(indent, chained(lines[from:to]))
		from = to
	}
}

// chained makes one command of several.
func chained(lines []string) []string {
	out := slices.Clone(lines)
	for i := range out[:len(out)-1] {
		if !isAsk(out[i]) {
			out[i] += " &&"
		}
	}
	return out
}

// code writes lines as they are, within a fence that is longer than any of theirs.
func (m *page) code(indent string, lines []string) {
	fence := "```"
	for strings.Contains(strings.Join(lines, "\n"), fence) {
		fence += "`"
	}
	m.printf("%s%ssh\n", indent, fence)
	for _, l := range lines {
		m.printf("%s%s\n", indent, l)
	}
	m.printf("%s%s\n\n", indent, fence)
}

// prose shows text as it is: what could be markup is escaped (CommonMark 0.31,
// 2.4), what could trick a terminal is shown as bytes. A word that could notify
// somebody or link to an issue is code: forges look for those in the finished
// text, where a backslash is gone (github/markup issue 1168).
func prose(s string) string {
	words := strings.Split(terminal.Escape(s), " ")
	for i, w := range words {
		if strings.ContainsAny(w, "@#") {
			words[i] = markdown.Code(w)
		} else {
			words[i] = escaped(w)
		}
	}
	return strings.Join(words, " ")
}

func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>|~&!$^{}", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

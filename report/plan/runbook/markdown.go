package runbook

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/markdown"
	"drift-detector/report/plan"
)

// Markdown writes the plan as a runbook in CommonMark. Foreign text is escaped:
// it makes no heading, link, markup or code of its own. It returns the first
// error of the writer.
func Markdown(w io.Writer, p plan.Plan) error {
	m := &document{bufio.NewWriter(w), memory{said: map[string]string{}}}
	m.printf("# Restore runbook%s\n", prose(title(&p)))
	m.list(lead(&p))
	if len(p.Unknown) > 0 && p.Of.Step == 0 {
		m.printf("## What this plan could not know\n")
		m.list(p.Unknown)
	}
	if todo := due(&p); len(todo) > 0 {
		m.printf("## What is to be done\n")
		m.list(todo)
	}
	if p.Of.Step == 0 {
		m.checklist(p.Checklist)
	}
	if len(p.Variables) > 0 {
		m.printf("## Set these once\n%s\n", howToCopy)
		m.code("", variableLines(p.Variables))
	}
	for _, s := range p.Sections {
		if len(s.Chapters) > 0 {
			m.printf("\n## %s\n", prose(s.Title))
		}
		for i := range s.Chapters {
			if i > 0 {
				m.printf("\n")
			}
			m.chapter(&s.Chapters[i])
		}
	}
	return m.Flush()
}

// checklist writes the table of what there is to do.
func (m *document) checklist(rows []plan.Row) {
	m.printf("| # | when | cluster | what | machines |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		machines := ""
		if r.Machines > 0 {
			machines = fmt.Sprint(r.Machines)
		}
		m.printf("| %d | %s | %s | %s | %s |\n", r.Number, r.Phase, cell(cmp.Or(r.Cluster, "all")), cell(r.What), machines)
	}
	m.printf("\n")
}

// cell returns prose in a table, where a bar ends the cell even within code.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(prose(s), `\|`, "|"), "|", `\|`)
}

// document is a runbook in Markdown.
type document struct {
	*bufio.Writer
	memory
}

func (m *document) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *document) list(lines []string) {
	for _, l := range lines {
		m.printf("- %s\n", prose(l))
	}
	m.printf("\n")
}

func (m *document) chapter(c *plan.Chapter) {
	m.copied = map[string]string{}
	m.printf("### %s\n", prose(c.Title))
	for _, note := range c.Notes {
		m.printf("- %s\n", prose(note))
	}
	for i, s := range c.Steps {
		m.step(c.Label(i), &s, s.Text, []block{{lines: s.Lines}})
	}
	for i := range c.Batches {
		m.batch(&c.Batches[i])
	}
}

// step writes a box to tick, with what to copy. What a step before of the same chapter
// has is pointed to.
func (m *document) step(label string, s *plan.Step, text string, blocks []block) {
	before := m.sameAs(label, blocks)
	m.printf("- [ ] **%s** %s%s", label, whose(s), prose(text))
	if before != "" {
		m.printf(" *Commands: those of %s.*\n", before)
		return
	}
	m.printf("\n")
	for i, b := range blocks {
		if b.item != "" {
			if i == 0 {
				m.printf("\n")
			}
			m.printf("  %s:\n", prose(b.item))
		}
		m.commands(b.lines)
	}
}

// whose marks what is not the reader's to do.
func whose(s *plan.Step) string {
	if s.Who == report.Controller {
		return "*The controllers do this.* "
	}
	return ""
}

// batch has a heading, what is said of all, and the list, which is a part of the first
// where it is of one.
func (m *document) batch(b *plan.Batch) {
	m.printf("#### %d. %s\n", b.Number, prose(b.Title))
	f := fold(b)
	text, one := prose(f.lead(m.forecast(b.Forecast, b.Outcome, fmt.Sprint(b.Number)))), len(b.Items) == 1
	if one {
		text = strings.TrimSpace("**" + prose(b.Items[0].Name) + "**" + prose(says(&b.Items[0], "")) + ". " + text)
	}
	if text != "" {
		m.printf("%s\n", text)
	}
	for _, item := range f.shown() {
		if !one {
			forecast := m.forecast(item.Forecast, item.Outcome, fmt.Sprintf("%d (%d)", b.Number, item.Number))
			m.printf("- (%d) **%s**%s\n", item.Number, prose(item.Name), prose(says(&item, forecast)))
		}
	}
	if more := f.more(); more != "" {
		m.printf("- %s\n", prose(more))
	}
	if f.pick != nil {
		m.code("", f.pick[0].Rows(widest))
	}
	for n := range b.Steps {
		s := &b.Steps[n]
		text := s.Text
		if !b.Serial {
			text = m.once(text, b.Label(n))
		}
		m.step(b.Label(n), s, text, f.blocks[n])
	}
}

// commands writes the commands of one step. Where the operator fills a value in, the commands
// before it are a block of their own. The first block is indented, which takes fewer lines, and the
// next has a fence, because it would be one with the first otherwise.
func (m *document) commands(lines []shell.Command) {
	for i, block := range pieces(lines) {
		if i == 0 {
			m.printf("\n      %s\n", strings.Join(block, "\n      "))
		} else {
			m.code("  ", block)
		}
	}
}

// code writes lines as they are, within a fence that is longer than any of theirs.
func (m *document) code(indent string, lines []string) {
	fence := "```"
	for strings.Contains(strings.Join(lines, "\n"), fence) {
		fence += "`"
	}
	m.printf("%s%ssh\n", indent, fence)
	for _, l := range lines {
		m.printf("%s%s\n", indent, l)
	}
	m.printf("%s%s\n", indent, fence)
}

// prose shows text as it is: what could be markup is escaped (CommonMark 0.31,
// 2.4), what could trick a terminal is shown as bytes. A word that could notify
// somebody or link to an issue or a page is code: forges look for those in the
// finished text, where a backslash is gone (github/markup issue 1168).
func prose(s string) string {
	words := strings.Split(terminal.Escape(s), " ")
	for i, w := range words {
		if calling.MatchString(w) {
			words[i] = markdown.Code(w)
		} else {
			words[i] = escaped(w)
		}
	}
	return strings.Join(words, " ")
}

var calling = lazyregexp.New(`(?i)[@#]|https?://|ftp://|www\.|mailto:|gh-[0-9]`)

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

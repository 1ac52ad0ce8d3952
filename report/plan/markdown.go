package plan

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/markdown"
)

// Markdown writes the plan as a runbook in CommonMark. Foreign text is escaped:
// it makes no heading, link, markup or code of its own. It returns the first
// error of the writer.
func Markdown(w io.Writer, p Plan) error {
	m := &page{Writer: bufio.NewWriter(w), said: map[string]string{}}
	m.printf("# Restore runbook%s\n", prose(p.title()))
	m.list(p.lead())
	if len(p.Unknown) > 0 && p.Of.Step == 0 {
		m.printf("## What this plan could not know\n")
		m.list(p.Unknown)
	}
	if due := p.due(); len(due) > 0 {
		m.printf("## What is to be done\n")
		m.list(due)
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

const howToCopy = "The commands are for sh or bash. Copy one block at a time, and look at what it did before you take the next: within a block nothing runs after a command that failed, except in a loop, which goes on with the next object. A line whose variable is not set ends with an error and does nothing. `drift-detector plan REPORT -o plan.env` writes these variables into a file: fill them in there, and begin each shell with `. ./plan.env`."

// checklist writes the table of what there is to do.
func (m *page) checklist(rows []Row) {
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

// variableLines set the variables that are not set yet, with what each is behind it, or above
// it where one row has no room for both.
func variableLines(vs []Variable) []string {
	var out []string
	for _, v := range vs {
		line := shell.Default(v.Name, v.Value, v.Meaning).Text()
		if head, cut := strings.CutSuffix(line, " # "+terminal.Escape(v.Meaning)); cut && len(line) > widest {
			out = append(out, "# "+terminal.Escape(v.Meaning))
			line = head
		}
		out = append(out, line)
	}
	return out
}

type page struct {
	*bufio.Writer
	copied map[string]string // the step that has these commands, in a chapter
	said   map[string]string // the step that says this
}

func (m *page) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *page) list(lines []string) {
	for _, l := range lines {
		m.printf("- %s\n", prose(l))
	}
	m.printf("\n")
}

func (m *page) chapter(c *Chapter) {
	m.copied = map[string]string{}
	m.printf("### %s\n", prose(c.Title))
	for _, note := range c.Notes {
		m.printf("- %s\n", prose(note))
	}
	for i, s := range c.Steps {
		m.step(c.label(i), &s, s.Text, []block{{lines: s.lines}})
	}
	for i := range c.Batches {
		m.batch(&c.Batches[i])
	}
}

// step writes a box to tick, with what to copy. What a step before of the same chapter
// has is pointed to.
func (m *page) step(label string, s *Step, text string, blocks []block) {
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

// sameAs returns the step before of the same chapter that has these commands; without one it is this one
// for those that follow.
func (m *page) sameAs(label string, blocks []block) string {
	all := ""
	for _, b := range blocks {
		all += strings.Join(append(texts(b.lines), b.item), "\x00") + "\x00"
	}
	before := m.copied[all]
	if len(blocks) > 0 && len(blocks[0].lines) > 0 && before == "" {
		m.copied[all] = label
	}
	return before
}

// once returns a text, or its first sentence and where the rest has been said. What is done for
// one machine after the other is said in full each time: it says when to stop.
func (m *page) once(text, label string) string {
	before := m.said[text]
	if before == "" {
		m.said[text] = label
		return text
	}
	first, rest, _ := strings.Cut(text, ". ")
	if rest == "" {
		return text
	}
	return first + ". As in " + before + "."
}

// forecast returns what is foreseen, or its first word and where the rest has been said.
func (m *page) forecast(text string, outcome code.Outcome, label string) string {
	if text == "" {
		return ""
	}
	if before := m.said[text]; before != "" {
		return string(outcome) + ", as in step " + before + "."
	}
	m.said[text] = label
	return text
}

// whose marks what is not the reader's to do.
func whose(s *Step) string {
	if s.Who == report.Controller {
		return "*The controllers do this.* "
	}
	return ""
}

// batch has a heading, what is said of all, and the list, which is a part of the first
// where it is of one.
func (m *page) batch(b *Batch) {
	m.printf("#### %d. %s\n", b.Number, prose(b.Title))
	f := b.fold()
	text, one := prose(b.lead(f, m.forecast(b.Forecast, b.outcome, fmt.Sprint(b.Number)))), len(b.Items) == 1
	if one {
		text = strings.TrimSpace("**" + prose(b.Items[0].Name) + "**" + prose(b.Items[0].says("")) + ". " + text)
	}
	if text != "" {
		m.printf("%s\n", text)
	}
	for _, item := range b.shown(f) {
		if !one {
			forecast := m.forecast(item.Forecast, item.outcome, fmt.Sprintf("%d (%d)", b.Number, item.Number))
			m.printf("- (%d) **%s**%s\n", item.Number, prose(item.Name), prose(item.says(forecast)))
		}
	}
	if more := b.more(f); more != "" {
		m.printf("- %s\n", prose(more))
	}
	if f.pick != nil {
		m.code("", f.pick[0].Rows(widest))
	}
	for n := range b.Steps {
		s := &b.Steps[n]
		text := s.Text
		if !b.Serial {
			text = m.once(text, b.label(n))
		}
		m.step(b.label(n), s, text, f.blocks[n])
	}
}

// commands writes the commands of one step. A block is what a forge copies at
// one click, and a terminal runs what is pasted line by line, whatever has become
// of the line before. So a block holds no two steps, and within it what follows a
// command runs only when that one succeeded, except in a loop, where each object is
// for itself. Where the operator fills a value in, the commands before it are a block of
// their own. The first block is indented, which takes fewer lines, and the next has a
// fence, because it would be one with the first otherwise.
func (m *page) commands(lines []shell.Command) {
	for i, block := range pieces(lines) {
		if i == 0 {
			m.printf("\n      %s\n", strings.Join(block, "\n      "))
		} else {
			m.code("  ", block)
		}
	}
}

// pieces returns the lines that are copied at once: a new piece begins where the operator fills a
// value in.
func pieces(lines []shell.Command) [][]string {
	var out [][]string
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && (!lines[to].IsAsk() || lines[to-1].IsAsk()) {
			to++
		}
		out = append(out, chained(lines[from:to]))
		from = to
	}
	return out
}

// chained makes one command of several.
func chained(lines []shell.Command) (out []string) {
	for i, l := range lines {
		out = append(out, l.Rows(widest)...)
		if i < len(lines)-1 && !l.IsAsk() {
			out[len(out)-1] += " &&"
		}
	}
	return out
}

// widest is how long a row is. Tests compare commands as single lines.
var widest = 150

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

var calling = regexp.MustCompile(`(?i)[@#]|https?://|ftp://|www\.|mailto:|gh-[0-9]`)

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

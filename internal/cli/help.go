package cli

import (
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/lazyregexp"
)

// Columns of the help.
const (
	HelpWidth  = 80
	helpColumn = 30 // at which the text about a flag begins
)

// HelpGroup is a group of flags in the help of commands, by what they are for.
type HelpGroup struct {
	Title  string
	Flags  []string
	Refers bool // it mentions at its end the flags that are explained elsewhere
}

// groupOf returns the index of a flag's group for a command: the last one, where it is in none.
func (p *Program) groupOf(command, flag string) int {
	like := p.Like(command, flag)
	if i := slices.IndexFunc(p.Groups, func(g HelpGroup) bool { return slices.Contains(g.Flags, like) }); i >= 0 {
		return i
	}
	return len(p.Groups) - 1
}

// helpPage returns what --help prints: one screen. The rest is in the manual and the docs:
// what follows the first semicolon of a flag's usage, further examples, the
// variables of the environment.
func (p *Program) helpPage(c *urfave.Command) string {
	var b strings.Builder
	about, rest, _ := strings.Cut(c.Description, "\n\n")
	if strings.HasPrefix(about, "EXAMPLE") {
		about, rest = strings.ToUpper(c.Usage[:1])+c.Usage[1:]+".", c.Description
	}
	fmt.Fprintf(&b, "%s\n\n%s\n", c.UsageText, about)
	groups := make([]string, len(p.Groups))
	for _, f := range c.Flags {
		if p.Elsewhere(c.Name, f.Names()[0]) != "" {
			continue
		}
		if d, ok := f.(interface{ IsVisible() bool }); !ok || d.IsVisible() {
			groups[p.groupOf(c.Name, f.Names()[0])] += helpFlag(f, false)
		}
	}
	b.WriteString("\n")
	for i, g := range groups {
		if p.Groups[i].Refers {
			g += p.referred(c)
		}
		if g != "" {
			fmt.Fprintf(&b, "%s:\n%s", p.Groups[i].Title, g)
		}
	}
	_, examples, _ := strings.Cut(rest, "EXAMPLES:\n")
	fmt.Fprintf(&b, "EXAMPLES:\n%s", twoExamples(examples))
	var ends []string
	for _, s := range p.Statuses(c.Name) {
		ends = append(ends, fmt.Sprintf("%d %s", s.Code, s.Short))
	}
	b.WriteString(Indented("EXIT STATUS: "+strings.Join(ends, ", "), 0, 3))
	return b.String()
}

// referred mentions the flags that are explained elsewhere.
func (p *Program) referred(c *urfave.Command) string {
	var words []string
	for _, f := range c.Flags {
		if w := p.Elsewhere(c.Name, f.Names()[0]); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return ""
	}
	left := "   " + strings.Join(words, ", ")
	return left + strings.Repeat(" ", max(helpColumn-len([]rune(left)), 1)) + "see command man\n"
}

// twoExamples returns the first lines of a description's examples that the screen has room for.
func twoExamples(description string) string {
	var found []string
	for line := range strings.Lines(description) {
		if strings.HasPrefix(line, "   ") && (len(line) <= HelpWidth || len(found) == 0) && len(found) < 2 {
			found = append(found, strings.TrimSuffix(line, "\n")+"\n")
		}
	}
	return strings.Join(found, "")
}

// helpFlag returns one flag in two columns: with all of its text and its variables for the manual.
func helpFlag(f urfave.Flag, whole bool) string {
	d, ok := f.(urfave.DocGenerationFlag)
	if !ok {
		return ""
	}
	var names []string
	for _, n := range f.Names() {
		names = append([]string{dashed(n)}, names...) // the short one first
	}
	usage := d.GetUsage()
	if !whole {
		usage, _, _ = strings.Cut(usage, ";")
	}
	left := "   " + strings.Join(names, ", ")
	if m := inBackquotes.FindStringSubmatch(usage); m != nil && d.TakesValue() {
		left += " " + m[1]
	}
	usage = strings.ReplaceAll(usage, "`", "")
	if v := strings.Trim(d.GetDefaultText(), `"`); d.TakesValue() && v != "" {
		usage += " (default " + v + ")"
	}
	if v := d.GetEnvVars(); whole && len(v) > 0 {
		usage += " [" + strings.Join(v, ", ") + "]"
	}
	if len(left) >= helpColumn {
		return left + "\n" + Indented(usage, helpColumn, helpColumn)
	}
	return left + strings.Repeat(" ", helpColumn-len(left)) + strings.TrimLeft(Indented(usage, helpColumn, helpColumn), " ")
}

var inBackquotes = lazyregexp.New("`([^`]+)`")

// Indented breaks a text into lines of the help, the first with another margin.
func Indented(text string, first, rest int) string {
	lines := Filled(strings.Repeat("x", first)+text, HelpWidth-rest)
	if first == rest {
		lines = Filled(text, HelpWidth-rest)
	}
	lines = strings.TrimPrefix(lines, strings.Repeat("x", first)) + "\n"
	return strings.Repeat(" ", first) + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n"+strings.Repeat(" ", rest)) + "\n"
}

// appHelp returns what help without a command prints.
func (p *Program) appHelp() string {
	var b strings.Builder
	fmt.Fprintf(&b, "drift-detector COMMAND [options]\n\n%s\n\nCOMMANDS:\n", p.Description)
	for _, c := range p.Commands {
		fmt.Fprintf(&b, "   %-13s%s", c.Name, strings.TrimLeft(Indented(c.Usage, 16, 16), " "))
	}
	b.WriteString("\nOPTIONS:\n")
	for _, f := range p.Flags {
		b.WriteString(helpFlag(f, false))
	}
	fmt.Fprintf(&b, "\nEXAMPLES:\n%s\n'drift-detector help COMMAND' has its options, 'drift-detector man' all of it.\n", p.Examples)
	return b.String()
}

// exitStatus returns the block about them at the end of a command's description.
func (p *Program) exitStatus(command string) string {
	var b strings.Builder
	b.WriteString("\n\nEXIT STATUS:")
	for _, s := range p.Statuses(command) {
		fmt.Fprintf(&b, "\n   %-3d  %s", s.Code, strings.ReplaceAll(s.Long, "\n", "\n        "))
	}
	return b.String()
}

// Filled breaks a text into lines of at most width bytes, where words allow it.
func Filled(text string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

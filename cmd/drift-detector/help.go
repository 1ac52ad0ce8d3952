package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

const (
	helpWidth  = 80
	helpColumn = 30 // at which the text about a flag begins
)

// helpGroups are the flags of commands by what they are for, in the order of help. What
// is in none of them comes last.
var helpGroups = []struct {
	title string
	flags []string
}{
	{"NEEDED", []string{"backup", "kubeconfig", "context", "output", "reason"}},
	{"WHERE AND AS WHOM", slices.Concat(providerFlagNames, []string{"endpoint", "credentials", "insecure-skip-verify", "skip-access-apiserver", "timeout", "deadline", "inventory", "empty-folder", "dry-run"})},
	{"WHICH CLUSTERS", []string{"cluster", "namespace", "selector"}},
	{"BUCKETS", slices.Concat(newestFlagNames, storeFlagNames)},
	{"OUTPUT", []string{"format", "summary", "quiet", "ignore-healthy-resources"}},
	{"CI", []string{"fail-on", "ignore-file", "confirmations", "push", "push-user", "notify", "link"}},
	{"OPTIONS", nil},
}

var providerFlagNames = func() (names []string) {
	for _, p := range providerSpecs() {
		for _, f := range p.Flags {
			names = append(names, f.Name)
		}
	}
	return names
}()

// groupOf returns the index of a flag's group for a command. Only inventory needs --output,
// and what says "the clusters" of ignore says which findings.
func groupOf(command string, f urfave.Flag) int {
	name := f.Names()[0]
	if name == "output" && command != "inventory" {
		name = "format"
	}
	if command != "ignore" || name == "reason" || name == "format" {
		for i, g := range helpGroups {
			for _, n := range g.flags {
				if n == name {
					return i
				}
			}
		}
	}
	return len(helpGroups) - 1
}

// helpPage returns what --help prints: one screen. The rest is in the manual and the docs:
// what follows the first semicolon of a flag's usage, further examples, the
// variables of the environment.
func helpPage(c *urfave.Command) string {
	var b strings.Builder
	about, rest, _ := strings.Cut(c.Description, "\n\n")
	if strings.HasPrefix(about, "EXAMPLE") {
		about, rest = strings.ToUpper(c.Usage[:1])+c.Usage[1:]+".", c.Description
	}
	fmt.Fprintf(&b, "%s\n\n%s\n", c.UsageText, about)
	groups := make([]string, len(helpGroups))
	for _, f := range c.Flags {
		if elsewhere(c.Name, f) != "" {
			continue
		}
		if d, ok := f.(interface{ IsVisible() bool }); !ok || d.IsVisible() {
			groups[groupOf(c.Name, f)] += helpFlag(f, false)
		}
	}
	groups[1] += referred(c)
	b.WriteString("\n")
	for i, g := range groups {
		if g != "" {
			fmt.Fprintf(&b, "%s:\n%s", helpGroups[i].title, g)
		}
	}
	_, examples, _ := strings.Cut(rest, "EXAMPLES:\n")
	fmt.Fprintf(&b, "EXAMPLES:\n%s", twoExamples(examples))
	var ends []string
	for _, s := range statusesOf(c.Name) {
		ends = append(ends, fmt.Sprintf("%d %s", s.Code, s.Short))
	}
	b.WriteString(indented("EXIT STATUS: "+strings.Join(ends, ", "), 0, 3))
	return b.String()
}

// elsewhere returns the word for a flag that the help of a command only mentions, because one
// screen has no room for it; empty for one that it explains. The manual has all of them.
func elsewhere(command string, f urfave.Flag) string {
	name := f.Names()[0]
	prefix, _, _ := strings.Cut(name, "-")
	switch {
	case slices.Contains(newestFlagNames, name) && command != "backups":
		return "--newest"
	case command == "detect" && slices.Contains([]string{"push", "push-user", "notify", "link"}, name):
		return "--push"
	case command == "detect" && name == "context":
		return "--" + name
	case slices.Contains(providerFlagNames, name):
		return "providers'"
	case command == "detect" && name == "empty-folder", slices.Contains(storeFlagNames, name) && command != "backups":
		return "--" + prefix + "-…"
	case command == "backups" && name != "credentials" && name != "deadline" && slices.Contains(slices.Concat(helpGroups[1].flags, helpGroups[2].flags), name):
		return "those of detect"
	}
	return ""
}

// referred mentions the flags that are explained elsewhere.
func referred(c *urfave.Command) string {
	var words []string
	for _, f := range c.Flags {
		if w := elsewhere(c.Name, f); w != "" && !slices.Contains(words, w) {
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
		if strings.HasPrefix(line, "   ") && (len(line) <= helpWidth || len(found) == 0) && len(found) < 2 {
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
		names = append([]string{cli.Dashed(n)}, names...) // the short one first
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
		return left + "\n" + indented(usage, helpColumn, helpColumn)
	}
	return left + strings.Repeat(" ", helpColumn-len(left)) + strings.TrimLeft(indented(usage, helpColumn, helpColumn), " ")
}

var inBackquotes = regexp.MustCompile("`([^`]+)`")

// indented breaks a text into lines of the help, the first with another margin.
func indented(text string, first, rest int) string {
	lines := filled(strings.Repeat("x", first)+text, helpWidth-rest)
	if first == rest {
		lines = filled(text, helpWidth-rest)
	}
	lines = strings.TrimPrefix(lines, strings.Repeat("x", first)) + "\n"
	return strings.Repeat(" ", first) + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n"+strings.Repeat(" ", rest)) + "\n"
}

// appHelp returns what help without a command prints.
func appHelp(app *urfave.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "drift-detector COMMAND [options]\n\n%s\n\nCOMMANDS:\n", app.Description)
	for _, c := range app.Commands {
		fmt.Fprintf(&b, "   %-13s%s", c.Name, strings.TrimLeft(indented(c.Usage, 16, 16), " "))
	}
	b.WriteString("\nOPTIONS:\n")
	for _, f := range app.Flags {
		b.WriteString(helpFlag(f, false))
	}
	b.WriteString(`
EXAMPLES:
   drift-detector detect --backup mgmt-data.tar.gz -o report.json
   drift-detector plan report.json > runbook.md

'drift-detector help COMMAND' has its options, 'drift-detector man' all of it.
`)
	return b.String()
}

func helpCommand(s *cli.Streams) *urfave.Command {
	return &urfave.Command{
		Name:      "help",
		Usage:     "print help on the program or on a command",
		UsageText: "drift-detector help [COMMAND]",
		Description: `EXAMPLES:
   drift-detector help
   drift-detector help detect`,
		BashComplete: func(c *urfave.Context) { fmt.Fprintln(s.Stdout, strings.Join(cli.CommandNames(c.App), "\n")) },
		Action: func(c *urfave.Context) error {
			page := c.App.CustomAppHelpTemplate
			if name := c.Args().First(); name != "" {
				if c.NArg() > 1 {
					return &cli.UsageError{Message: fmt.Sprintf("unexpected argument %q", c.Args().Get(1)), Command: "help"}
				}
				command := c.App.Command(name)
				if command == nil {
					return cli.UnknownCommand(c.App, name)
				}
				page = command.CustomHelpTemplate
			}
			_, err := fmt.Fprint(s.Stdout, page)
			return err
		},
	}
}

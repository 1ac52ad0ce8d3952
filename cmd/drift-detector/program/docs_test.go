package program

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

var update = flag.Bool("update", false, "write the generated parts of docs again")

// docs/commands.md is made from the definitions of commands and flags, so that
// what --help says is there too.
func TestCommandsAreDocumented(t *testing.T) {
	generated(t, "commands.md", commandsPage(newProgram(&cli.Streams{}).App))
}

// docs/codes.md is what explain says of all codes.
func TestCodesAreDocumented(t *testing.T) { generated(t, "codes.md", codesPage()) }

func codesPage() string {
	var b strings.Builder
	b.WriteString("# Codes\n\nWhat `drift-detector explain` says, made by `go test ./cmd/drift-detector/program -run Documented -update`.\n")
	kind := ""
	for _, rows := range byCode(allCodes()) {
		if title := rows[0].Kinds[0].Title(); title != kind {
			kind = title
			fmt.Fprintf(&b, "\n## %s\n", kind)
		}
		r := rows[0]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n* Why it matters: %s\n", r.Code, r.Meaning(), r.Why)
		if r.Do != "" {
			fmt.Fprintf(&b, "* What to do: %s\n", r.Do)
		}
		for _, r := range rows[1:] {
			fmt.Fprintf(&b, "* %s %s %s\n", r.Meaning(), r.Why, r.Do)
		}
		if phases := phasesOf(rows); len(phases) > 0 {
			fmt.Fprintf(&b, "* In the plan: %s\n", inThePlan("drift-detector", phases, nil, "; "))
		}
	}
	return strings.NewReplacer("<", "\\<", "*-", "\\*-").Replace(b.String())
}

// generated compares a page, or writes it with -update.
func generated(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("../../../docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("docs/%s is not what the code says; write it again: go test ./cmd/drift-detector/program -run Documented -update", name)
	}
}

func commandsPage(app *urfave.App) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nMade from the program's own definitions by `go test ./cmd/drift-detector/program -run Documented -update`.\n\n" +
		"A flag that is not given is read from the variable of the environment in its last column; the command line wins.\n" +
		"There is none for a flag that weakens trust. An empty variable is one that is not set; a flag with an empty value is\n" +
		"wrong usage, except --fail-on. Flags may come before or after other arguments.\n\n## For all commands\n\n")
	flagTable(&b, app.Flags)
	for _, c := range app.Commands {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```\n%s\n\n%s\n```\n", c.Name, strings.ToUpper(c.Usage[:1])+c.Usage[1:], c.UsageText, c.Description)
		if len(c.Flags) > 0 {
			b.WriteString("\n")
			flagTable(&b, c.Flags)
		}
	}
	return b.String()
}

func flagTable(b *strings.Builder, flags []urfave.Flag) {
	b.WriteString("| flag | meaning | variable |\n|---|---|---|\n")
	for _, f := range flags {
		d := f.(urfave.DocGenerationFlag)
		names := make([]string, len(f.Names()))
		for i, n := range f.Names() {
			names[i] = "`" + strings.Repeat("-", min(len(n), 2)) + n + "`"
		}
		usage := d.GetUsage()
		if d.TakesValue() && d.GetDefaultText() != "" {
			usage += " (default " + strings.ReplaceAll(d.GetDefaultText(), `"`, "`") + ")"
		}
		variables := ""
		for _, v := range d.GetEnvVars() {
			variables += "`" + v + "`"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", strings.Join(names, ", "), strings.ReplaceAll(usage, "|", `\|`), variables)
	}
}

// Every flag that the real --help of a command lists is in the docs.
func TestHelpAndDocsNameTheSame(t *testing.T) {
	page, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	app := newProgram(&cli.Streams{}).App
	for _, c := range app.Commands {
		help := runs.Run(t, "help", c.Name)
		help.Demand(t, cli.ExitOK)
		_, section, ok := strings.Cut(string(page), "\n## "+c.Name+"\n")
		if !ok {
			t.Errorf("docs/commands.md has no section %s", c.Name)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for line := range strings.Lines(help.Stdout) {
			if !strings.HasPrefix(line, "   -") {
				continue
			}
			if strings.Contains(line, "see command man") {
				continue
			}
			for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' }) {
				if name, long := strings.CutPrefix(word, "--"); long && name != "help" && !strings.Contains(section, "`--"+name+"`") {
					t.Errorf("docs/commands.md lacks --%s of %s, which its --help has", name, c.Name)
				}
				if long := strings.HasPrefix(word, "--"); !long && !strings.HasPrefix(word, "-") {
					break // the rest is prose
				}
			}
		}
		for _, f := range c.Flags {
			name := f.Names()[0]
			word := cmp.Or(elsewhere(c.Name, name), "--"+name+" ")
			if name != "help" && !strings.Contains(help.Stdout, word) {
				t.Errorf("the help of %s lacks %s", c.Name, word)
			}
		}
	}
}

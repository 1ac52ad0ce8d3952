package main

import (
	"io"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"drift-detector/infra/all"
)

func manCommand(s *streams) *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print the manual page",
		UsageText: "drift-detector man",
		Description: `All commands and flags, as their --help has them, for man(1).

EXAMPLES:
   drift-detector man > /usr/local/share/man/man1/drift-detector.1`,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			page, err := manual(c.App)
			if err != nil {
				return err
			}
			if _, err = io.WriteString(s.stdout, page); err == nil && isTerminal(s.stdout) {
				s.hint("this is for man(1); to read it: drift-detector man > drift-detector.1; man ./drift-detector.1")
			}
			return err
		},
	}
}

// manual is the page, made from the definitions of commands and flags.
func manual(app *cli.App) (string, error) {
	before := cli.MarkdownDocTemplate
	defer func() { cli.MarkdownDocTemplate = before }()
	cli.MarkdownDocTemplate = manualTemplate + environmentLines()
	page, err := app.ToManWithSection(1)
	if err != nil {
		return "", err
	}
	return placeholder.ReplaceAllString(page, `\fI$3\fP$1$2$3$4`), nil
}

// placeholder is a flag's value and its first word in bold, which is what --help
// calls it by.
var placeholder = regexp.MustCompile(`\\fIvalue\\fP(\n[^\n]*?)(\\fB)([^\\\n]+)(\\fR)`)

const flagTemplate = `{{define "flags"}}{{range .}}
**{{range $i, $name := .Names}}{{if $i}}, {{end}}{{if gt (len $name) 1}}\-\-{{else}}\-{{end}}{{$name}}{{end}}**{{if .TakesValue}} *value*{{end}}
: {{.GetUsage}}{{if .TakesValue}}{{with .GetDefaultText}} (default: {{.}}){{end}}{{end}}{{range .GetEnvVars}} [{{.}}]{{end}}
{{end}}{{end}}`

const manualTemplate = flagTemplate + `% {{.App.Name}} {{.SectionNum}}

# NAME

{{.App.Name}} - {{.App.Usage}}

# SYNOPSIS

**{{.App.Name}}** [*global options*] *command* [*options*] [*arguments*]

# DESCRIPTION

{{.App.Description}}

# GLOBAL OPTIONS
{{template "flags" .App.VisibleFlags}}
# COMMANDS
{{range .App.VisibleCommands}}
## {{.Name}}

{{.Usage}}

` + "```\n{{.UsageText}}\n\n{{.Description}}\n```" + `
{{template "flags" .VisibleFlags}}{{end}}
# ENVIRONMENT

A flag that is not given is read from the variable in brackets behind it; a flag of the command line wins.
An empty variable is one that is not set.
There is none for a flag that weakens trust.
NO_COLOR and TERM=dumb turn colour off; FORCE_COLOR=1 or CLICOLOR_FORCE=1 turn it on where stdout is no terminal.
NO_COLOR wins.
`

// environmentLines are the lines of the manual on variables of other programs.
func environmentLines() string {
	var b strings.Builder
	for _, p := range all.Registry().Specs() {
		if p.Environment.About != "" {
			b.WriteString(p.Environment.About + ".\n")
		}
	}
	b.WriteString("HTTPS_PROXY and NO_PROXY say how to reach endpoints.\n")
	return b.String()
}

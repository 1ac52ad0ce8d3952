package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

func manCommand(s *cli.Streams) *urfave.Command {
	return &urfave.Command{
		Name:      "man",
		Usage:     "print the manual page",
		UsageText: "drift-detector man",
		Description: `All commands and flags, as their --help has them, for man(1).

EXAMPLES:
   drift-detector man > /usr/local/share/man/man1/drift-detector.1`,
		Action: func(c *urfave.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := io.WriteString(s.Stdout, manual(c.App))
			if err == nil && cli.IsTerminal(s.Stdout) {
				s.Hint("this is for man(1); to read it: drift-detector man > drift-detector.1; man ./drift-detector.1")
			}
			return err
		},
	}
}

// manual returns the page, made from the definitions of commands and flags.
func manual(app *urfave.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s 1\n\n# NAME\n\n%[1]s - %s\n\n# DESCRIPTION\n\n```\n%s```\n\n# COMMANDS\n", app.Name, app.Usage, appHelp(app))
	for _, c := range app.VisibleCommands() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s\n\n%s\n\nOPTIONS:\n", c.Name, c.Usage, c.UsageText, c.Description)
		for _, f := range c.VisibleFlags() {
			b.WriteString(helpFlag(f, true))
		}
		b.WriteString("```\n")
	}
	b.WriteString(environment)
	return string(md2man.Render([]byte(b.String() + environmentLines())))
}

const environment = `
# ENVIRONMENT

A flag that is not given is read from the variable in brackets behind it; a flag of the command line wins.
An empty variable is one that is not set.
There is none for a flag that weakens trust.
NO_COLOR and TERM=dumb turn colour off; FORCE_COLOR=1 or CLICOLOR_FORCE=1 turn it on where stdout is no terminal.
NO_COLOR wins.
`

// environmentLines returns the lines of the manual on variables of other programs.
func environmentLines() string {
	var b strings.Builder
	for _, p := range providerSpecs() {
		if p.Environment.About != "" {
			b.WriteString(p.Environment.About + ".\n")
		}
	}
	b.WriteString("HTTPS_PROXY and NO_PROXY say how to reach endpoints.\n")
	return b.String()
}

package cli

import (
	"fmt"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	urfave "github.com/urfave/cli/v2"
)

// Manual returns the page for man(1), made from the definitions of commands and flags; variables are
// lines on those of other programs.
func Manual(app *urfave.App, variables string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%% %s 1\n\n# NAME\n\n%[1]s - %s\n\n# DESCRIPTION\n\n```\n%s```\n\n# COMMANDS\n", app.Name, app.Usage, app.CustomAppHelpTemplate)
	for _, c := range app.VisibleCommands() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```\n%s\n\n%s\n\nOPTIONS:\n", c.Name, c.Usage, c.UsageText, c.Description)
		for _, f := range c.VisibleFlags() {
			b.WriteString(helpFlag(f, true))
		}
		b.WriteString("```\n")
	}
	b.WriteString(environment)
	return string(md2man.Render([]byte(b.String() + variables)))
}

const environment = `
# ENVIRONMENT

A flag that is not given is read from the variable in brackets behind it; a flag of the command line wins.
An empty variable is one that is not set.
There is none for a flag that weakens trust.
NO_COLOR and TERM=dumb turn colour off; FORCE_COLOR=1 or CLICOLOR_FORCE=1 turn it on where stdout is no terminal.
NO_COLOR wins.
`

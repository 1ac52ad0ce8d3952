package program

import (
	"io"
	"strings"

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
			_, err := io.WriteString(s.Stdout, cli.Manual(c.App, environmentLines()))
			if err == nil && cli.IsTerminal(s.Stdout) {
				s.Hint("this is for man(1); to read it: drift-detector man > drift-detector.1; man ./drift-detector.1")
			}
			return err
		},
	}
}

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

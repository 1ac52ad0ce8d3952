package program

import (
	"fmt"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

// helpGroups are the flags of commands by what they are for, in the order of help. What
// is in none of them comes last.
var helpGroups = []cli.HelpGroup{
	{Title: "NEEDED", Flags: []string{"backup", "kubeconfig", "context", "output", "reason"}},
	{Title: "WHERE AND AS WHOM", Flags: whereAndWhom, Refers: true},
	{Title: "WHICH CLUSTERS", Flags: whichClusters},
	{Title: "BUCKETS", Flags: slices.Concat(newestFlagNames, storeFlagNames)},
	{Title: "OUTPUT", Flags: []string{"format", "summary", "quiet", "ignore-healthy-resources"}},
	{Title: "CI", Flags: []string{"fail-on", "ignore-file", "confirmations", "push", "push-user", "notify", "link"}},
	{Title: "OPTIONS"},
}

var (
	whereAndWhom  = slices.Concat(providerFlagNames, []string{"endpoint", "credentials", "insecure-skip-verify", "skip-access-apiserver", "timeout", "deadline", "inventory", "empty-folder", "dry-run"})
	whichClusters = []string{"cluster", "namespace", "selector"}
)

var providerFlagNames = func() (names []string) {
	for _, p := range providerSpecs() {
		for _, f := range p.Flags {
			names = append(names, f.Name)
		}
	}
	return names
}()

// likeFlag returns the flag beside which the help of a command has another one, "" for none: only
// inventory needs --output, and what says "the clusters" of ignore says which findings.
func likeFlag(command, name string) string {
	if name == "output" && command != "inventory" {
		name = "format"
	}
	if command == "ignore" && name != "reason" && name != "format" {
		return ""
	}
	return name
}

// elsewhere returns the word for a flag that the help of a command only mentions, because one
// screen has no room for it; empty for one that it explains. The manual has all of them.
func elsewhere(command, name string) string {
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
	case command == "backups" && name != "credentials" && name != "deadline" && slices.Contains(slices.Concat(whereAndWhom, whichClusters), name):
		return "those of detect"
	}
	return ""
}

// helpExamples are those of the help without a command.
const helpExamples = `   drift-detector detect --backup mgmt-data.tar.gz -o report.json
   drift-detector plan report.json > runbook.md
`

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

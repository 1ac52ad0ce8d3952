package program

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/report/code"
	"drift-detector/report/diff"
	"drift-detector/report/formats"
	"drift-detector/report/ready"
	releasereport "drift-detector/report/releases"
	"drift-detector/report/verify"
)

func completionCommand(s *cli.Streams) *urfave.Command {
	return &urfave.Command{
		Name:      "completion",
		Usage:     "print a completion script for a shell",
		UsageText: "drift-detector completion " + strings.Join(cli.Shells, "|"),
		Description: `EXAMPLES:
   source <(drift-detector completion bash)`,
		BashComplete: func(c *urfave.Context) { fmt.Fprintln(s.Stdout, strings.Join(cli.Shells, "\n")) },
		Action: func(c *urfave.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(cli.Shells, shell) {
				return &cli.UsageError{Message: "name one shell: " + strings.Join(cli.Shells, ", "), Command: "completion"}
			}
			script, err := cli.CompletionScript(c.App, shell, hasValues, valuesOf)
			if err != nil {
				return err
			}
			_, err = io.WriteString(s.Stdout, script)
			return err
		},
	}
}

// hasValues are the flags whose values valuesOf may know.
var hasValues = []string{"format", "fail-on", "status", "code", "as"}

// valuesOf returns the values that a flag of a command takes, where they are known; without a flag
// those of its argument.
func valuesOf(command, flag string) []string {
	switch flag {
	case "":
		if command == "explain" {
			return codeNames()
		}
	case "format":
		return map[string][]string{
			"detect": formats.Report.Names(), "render": renderFormats, "check": formats.Check.Names(), "diff": diff.Formats.Names(), "ready": ready.Formats.Names(), "verify": verify.Formats.Names(), "releases": releasesFormats,
			"backups": backupsFormats,
			"plan":    slices.Sorted(maps.Keys(planFormats)), "version": {"json", "text"}, "explain": {"json", "text"},
		}[command]
	case "fail-on":
		return map[string][]string{
			"detect": failNames(), "check": checkKinds, "diff": diff.Kinds(), "releases": releasesKinds,
		}[command]
	case "status":
		if command == "releases" {
			return releasereport.Statuses
		}
		return []string{string(code.Ghost), string(code.Stale), string(code.Unknown), string(code.Healthy), string(code.Unattributed)}
	case "as":
		return saidNames()
	case "code":
		return codeNames()
	}
	return nil
}

func codeNames() []string {
	var names []string
	for _, c := range allCodes() {
		names = append(names, string(c.Code))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

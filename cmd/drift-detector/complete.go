package main

import (
	"fmt"
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

// complete answers the shell that asks for the values of the flag at the end of the line,
// or for the codes of explain: one a line. It reports whether it did; what it does not
// know is left to the library or to the shell's own file names.
func complete(app *urfave.App, args []string, s *cli.Streams) bool {
	if len(args) < 3 || args[len(args)-1] != cli.CompletionFlag || slices.Contains(args, "--") {
		return false
	}
	line := args[1 : len(args)-1]
	var command *urfave.Command
	for _, a := range line {
		if command = app.Command(a); command != nil {
			break
		}
	}
	if command == nil {
		return false
	}
	last := line[len(line)-1]
	var values []string
	switch name := strings.TrimLeft(last, "-"); {
	case strings.HasPrefix(last, "-") && cli.TakesValue(command, name):
		values = valuesOf(command, name)
	case command.Name == "explain" && !strings.HasPrefix(last, "-"):
		values = codeNames()
	default:
		return false
	}
	for _, v := range values {
		fmt.Fprintln(s.Stdout, v)
	}
	return true
}

// hasValues are the flags whose values valuesOf may know.
var hasValues = []string{"format", "fail-on", "status", "code", "as"}

// valuesOf returns the values that a flag of a command takes, where they are known.
func valuesOf(command *urfave.Command, flag string) []string {
	switch flag {
	case "format":
		return map[string][]string{
			"detect": formats.Report.Names(), "render": renderFormats, "check": formats.Check.Names(), "diff": diff.Formats.Names(), "ready": ready.Formats.Names(), "verify": verify.Formats.Names(), "releases": releasesFormats,
			"backups": backupsFormats,
			"plan":    slices.Sorted(maps.Keys(planFormats)), "version": {"json", "text"}, "explain": {"json", "text"},
		}[command.Name]
	case "fail-on":
		return map[string][]string{
			"detect": failNames(), "check": checkKinds, "diff": diff.Kinds(), "releases": releasesKinds,
		}[command.Name]
	case "status":
		if command.Name == "releases" {
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

// fishValues lets fish ask for the values, which its generated script does not.
func fishValues(app *urfave.App) string {
	var b strings.Builder
	b.WriteString("\nfunction __drift_detector_values\n  set -l words (commandline -opc)\n  command $words " + cli.CompletionFlag + " 2>/dev/null\nend\n")
	for _, c := range app.Commands {
		for _, name := range hasValues {
			if cli.TakesValue(c, name) {
				fmt.Fprintf(&b, "complete -c drift-detector -n '__fish_seen_subcommand_from %s' -f -l %s -r -a '(__drift_detector_values)'\n", c.Name, name)
			}
		}
	}
	b.WriteString("complete -c drift-detector -n '__fish_seen_subcommand_from explain' -f -a '(__drift_detector_values)'\n")
	return b.String()
}

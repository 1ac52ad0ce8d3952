package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"drift-detector/backup/check"
	"drift-detector/infra/store"
	"drift-detector/report/code"
	"drift-detector/report/diff"
	"drift-detector/report/formats"
	releasereport "drift-detector/report/releases"
)

const completionFlag = "--generate-bash-completion"

// complete answers the shell that asks for the values of the flag at the end of the line,
// or for the codes of explain: one a line. It reports whether it did; what it does not
// know is left to the library or to the shell's own file names.
func complete(ctx context.Context, app *cli.App, args []string, s *streams) bool {
	if len(args) < 3 || args[len(args)-1] != completionFlag || slices.Contains(args, "--") {
		return false
	}
	line := args[1 : len(args)-1]
	var command *cli.Command
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
	case strings.HasPrefix(last, "-") && takesValue(command, name):
		values = valuesOf(ctx, command, name, line)
	case command.Name == "explain" && !strings.HasPrefix(last, "-"):
		values = codeNames()
	default:
		return false
	}
	for _, v := range values {
		fmt.Fprintln(s.stdout, v)
	}
	return true
}

// hasValues are the flags whose values valuesOf may know.
var hasValues = []string{"format", "fail-on", "status", "code", "cluster", "namespace"}

// valuesOf are the values that a flag of a command takes, where they are known.
func valuesOf(ctx context.Context, command *cli.Command, flag string, line []string) []string {
	switch flag {
	case "format":
		return map[string][]string{
			"detect": formats.Report.Names(), "render": renderFormats, "check": formats.Check.Names(), "diff": diff.Formats.Names(), "releases": releasesFormats,
			"backups": backupsFormats,
			"plan":    slices.Sorted(maps.Keys(planFormats)), "version": {"json", "text"}, "explain": {"json", "text"},
		}[command.Name]
	case "fail-on":
		return map[string][]string{
			"detect": failOrder, "check": {string(check.Error), string(check.Warning)}, "diff": diff.Kinds(), "releases": releasereport.Kinds,
		}[command.Name]
	case "status":
		if command.Name == "releases" {
			return releasereport.Statuses
		}
		return []string{string(code.Ghost), string(code.Stale), string(code.Unknown), string(code.Healthy), string(code.Unattributed)}
	case "code":
		return codeNames()
	case "cluster":
		return clustersOn(ctx, command, line, 1)
	case "namespace":
		if command.Name == "releases" {
			return nil // its namespaces are those of releases
		}
		return clustersOn(ctx, command, line, 0)
	}
	return nil
}

func codeNames() []string {
	var names []string
	for _, c := range allCodes() {
		names = append(names, c.Code)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isName is what Kubernetes calls a name. What is none is hostile, and no shell gets it.
var isName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// clustersOn are the namespaces, 0, or names, 1, of the clusters in the backup or the
// report that the line names. A name that two clusters have comes with its namespace.
func clustersOn(ctx context.Context, command *cli.Command, line []string, part int) []string {
	const patience = 10 * time.Second // of a person who has pressed Tab
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var all [][2]string
	if takesValue(command, "backup") {
		o := backupOptions{backups: flagValues(line, "backup")}
		if slices.ContainsFunc(o.backups, func(b string) bool { return b == stdinName || store.IsAddress(b) }) {
			return nil // nothing is read that can be read once only, and nothing is contacted
		}
		loaded, err := o.load(ctx, &streams{stdout: io.Discard, stderr: io.Discard, getenv: os.Getenv, now: time.Now})
		if err != nil {
			return nil
		}
		loaded.secrets.Drop()
		for i := range loaded.snapshot.Clusters {
			all = append(all, [2]string{loaded.snapshot.Clusters[i].Namespace, loaded.snapshot.Clusters[i].Name})
		}
	} else {
		for _, a := range line[1:] {
			rep, err := readReport(home(a))
			if strings.HasPrefix(a, "-") || err != nil {
				continue
			}
			for i := range rep.Clusters {
				all = append(all, [2]string{rep.Clusters[i].Namespace, rep.Clusters[i].Name})
			}
			break
		}
	}
	times := map[string]int{}
	for _, c := range all {
		times[c[1]]++
	}
	var out []string
	for _, c := range all {
		switch {
		case !isName.MatchString(c[0]) || !isName.MatchString(c[1]):
		case part == 1 && times[c[1]] > 1:
			out = append(out, c[0]+"/"+c[1])
		default:
			out = append(out, c[part])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// flagValues are the values of a flag on a line, as a shell that has not expanded them
// gives them.
func flagValues(line []string, name string) []string {
	var out []string
	for i, a := range line {
		if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
			out = append(out, home(v))
		} else if a == "--"+name && i+1 < len(line) {
			out = append(out, home(line[i+1]))
		}
	}
	return out
}

// home expands ~/, which a shell leaves as it is on a line that is not run yet.
func home(path string) string {
	dir, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, "~/"); ok && err == nil {
		return filepath.Join(dir, rest)
	}
	return path
}

// fishValues lets fish ask for the values, which its generated script does not.
func fishValues(app *cli.App) string {
	var b strings.Builder
	b.WriteString("\nfunction __drift_detector_values\n  set -l words (commandline -opc)\n  command $words " + completionFlag + " 2>/dev/null\nend\n")
	for _, c := range app.Commands {
		for _, name := range hasValues {
			if takesValue(c, name) {
				fmt.Fprintf(&b, "complete -c drift-detector -n '__fish_seen_subcommand_from %s' -f -l %s -r -a '(__drift_detector_values)'\n", c.Name, name)
			}
		}
	}
	b.WriteString("complete -c drift-detector -n '__fish_seen_subcommand_from explain' -f -a '(__drift_detector_values)'\n")
	return b.String()
}

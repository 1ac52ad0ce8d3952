package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	backupreport "drift-detector/report/backups"
)

// notRepeated are the flags that say what is done with what was read, and not how it is read.
var notRepeated = []string{"compare", "report", "format", "output", "quiet", "dry-run", "push", "push-user", "notify", "link"}

// picking are those that say which backups are meant.
var picking = []string{"schedule", "since", "last"}

// flagsOf returns the flags of this run, as a shell reads them back: those for the store, and
// those that detect takes, too.
func flagsOf(c *urfave.Context, program string) backupreport.Flags {
	var reach, all, pick, every []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(notRepeated, name) {
			continue
		}
		var words []string
		switch f.(type) {
		case *urfave.BoolFlag:
			words = []string{"--" + name}
		case *urfave.StringSliceFlag:
			for _, value := range c.StringSlice(name) {
				words = append(words, "--"+name, cli.Quoted(value))
			}
		default:
			words = []string{"--" + name, cli.Quoted(c.String(name))}
		}
		if slices.Contains(picking, name) {
			pick = append(pick, words...)
			if name != "schedule" {
				every = append(every, words...)
			}
			continue
		}
		all = append(all, words...)
		if slices.Contains(storeFlagNames, name) || name == "credentials" {
			reach = append(reach, words...)
		}
	}
	return backupreport.Flags{Program: cli.Quoted(program), Store: strings.Join(reach, " "), Run: strings.Join(all, " "), Pick: strings.Join(pick, " "), All: strings.Join(every, " "), Quote: cli.Quoted}
}

// lineAgain returns the command of this run that saves its report; empty where it cannot be repeated:
// standard input has been read, and what may be secret in an address is not printed.
func lineAgain(c *urfave.Context, s *cli.Streams) string {
	flags := flagsOf(c, s.Program)
	line := english.Join(" ", cli.Quoted(s.Program), c.Command.Name, flags.Run, flags.Pick, "-o report.json")
	if slices.Contains(c.StringSlice("backup"), stdinName) || s.Redacted(line) != line {
		return ""
	}
	return line
}

// pathHint says what makes the lines of a plan run: it is a document, and names drift-detector
// whichever way that was called. It is empty where the shell finds this program by that name.
func pathHint(program string) string {
	const name = "drift-detector"
	if program == name {
		return ""
	}
	own, err := os.Executable()
	if found, no := exec.LookPath(name); err == nil && no == nil && cli.SameFile(own, found) {
		return ""
	}
	folder, base := filepath.Split(program)
	switch {
	case base != name:
		return "the lines of the plan call " + name + ": have this program in your PATH by that name"
	case filepath.IsAbs(folder):
		return "the lines of the plan call " + name + ": first export PATH=" + cli.Quoted(filepath.Clean(folder)) + `:"$PATH"`
	}
	return "the lines of the plan call " + name + `: first export PATH="$PWD"/` + cli.Quoted(filepath.Clean(folder)) + `:"$PATH"`
}

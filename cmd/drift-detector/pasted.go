package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/infra/shell"
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
				words = append(words, "--"+name, quoted(value))
			}
		default:
			words = []string{"--" + name, quoted(c.String(name))}
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
	return backupreport.Flags{Program: quoted(program), Store: strings.Join(reach, " "), Run: strings.Join(all, " "), Pick: strings.Join(pick, " "), All: strings.Join(every, " "), Quote: quoted}
}

// lineAgain returns the command of this run that saves its report; empty where it cannot be repeated:
// standard input has been read, and what may be secret in an address is not printed.
func lineAgain(c *urfave.Context, s *streams) string {
	flags := flagsOf(c, s.program)
	line := english.Join(" ", quoted(s.program), c.Command.Name, flags.Run, flags.Pick, "-o report.json")
	if slices.Contains(c.StringSlice("backup"), stdinName) || s.redacted(line) != line {
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
	if found, no := exec.LookPath(name); err == nil && no == nil && sameFile(own, found) {
		return ""
	}
	folder, base := filepath.Split(program)
	switch {
	case base != name:
		return "the lines of the plan call " + name + ": have this program in your PATH by that name"
	case filepath.IsAbs(folder):
		return "the lines of the plan call " + name + ": first export PATH=" + quoted(filepath.Clean(folder)) + `:"$PATH"`
	}
	return "the lines of the plan call " + name + `: first export PATH="$PWD"/` + quoted(filepath.Clean(folder)) + `:"$PATH"`
}

// quoted returns a word of a shell; of one that a terminal would not show, what printf makes of it.
func quoted(word string) string {
	if q, ok := pasteable(word); ok {
		return q
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("_./:", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return `"$(printf '` + b.String() + `')"`
}

// pasteable returns a word of the shells of this system, unless there is none that a terminal would show.
func pasteable(word string) (string, bool) { return pasteableOn(runtime.GOOS, word) }

// pasteableOn does what pasteable does, on a system. A path of Windows has slashes and, where it needs quotes, double
// ones: cmd, PowerShell and a POSIX shell take that, and cmd takes neither single ones nor the others a
// backslash.
func pasteableOn(system, word string) (string, bool) {
	if system == "windows" {
		word = strings.ReplaceAll(word, `\`, "/")
	}
	q, ok := shell.Quote(word)
	if ok && system == "windows" && q != word && !strings.ContainsAny(word, "\"$`%!") {
		q = `"` + word + `"`
	}
	return q, ok
}

// calledAs returns how lines for a shell name the program: as it was called. On Windows that is its name
// without the folder, because PowerShell runs no path in quotes.
func calledAs(system, name string) string {
	if system != "windows" {
		return name
	}
	return strings.TrimSuffix(name[strings.LastIndexAny(name, `\/:`)+1:], ".exe")
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"drift-detector/infra/shell"
	backupreport "drift-detector/report/backups"
)

// notRepeated are the flags that say what is done with what was read, and not how it is read.
var notRepeated = []string{"compare", "report", "format", "output", "quiet", "dry-run"}

// picking are those that say which backups are meant.
var picking = []string{"schedule", "since", "last"}

// flagsOf are the flags of this run, as a shell reads them back: those for the store, and
// those that detect takes, too.
func flagsOf(c *cli.Context) backupreport.Flags {
	var reach, all, pick, every []string
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if !c.IsSet(name) || slices.Contains(notRepeated, name) {
			continue
		}
		var words []string
		switch f.(type) {
		case *cli.BoolFlag:
			words = []string{"--" + name}
		case *cli.StringSliceFlag:
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
	return backupreport.Flags{Store: strings.Join(reach, " "), Run: strings.Join(all, " "), Pick: strings.Join(pick, " "), All: strings.Join(every, " "), Quote: quoted}
}

// quoted is a word of a shell; of one that a terminal would not show, what printf makes of it.
func quoted(word string) string {
	if q, ok := shell.Quote(word); ok {
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

package cli

import (
	"fmt"
	"strings"

	urfave "github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"drift-detector/internal/lazyregexp"
)

// alike is how similar two words must be, from 0 to 1, for one to be meant by the
// other: detct and detect are at 0.95, words of no kinship below 0.75.
const alike = 0.85

// nearest returns the known word that is most likely meant; empty when none is alike.
func nearest(word string, known []string) string {
	best, found := alike, ""
	for _, k := range known {
		if like := smetrics.JaroWinkler(strings.ToLower(k), strings.ToLower(word), 0.7, 4); like >= best {
			best, found = like, k
		}
	}
	return found
}

// DidYouMean returns the end of a message about a word that is not known.
func DidYouMean(prefix, word string, known []string) string {
	if found := nearest(word, known); found != "" {
		return fmt.Sprintf("; did you mean %s%s?", prefix, found)
	}
	return ""
}

// CommandNames returns the names of all commands, in the order of help.
func CommandNames(app *urfave.App) []string {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// What package flag says of a wrong flag, with one dash whatever was typed.
var (
	flagUnknown = lazyregexp.New(`^flag provided but not defined: -+(.*)$`)
	flagBare    = lazyregexp.New(`^flag needs an argument: -+(.*)$`)
	flagNoBool  = lazyregexp.New(`^invalid boolean value (".*") for -+([^:]*): .*$`)
	flagSyntax  = lazyregexp.New(`^bad flag syntax: (.*)$`)
)

// dashed returns a flag as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagError says an error of package flag in this program's words.
func flagError(err error, flags []urfave.Flag) string {
	text := err.Error()
	if m := flagUnknown.FindStringSubmatch(text); m != nil {
		known := []string{"help"}
		for _, f := range flags {
			known = append(known, f.Names()...)
		}
		return "there is no flag " + dashed(m[1]) + DidYouMean("--", m[1], known)
	}
	if m := flagBare.FindStringSubmatch(text); m != nil {
		return dashed(m[1]) + " needs a value behind it"
	}
	if m := flagNoBool.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("%s %s: it takes no value, or true or false", dashed(m[2]), m[1])
	}
	if m := flagSyntax.FindStringSubmatch(text); m != nil {
		return "there is no flag " + m[1]
	}
	return text
}

// UnknownCommand returns the usage error about a command that the program does not have.
func UnknownCommand(app *urfave.App, name string) error {
	return &UsageError{Message: fmt.Sprintf("unknown command %q", name) + DidYouMean("", name, CommandNames(app))}
}

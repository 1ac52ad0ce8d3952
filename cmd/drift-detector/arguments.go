package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"
)

// permute puts the flags of a command before its other arguments, which the
// command line package demands and nobody types: `plan report.json --format shell`.
// Flags get their long names: the package refuses -o and --output in one command. A last
// flag without its value stays the last, so that it takes no other argument for one.
func permute(app *urfave.App, args []string) []string {
	at := slices.IndexFunc(args[min(1, len(args)):], func(a string) bool { return !strings.HasPrefix(a, "-") }) + 1
	if at == 0 || slices.Contains(args, completionFlag) {
		return args
	}
	command := app.Command(args[at])
	if command == nil {
		return args
	}
	flags, others := slices.Clone(args[:at+1]), []string{}
	for rest := args[at+1:]; len(rest) > 0; rest = rest[1:] {
		arg := rest[0]
		switch {
		case arg == "--":
			return slices.Concat(flags, []string{"--"}, others, rest[1:])
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			others = append(others, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if f := flagNamed(command, name); f != nil {
			arg = "--" + f.Names()[0]
			if given {
				arg += "=" + value
			}
		}
		if (name == "help" || name == "h") && command.Name != "help" { // the library takes an argument beside it for a command
			return append(slices.Clone(args[:at+1]), "--help")
		}
		flags = append(flags, arg)
		if !given && takesValue(command, name) {
			if len(rest) == 1 {
				return flags
			}
			rest = rest[1:]
			flags = append(flags, rest[0])
		}
	}
	return append(flags, others...)
}

// flagNamed returns the flag of a command that has this name, long or short; nil when none has.
func flagNamed(c *urfave.Command, name string) urfave.Flag {
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func takesValue(c *urfave.Command, name string) bool {
	documented, ok := flagNamed(c, name).(urfave.DocGenerationFlag)
	return ok && documented.TakesValue()
}

// noArguments refuses what is left after the flags: a forgotten flag name must
// not be ignored in silence.
func noArguments(c *urfave.Context) error { return arguments(c) }

// arguments takes the arguments that are no flags, each into its place, as many
// as there are places. missing says what is to be argument when there are less.
func arguments(c *urfave.Context, into ...argument) error {
	given := c.Args().Slice()
	if len(given) > len(into) {
		return unexpected(c, given[len(into)])
	}
	for i, n := range into {
		if i >= len(given) || given[i] == "" {
			return &usageError{message: "name " + n.what, command: c.Command.Name}
		}
		*n.into = given[i]
	}
	return nil
}

// unexpected returns the error about an argument for which there is no place. A backup is
// often given without its flag.
func unexpected(c *urfave.Context, arg string) error {
	message := fmt.Sprintf("unexpected argument %q", arg)
	_, err := os.Stat(arg)
	if takesValue(c.Command, "backup") && (err == nil || strings.HasSuffix(arg, "gz") || strings.Contains(arg, "://")) {
		message += ": put --backup before it"
	}
	return &usageError{message: message, command: c.Command.Name}
}

// argument is the place of one, and what it is.
type argument struct {
	into *string
	what string
}

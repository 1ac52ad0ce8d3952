package cli

import (
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
	if at == 0 || slices.Contains(args, CompletionFlag) {
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
		if !given && TakesValue(command, name) {
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

// TakesValue reports whether a command has a flag of that name, long or short, with a value behind it.
func TakesValue(c *urfave.Command, name string) bool {
	documented, ok := flagNamed(c, name).(urfave.DocGenerationFlag)
	return ok && documented.TakesValue()
}

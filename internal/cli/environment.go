package cli

import (
	"os"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"
)

// Variable returns the name of the environment variable that sets a flag.
func Variable(flag string) string {
	return "DRIFT_DETECTOR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment lets flags that are not given be read from the environment.
func (p *Program) readEnvironment(flags []urfave.Flag) {
	for _, f := range flags {
		name := f.Names()[0]
		if p.NoVariable[name] {
			continue
		}
		from := []string{Variable(name)}
		switch f := f.(type) {
		case *urfave.BoolFlag:
			f.EnvVars = from
		case *urfave.StringFlag:
			f.EnvVars = from
		case *urfave.StringSliceFlag:
			f.EnvVars = from
		default:
			panic("no environment variable for a flag of this type: --" + name) // a mistake in the program
		}
	}
}

// forgetEmpty unsets variables of flags that are empty, as those of inputs that nobody gave
// to a job are: the library takes them for given.
func forgetEmpty() {
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); value == "" && strings.HasPrefix(name, Variable("")) {
			os.Unsetenv(name)
		}
	}
}

// RefuseEmpty refuses a flag whose value is empty: most likely that of a variable that is
// not set. Of the flags in mayBe an empty value says something.
func RefuseEmpty(c *urfave.Context, mayBe ...string) error {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if slices.Contains(mayBe, name) || !TakesValue(c.Command, name) || !c.IsSet(name) {
			continue
		}
		if values := c.StringSlice(name); c.String(name) == "" && values == nil || slices.Contains(values, "") {
			return &UsageError{Message: "--" + name + " is empty", Command: c.Command.Name}
		}
	}
	return nil
}

// fromEnvironment says of a message about a flag where nobody may look for it: a
// variable that is set for another command is read by all that have the flag.
func (p *Program) fromEnvironment(message string, s *Streams) string {
	flag, _, _ := strings.Cut(message, " ")
	if name, ok := strings.CutPrefix(flag, "--"); ok && !p.NoVariable[name] && s.Getenv(Variable(name)) != "" {
		return " (" + Variable(name) + " is set)"
	}
	return ""
}

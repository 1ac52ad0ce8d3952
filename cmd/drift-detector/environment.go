package main

import (
	"os"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

// weakensTrust are flags that a forgotten variable of the environment must not set.
var weakensTrust = map[string]bool{"insecure-skip-verify": true, "at": true, "region": true, "state": true, "id": true, "restore": true}

// variable returns the name of the environment variable that sets a flag.
func variable(flag string) string {
	return "DRIFT_DETECTOR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment lets flags that are not given be read from the environment.
func readEnvironment(flags []urfave.Flag) {
	for _, f := range flags {
		name := f.Names()[0]
		if weakensTrust[name] {
			continue
		}
		from := []string{variable(name)}
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
		if name, value, _ := strings.Cut(v, "="); value == "" && strings.HasPrefix(name, variable("")) {
			os.Unsetenv(name)
		}
	}
}

// refuseEmpty refuses a flag whose value is empty: most likely that of a variable that is
// not set. Without --inventory, for example, a run would log in. An empty --fail-on names
// nothing, see action.yml.
func refuseEmpty(c *urfave.Context) error {
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if name == "fail-on" || !cli.TakesValue(c.Command, name) || !c.IsSet(name) {
			continue
		}
		if values := c.StringSlice(name); c.String(name) == "" && values == nil || slices.Contains(values, "") {
			return &cli.UsageError{Message: "--" + name + " is empty", Command: c.Command.Name}
		}
	}
	return nil
}

// fromEnvironment says of a message about a flag where nobody may look for it: a
// variable that is set for another command is read by all that have the flag.
func (s *streams) fromEnvironment(message string) string {
	flag, _, _ := strings.Cut(message, " ")
	if name, ok := strings.CutPrefix(flag, "--"); ok && !weakensTrust[name] && s.getenv(variable(name)) != "" {
		return " (" + variable(name) + " is set)"
	}
	return ""
}

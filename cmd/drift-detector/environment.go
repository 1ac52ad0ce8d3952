package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// weakensTrust are flags that a forgotten variable of the environment must not set.
var weakensTrust = map[string]bool{"insecure-skip-verify": true}

// variable is the name of the environment variable that stands for a flag.
func variable(flag string) string {
	return "DRIFT_DETECTOR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment lets flags that are not given be read from the environment.
func readEnvironment(flags []cli.Flag) {
	for _, f := range flags {
		name := f.Names()[0]
		if weakensTrust[name] {
			continue
		}
		from := []string{variable(name)}
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.EnvVars = from
		case *cli.StringFlag:
			f.EnvVars = from
		case *cli.StringSliceFlag:
			f.EnvVars = from
		default:
			panic("no environment variable for a flag of this type: --" + name) // a mistake in the program
		}
	}
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

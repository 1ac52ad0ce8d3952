package program

import (
	"fmt"
	"os"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

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
			return &cli.UsageError{Message: "name " + n.what, Command: c.Command.Name}
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
	if cli.TakesValue(c.Command, "backup") && (err == nil || strings.HasSuffix(arg, "gz") || strings.Contains(arg, "://")) {
		message += ": put --backup before it"
	}
	return &cli.UsageError{Message: message, Command: c.Command.Name}
}

// argument is the place of one, and what it is.
type argument struct {
	into *string
	what string
}

package program

import (
	"encoding/json"
	"fmt"
	"runtime"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

func versionCommand(s *cli.Streams) *urfave.Command {
	var format string
	return &urfave.Command{
		Name:      "version",
		Usage:     "print which release this is",
		UsageText: "drift-detector version [--format FORMAT]",
		Description: `EXAMPLES:
   drift-detector version
   drift-detector version --format json`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the output: json or text", Value: "text", Destination: &format},
		},
		Action: func(c *urfave.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			switch format {
			case "text":
				urfave.VersionPrinter(c)
				return nil
			case "json":
				e := json.NewEncoder(s.Stdout)
				e.SetIndent("", "  ")
				return e.Encode(map[string]string{
					"name": "drift-detector", "version": version, "commit": commit,
					"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			return &cli.UsageError{Message: "--format " + format + " is not known; it is json or text", Command: "version"}
		},
	}
}

// The library keeps it in a variable of its own, for all programs of a process.
func init() {
	urfave.VersionPrinter = func(c *urfave.Context) {
		fmt.Fprintf(c.App.Writer, "drift-detector %s (commit %s)\n", version, commit)
	}
}

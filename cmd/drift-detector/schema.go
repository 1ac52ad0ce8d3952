package main

import (
	"github.com/urfave/cli/v2"

	"drift-detector/report"
)

func schemaCommand(s *streams) *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of the report",
		UsageText: "drift-detector schema",
		Description: `The schema is of the report that this binary writes.

EXAMPLE:
   drift-detector schema > report.schema.json` + exitStatusHelp,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := s.stdout.Write(report.Schema())
			return err
		},
	}
}

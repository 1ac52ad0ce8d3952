package program

import (
	"io"
	"maps"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/report"
	backupreport "drift-detector/report/backups"
	"drift-detector/report/diff"
	"drift-detector/report/ready"
	releasereport "drift-detector/report/releases"
	"drift-detector/report/verify"
)

// schemas are the JSON Schemas of what commands write as JSON.
var schemas = map[string]func() []byte{
	"report":   report.Schema,
	"check":    report.CheckSchema,
	"diff":     diff.Schema,
	"ready":    ready.Schema,
	"releases": releasereport.Schema,
	"backups":  backupreport.Schema,
	"verify":   verify.Schema,
}

func schemaCommand(s *cli.Streams) *urfave.Command {
	documents := slices.Sorted(maps.Keys(schemas))
	return &urfave.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of what a command writes",
		UsageText: "drift-detector schema [" + strings.Join(documents, "|") + "]",
		Description: `The schema is of the report that this binary writes, or of the JSON of backups,
check, diff, ready, releases or verify.

EXAMPLES:
   drift-detector schema > report.schema.json
   drift-detector schema diff`,
		BashComplete: func(*urfave.Context) { _, _ = io.WriteString(s.Stdout, strings.Join(documents, "\n")+"\n") },
		Action: func(c *urfave.Context) error {
			document := "report"
			if c.NArg() > 0 {
				document = c.Args().First()
			}
			schema, known := schemas[document]
			if c.NArg() > 1 || !known {
				return &cli.UsageError{Message: "name one document: " + strings.Join(documents, ", "), Command: "schema"}
			}
			_, err := s.Stdout.Write(schema())
			return err
		},
	}
}

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"drift-detector/report"
	"drift-detector/report/formats"
	"drift-detector/report/text"
)

type renderOptions struct{ report, format, output string }

func renderCommand(s *streams) *cli.Command {
	var o renderOptions
	return &cli.Command{
		Name:      "render",
		Usage:     "show a saved report in another format",
		UsageText: "drift-detector render REPORT --format FORMAT -o FILE",
		Description: `From the JSON that detect wrote, byte for byte what detect writes in that
format.

EXAMPLES:
   drift-detector render report.json
   drift-detector render report.json --format html -o report.html
   drift-detector render report.json --format markdown > ticket.md
   drift-detector render report.json --format prometheus -o /var/lib/node_exporter/drift.prom`,
		Flags: []cli.Flag{
			formatFlag("text", &o.format),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, whole or not at all; - is stdout", Value: "-", Destination: &o.output},
		},
		Action: func(c *cli.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			if _, err := formats.Report.Named(o.format); err != nil {
				return &usageError{message: "--" + err.Error(), command: "render"}
			}
			return runRender(o, s)
		},
	}
}

func formatFlag(value string, into *string) cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "`FORMAT` of the report: " + formats.Report.String(), Value: value, Destination: into}
}

func runRender(o renderOptions, s *streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	return writeOutput(o.output, s.stdout, []string{o.report}, func(w io.Writer) error {
		return writeReport(w, rep, o.format, o.output, s)
	})
}

// writeReport writes a report in the format of that name. Text that goes to
// stdout takes the form that fits there.
func writeReport(w io.Writer, r *report.Report, format, output string, s *streams) error {
	if format == "text" && output == "-" {
		return text.Write(w, r, textOptions(s))
	}
	write, err := formats.Report.Named(format)
	if err != nil {
		return err
	}
	return write(w, r)
}

func readReport(path string) (*report.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	defer f.Close()
	rep, err := report.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rep, nil
}

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

type renderOptions struct {
	report, format string
	outputs        []target
}

func renderCommand(s *streams) *cli.Command {
	var o renderOptions
	return &cli.Command{
		Name:      "render",
		Usage:     "show a saved report in another format",
		UsageText: "drift-detector render REPORT [-o FILE]... [--format FORMAT]",
		Description: `From the JSON that detect wrote, byte for byte what detect writes in that
format.

EXAMPLES:
   drift-detector render report.json
   drift-detector render report.json -o report.html
   drift-detector render report.json --format markdown > ticket.md
   drift-detector render report.json -o /var/lib/node_exporter/drift.prom`,
		Flags: []cli.Flag{
			formatFlag("text", &o.format),
			outputFlag("it"),
		},
		Action: func(c *cli.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			var err error
			if o.outputs, err = readTargets(c, o.format, formats.Report.Names()); err != nil {
				return err
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
	return writeOutputs(o.outputs, s.stdout, []string{o.report}, reportWriter(rep, s))
}

// reportWriter writes a report in the format of an output. Text that goes to stdout
// takes the form that fits there.
func reportWriter(r *report.Report, s *streams) func(io.Writer, *output) error {
	return func(w io.Writer, o *output) error {
		if o.format == "text" && o.path == "" {
			return text.Write(w, r, textOptions(s))
		}
		write, err := formats.Report.Named(o.format)
		if err != nil {
			return err
		}
		return write(w, r)
	}
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

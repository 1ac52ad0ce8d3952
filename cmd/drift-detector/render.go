package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"drift-detector/report"
	"drift-detector/report/formats"
	"drift-detector/report/text"
)

type renderOptions struct {
	report, format, output, status string
	only                           report.Filter
}

func renderCommand(s *streams) *cli.Command {
	var o renderOptions
	return &cli.Command{
		Name:      "render",
		Usage:     "show a saved report in another format",
		UsageText: "drift-detector render REPORT --format FORMAT -o FILE",
		Description: `From the JSON that detect wrote, byte for byte what detect writes in that format.

EXAMPLES:
   drift-detector render report.json
   drift-detector render report.json --format html -o report.html
   drift-detector render report.json --format markdown > ticket.md
   drift-detector render report.json --cluster tenant-a/prod --status ghost,unknown
   drift-detector render report.json --format prometheus -o /var/lib/node_exporter/drift.prom` + exitStatusHelp,
		Flags: []cli.Flag{
			formatFlag("text", &o.format),
			&cli.StringSliceFlag{Name: "cluster", Usage: "show only the cluster `NAME`, or NAMESPACE/NAME; repeatable"},
			&cli.StringSliceFlag{Name: "namespace", Usage: "show only clusters in `NAMESPACE`; repeatable"},
			&cli.StringFlag{Name: "status", Usage: "list only machines of one of `STATUSES`: ghost, stale, unknown, healthy, separated by commas; counts stay", Destination: &o.status},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, whole or not at all; - is stdout", Value: "-", Destination: &o.output},
		},
		Action: func(c *cli.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			if _, err := formats.Report.Named(o.format); err != nil {
				return &usageError{message: "--" + err.Error(), command: "render"}
			}
			o.only = report.Filter{Clusters: c.StringSlice("cluster"), Namespaces: c.StringSlice("namespace")}
			if err := o.readStatuses(); err != nil {
				return err
			}
			return runRender(o, s)
		},
	}
}

// readStatuses takes the statuses that machines are to have.
func (o *renderOptions) readStatuses() error {
	if o.status == "" {
		return nil
	}
	for _, word := range strings.Split(o.status, ",") {
		i := slices.IndexFunc(machineStatuses, func(s report.Status) bool { return strings.EqualFold(string(s), strings.TrimSpace(word)) })
		if i < 0 {
			return &usageError{message: fmt.Sprintf("--status %q is not known; it is ghost, stale, unknown or healthy", word), command: "render"}
		}
		o.only.Statuses = append(o.only.Statuses, machineStatuses[i])
	}
	return nil
}

var machineStatuses = []report.Status{report.Ghost, report.Stale, report.Unknown, report.Healthy}

func formatFlag(value string, into *string) cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "`FORMAT` of the report: " + formats.Report.String(), Value: value, Destination: into}
}

func runRender(o renderOptions, s *streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	if o.only.String() != "" {
		if err := rep.Narrow(o.only); err != nil {
			return &usageError{message: err.Error(), command: "render"}
		}
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

package program

import (
	"fmt"
	"io"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/formats"
	"drift-detector/report/html"
	"drift-detector/report/message"
	"drift-detector/report/screen"
)

type renderOptions struct {
	report, format, status string
	link                   string
	outputs                []cli.Target
	only                   report.Filter
}

func renderCommand(s *cli.Streams) *urfave.Command {
	var o renderOptions
	return &urfave.Command{
		Name:      "render",
		Usage:     "show a saved report in another format",
		UsageText: "drift-detector render REPORT [-o FILE]... [--format FORMAT]",
		Description: `From the JSON that detect wrote, byte for byte what detect writes in that
format.

EXAMPLES:
   drift-detector render report.json
   drift-detector render report.json --format screen
   drift-detector render report.json -o report.html
   drift-detector render report.json --format markdown > ticket.md
   drift-detector render report.json --cluster tenant-a/prod --status ghost,unknown
   drift-detector render report.json -o /var/lib/node_exporter/drift.prom`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT`: " + english.Choice(renderFormats), Value: "text", Destination: &o.format},
			&urfave.StringSliceFlag{Name: "cluster", Usage: "show only the cluster `NAME`, or NAMESPACE/NAME; repeatable"},
			&urfave.StringSliceFlag{Name: "namespace", Usage: "show only clusters in `NAMESPACE`; repeatable"},
			&urfave.StringFlag{Name: "status", Usage: "list only machines of one of `STATUSES`: ghost, stale, unknown, healthy, separated by commas; counts stay", Destination: &o.status},
			linkFlag(&o.link),
			cli.OutputFlag("it", true),
		},
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			var err error
			if o.outputs, err = cli.ReadTargets(c, o.format, renderFormats); err != nil {
				return err
			}
			if err := readLink(c, o.link, writesMessage(o.outputs)); err != nil {
				return err
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
		i := slices.IndexFunc(machineStatuses, func(s code.Status) bool { return strings.EqualFold(string(s), strings.TrimSpace(word)) })
		if i < 0 {
			return &cli.UsageError{Message: fmt.Sprintf("--status %q is not known; it is ghost, stale, unknown or healthy", word), Command: "render"}
		}
		o.only.Statuses = append(o.only.Statuses, machineStatuses[i])
	}
	return nil
}

var machineStatuses = []code.Status{code.Ghost, code.Stale, code.Unknown, code.Healthy}

// renderFormats are the forms of a report, and the screen that detect shows of it, which
// is no document: it has what there is room for, and says what to type next.
var renderFormats = append(formats.Report.Names(), "screen")

func formatFlag(value string, into *string) urfave.Flag {
	return &urfave.StringFlag{Name: "format", Usage: "`FORMAT`: " + formats.Report.String(), Value: value, Destination: into}
}

func runRender(o renderOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	about := message.About{Fails: failOn(rep.Options.FailOn).matches(rep), Link: o.link} // of the whole report, as the answer
	var runbook *html.Runbook
	if slices.ContainsFunc(o.outputs, func(t cli.Target) bool { return t.Format == "html" }) {
		runbook, err = runbookOf(rep, o.only) // of the whole report: its numbers are those of the list
	}
	if err == nil && o.only.String() != "" {
		err = rep.Narrow(o.only)
	}
	if err != nil {
		return &cli.UsageError{Message: err.Error(), Command: "render"}
	}
	return cli.WriteOutputs(o.outputs, s, []string{o.report}, o.writer(rep, runbook, about, s))
}

// writer also writes the screen, which names the saved report for the next commands.
func (o *renderOptions) writer(r *report.Report, runbook *html.Runbook, about message.About, s *cli.Streams) func(io.Writer, *cli.Output) error {
	write := reportWriter(r, about, s)
	return func(w io.Writer, to *cli.Output) error {
		switch to.Format {
		case "screen":
		case "html":
			return html.WriteWith(w, r, runbook)
		default:
			return write(w, to)
		}
		look := screenOptions(s, []cli.Target{{Path: o.report, Format: "json"}})
		if to.Path != "" {
			look.Color, look.Width = false, 0
		}
		return screen.Write(w, r, look)
	}
}

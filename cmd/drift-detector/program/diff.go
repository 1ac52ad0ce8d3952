package program

import (
	"fmt"
	"io"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/report/diff"
)

type diffOptions struct {
	old, new, format, failOn string
	outputs                  []cli.Target
	fails                    failOn
}

func diffCommand(s *cli.Streams) *urfave.Command {
	var o diffOptions
	return &urfave.Command{
		Name:      "diff",
		Usage:     "say what differs between two reports",
		UsageText: "drift-detector diff OLD NEW [options]",
		Description: `Machines and VMs that are new, gone, or have another verdict: of one backup at
two points in time, or of two backups. Reports that were shortened, or narrowed
in different ways, are refused: what they leave out would read as gone.

EXAMPLES:
   drift-detector diff yesterday.json report.json
   drift-detector diff yesterday.json report.json --fail-on new-ghost,worse
   drift-detector diff yesterday.json report.json -o changes.md`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the differences: " + diff.Formats.String(), Value: "text", Destination: &o.format},
			&urfave.StringFlag{Name: "fail-on", Usage: "end with status 1 on one of `KINDS`: " + strings.Join(diff.Kinds(), ", ") + "; several are separated by commas", Destination: &o.failOn},
			cli.OutputFlag("them", true),
		},
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.old, "the old report and the new one"}, argument{&o.new, "the new report, too"}); err != nil {
				return err
			}
			var err error
			if o.fails, err = parseFailOn(o.failOn, "diff", diff.Kinds()); err != nil {
				return err
			}
			if o.outputs, err = cli.ReadTargets(c, o.format, diff.Formats.Names()); err != nil {
				return err
			}
			return runDiff(o, s)
		},
	}
}

func runDiff(o diffOptions, s *cli.Streams) error {
	before, err := readReport(o.old)
	if err != nil {
		return err
	}
	after, err := readReport(o.new)
	if err != nil {
		return err
	}
	warnChanged(s, o.old, before)
	warnChanged(s, o.new, after)
	d, err := diff.New(before, after)
	if err != nil {
		return err
	}
	err = cli.WriteOutputs(o.outputs, s, []string{o.old, o.new}, func(w io.Writer, to *cli.Output) error {
		if to.Format == "text" && to.Path == "" {
			return diff.Text(w, d, textOptions(s))
		}
		write, err := diff.Formats.Named(to.Format)
		if err != nil {
			return err
		}
		return write(w, d)
	})
	if err != nil {
		return err
	}
	matched, err := d.Fails(o.fails)
	if err != nil {
		return err
	}
	if len(matched) > 0 {
		return &cli.FailOnError{Message: fmt.Sprintf("--fail-on %s: found %s", strings.Join(o.fails, ","), strings.Join(matched, ", "))}
	}
	if !d.Complete {
		return &cli.IncompleteError{Message: "incomplete: one of the reports does not hold everything, and so the differences do not; they begin with that", Hints: []string{"resolve what the reports list under scopes and errors, and run detect again"}}
	}
	return nil
}

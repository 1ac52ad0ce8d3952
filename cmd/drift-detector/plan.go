package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"drift-detector/report"
	"drift-detector/report/runbook"
)

type planOptions struct{ report, format, output string }

// planFormats are the ways to print a plan, by the name that --format takes.
var planFormats = map[string]func(io.Writer, runbook.Plan) error{
	"markdown": runbook.Markdown,
	"shell":    runbook.Shell,
}

func planCommand(s *streams) *cli.Command {
	var o planOptions
	flags := []cli.Flag{
		&cli.StringFlag{Name: "format", Usage: "of the plan: markdown or shell", Value: "markdown", Destination: &o.format},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the plan to `FILE`, whole or not at all; - is stdout", Value: "-", Destination: &o.output},
	}
	return &cli.Command{
		Name:      "plan",
		Usage:     "print what to do about a report: a runbook, before and after the restore",
		UsageText: "drift-detector plan REPORT [options]",
		Description: `Who does what, when, in which safe order, with the commands for each finding.
drift-detector runs none of them. As a shell script every command is commented
out; lines that destroy a VM exist only where the evidence is strong, and read
the VM again by its id first.

EXAMPLES:
   drift-detector plan report.json > runbook.md
   drift-detector plan report.json --format shell -o runbook.sh` + exitStatusHelp,
		Flags: flags,
		Action: func(c *cli.Context) error {
			if err := o.read(c, flags); err != nil {
				return &usageError{message: err.Error(), command: "plan"}
			}
			return runPlan(o, s)
		},
	}
}

// read takes the report's name and the options that stand behind it, which the
// command line package leaves alone.
func (o *planOptions) read(c *cli.Context, flags []cli.Flag) error {
	args := c.Args().Slice()
	for len(args) > 0 {
		if o.report != "" {
			return fmt.Errorf("unexpected argument %q", args[0])
		}
		o.report, args = args[0], args[1:]
		so := *o
		behind := flag.NewFlagSet("plan", flag.ContinueOnError)
		behind.SetOutput(io.Discard)
		for _, f := range flags {
			if err := f.Apply(behind); err != nil {
				return err
			}
		}
		*o = so // Apply set the defaults
		if err := behind.Parse(args); err != nil {
			return err
		}
		args = behind.Args()
	}
	switch {
	case o.report == "":
		return errors.New("name the report that detect wrote")
	case planFormats[o.format] == nil:
		return fmt.Errorf("--format %s is not known; it is markdown or shell", o.format)
	}
	return nil
}

func runPlan(o planOptions, s *streams) error {
	f, err := os.Open(o.report)
	if err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	defer f.Close()
	rep, err := report.Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", o.report, err)
	}
	plan := runbook.New(rep)
	out, err := createOutput(o.output, s.stdout, o.report)
	if err != nil {
		return err
	}
	defer out.discard()
	if err := planFormats[o.format](out, plan); err != nil {
		return out.failed(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	if !plan.Whole {
		return &errIncomplete{
			message: "incomplete: the report does not hold everything, and so the plan does not; it begins with what it could not know",
			hint:    "settle what the report's scopes and errors say, and run detect again",
		}
	}
	return nil
}

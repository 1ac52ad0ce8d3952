package program

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/report/plan"
	"drift-detector/report/plan/runbook"
)

type planOptions struct {
	report, format, step string
	all                  bool
	table                bool // the table alone, for a terminal
	outputs              []cli.Target
	part                 plan.Narrowing
}

// planFormats are the ways to print a plan, by the name that --format takes.
var planFormats = map[string]func(io.Writer, plan.Plan) error{
	"markdown": runbook.Markdown,
	"shell":    runbook.Shell,
	"env":      runbook.Env,
}

func planCommand(s *cli.Streams) *urfave.Command {
	var o planOptions
	return &urfave.Command{
		Name:      "plan",
		Usage:     "print what to do about a report, step by step",
		UsageText: "drift-detector plan REPORT [options]",
		Description: cli.Filled(`Who does what, when, in which safe order, with the commands for each finding.
drift-detector runs none of them. As a shell script every command is commented
out. A line that changes something first sees that it is in the `+placesOr()+`
and in the cluster of the report; lines that destroy a VM exist only where
the evidence is strong, and read the VM again by its id. On a terminal it is the table
of steps; a file, a pipe and --all get the whole.`, 80) + `

EXAMPLES:
   drift-detector plan report.json --step 7
   drift-detector plan report.json -o runbook.md
   drift-detector plan report.json --phase before
   drift-detector plan report.json --cluster tenant-a/prod
   drift-detector plan report.json -o runbook.sh -o plan.env`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the plan: markdown, shell, or env for its variables alone", Value: "markdown", Destination: &o.format},
			&urfave.StringSliceFlag{Name: "cluster", Usage: "print only the steps of the cluster `NAME`, or NAMESPACE/NAME; repeatable"},
			&urfave.StringSliceFlag{Name: "namespace", Usage: "print only the steps of clusters in `NAMESPACE`; repeatable"},
			&urfave.StringFlag{Name: "phase", Usage: "print only the steps of `PHASE`: before, restore or after", Destination: &o.part.Phase},
			&urfave.StringFlag{Name: "step", Usage: "print only the step of `NUMBER` in the table, with what it needs", Destination: &o.step},
			&urfave.BoolFlag{Name: "all", Usage: "print the whole on a terminal; through the pager that PAGER names", Destination: &o.all},
			cli.OutputFlag("the plan", true),
		},
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			var err error
			if o.outputs, err = cli.ReadTargets(c, o.format, slices.Sorted(maps.Keys(planFormats))); err != nil {
				return err
			}
			if o.step != "" {
				if o.part.Step, err = strconv.Atoi(o.step); err != nil || o.part.Step < 1 {
					return &cli.UsageError{Message: fmt.Sprintf("--step %q is no number of the plan's table", o.step), Command: "plan"}
				}
			}
			o.part.Clusters, o.part.Namespaces = c.StringSlice("cluster"), c.StringSlice("namespace")
			o.table = cli.IsTerminal(s.Stdout) && !o.all && o.step == "" && !c.IsSet("output") && !c.IsSet("format")
			return runPlan(o, s)
		},
	}
}

func runPlan(o planOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	if err := refuseLive(o.report, rep); err != nil {
		return err
	}
	warnChanged(s, o.report, rep)
	plan := planOf(rep)
	plan.In(o.report)
	if err := plan.Narrow(o.part); err != nil {
		return &cli.UsageError{Message: err.Error(), Command: "plan"}
	}
	if err := o.write(s, plan); err != nil {
		return err
	}
	if hint := pathHint(s.Program); hint != "" && !o.table {
		s.Hint("%s", hint)
	}
	if !plan.Whole {
		return &cli.IncompleteError{
			Message: "the report is incomplete, so this plan is, too; it begins with what it could not know",
			Hints:   []string{"resolve what the report lists under scopes and errors, and run detect again"},
		}
	}
	return nil
}

// write writes the plan to its files, or to stdout: to a terminal the table, and a page at a
// time what is longer.
func (o *planOptions) write(s *cli.Streams, p plan.Plan) error {
	for _, t := range o.outputs {
		if _, err := os.Lstat(t.Path); err == nil && t.Format == "env" {
			return fmt.Errorf("%s is there already, and what was filled in there would be lost: give another --output, or remove it", t.Path)
		}
	}
	if len(o.outputs) > 1 || o.outputs[0].Path != "-" {
		return cli.WriteOutputs(o.outputs, s, []string{o.report}, func(w io.Writer, to *cli.Output) error { return planFormats[to.Format](w, p) })
	}
	write := func(w io.Writer) error { return planFormats[o.outputs[0].Format](w, p) }
	if o.table {
		look := screenOptions(s, nil)
		write = func(w io.Writer) error {
			return runbook.Table(w, p, runbook.Look{Color: look.Color, Width: look.Width, Height: look.Height, Program: look.Program, Report: cli.Quoted(o.report), Options: o.words()})
		}
	}
	if err := s.Page(write); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
}

// words returns the options that choose a part of the plan, as a shell reads them back, each with
// a space before it.
func (o *planOptions) words() string {
	text := ""
	for _, c := range o.part.Clusters {
		text += " --cluster " + cli.Quoted(c)
	}
	for _, n := range o.part.Namespaces {
		text += " --namespace " + cli.Quoted(n)
	}
	if o.part.Phase != "" {
		text += " --phase " + o.part.Phase
	}
	return text
}

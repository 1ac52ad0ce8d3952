package program

import (
	"fmt"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report/plan"
	"drift-detector/report/ready"
)

type readyOptions struct {
	report, format      string
	done, confirmations []string
	outputs             []cli.Target
}

func readyCommand(s *cli.Streams) *urfave.Command {
	var o readyOptions
	return &urfave.Command{
		Name:      "ready",
		Usage:     "say whether the restore of the plan may begin now",
		UsageText: "drift-detector ready REPORT [options]",
		Description: `Looks again, read-only, at all that the plan's restore step takes for granted:
the answer by the plan, what is open before the restore, confirmations, and the
new management cluster, as kubectl prints it to this command: that it is not the
old one nor one of the report, has no Cluster, nothing that applies any (Flux),
controllers of the minor releases of the backup that run, and one idle Velero
that only reads, with the Backup of the report and the plan's ConfigMap. VMs may
have been listed 4 hours ago at most. The first line is go, or not yet and how
much. What is not piped in is not looked at, and is no go. Velero is found by
what its Deployment runs; if its namespace is not velero, give that to -n:
   { kubectl get --raw /apis/cluster.x-k8s.io/v1beta1/clusters
     kubectl get --raw /apis/velero.io/v1/restores
     kubectl get providers.clusterctl.cluster.x-k8s.io -A -o json
     kubectl get bsl,backups.velero.io,cm -n velero -o json
     kubectl get ns,no,deploy -A -o json
     kubectl get mutatingwebhookconfigurations -o json
     kubectl get validatingwebhookconfigurations -o json
   } > new.json

EXAMPLES:
   drift-detector ready report.json --done 2 --done 3 < new.json
   drift-detector ready report.json --confirmations said.yaml < new.json -o ready.json`,
		Flags: []urfave.Flag{
			&urfave.StringSliceFlag{Name: "confirmations", Usage: "YAML `FILE` of confirmations that detect was given; repeatable"},
			&urfave.StringSliceFlag{Name: "done", Usage: "`STEP` of the plan that you did, or a check that the list offers; repeatable"},
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of the list: " + ready.Formats.String(), Value: "text", Destination: &o.format},
			cli.OutputFlag("the list", true),
		},
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			o.done, o.confirmations = c.StringSlice("done"), c.StringSlice("confirmations")
			var err error
			if o.outputs, err = cli.ReadTargets(c, o.format, ready.Formats.Names()); err != nil {
				return err
			}
			return runReady(o, s)
		},
	}
}

func runReady(o readyOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	if err := refuseLive(o.report, rep); err != nil {
		return err
	}
	if rep.IsMoved() {
		return &backup.InputError{Name: o.report, Problem: "it is of a folder of clusterctl, and what ready looks at is of a restore by Velero", Next: "see in the plan what comes before the restore"}
	}
	if why := ready.Contradiction(rep, plan.ToDo(rep, describedTools(rep))); why != "" {
		return refuseChanged(o.report, why)
	}
	q := ready.Question{Report: rep, File: cli.Quoted(o.report), Program: cli.Quoted(s.Program), Given: len(o.confirmations) > 0, Done: o.done, Now: s.Now()}
	if q.Confirmations, err = readConfirmations(o.confirmations); err != nil {
		return err
	}
	if s.Stdin != nil && !cli.IsTerminal(s.Stdin) {
		q.Printed = s.Stdin
	}
	d := ready.Look(q)
	for _, w := range o.done {
		if !d.Takes(w) {
			takes := "nothing"
			if len(d.Words()) > 0 {
				takes = english.Choice(d.Words())
			}
			return &cli.UsageError{Message: fmt.Sprintf("--done %q: of this report it takes %s", w, takes), Command: "ready"}
		}
	}
	err = cli.WriteOutputs(o.outputs, s, slices.Concat([]string{o.report}, o.confirmations), func(w io.Writer, to *cli.Output) error {
		if to.Format == "text" && to.Path == "" {
			return ready.Text(w, d, textOptions(s))
		}
		write, err := ready.Formats.Named(to.Format)
		if err != nil {
			return err
		}
		return write(w, d)
	})
	switch {
	case err != nil:
		return err
	case d.Result == ready.NotYet:
		return &cli.FailOnError{Message: fmt.Sprintf("not yet: %d of %d; do not restore", d.Open, len(d.Items))}
	case d.Result == ready.Blind:
		return &cli.IncompleteError{Message: fmt.Sprintf("not looked at: %d of %d; do not restore", d.Open, len(d.Items)), Hints: []string{"pipe in what is missing: " + cli.Quoted(s.Program) + " help ready"}}
	}
	return nil
}

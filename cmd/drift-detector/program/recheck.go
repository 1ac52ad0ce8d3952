package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report/recheck"
)

type recheckOptions struct {
	report string
	recheck.Question
	bounds
}

func recheckCommand(s *cli.Streams) *urfave.Command {
	var o recheckOptions
	return &urfave.Command{
		Name:      "recheck",
		Usage:     "look once more, before a line of the plan changes something",
		UsageText: "drift-detector recheck REPORT CHECK NAME... [options]",
		Description: `What follows && in a line of the plan runs only if things are as in the report.
It looks where the line acts: through govc's own variables, the profile of the
AWS CLI, the entry of clouds.yaml, and at what kubectl or etcdctl print to it
("these"). It changes nothing, and what it cannot see whole is a stop.
CHECKS:
` + recheck.Help() + `

EXAMPLES:
   drift-detector recheck report.json vm i-0e09aee8835a36969 --at prod
   kubectl get nodes -o json | drift-detector recheck report.json is cluster/a/b`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "at", Usage: "`PLACE` for govc (GOVC_URL), aws (--profile) or openstack (--os-cloud)", Destination: &o.At},
			&urfave.StringFlag{Name: "region", Usage: "`REGION` of the place, where it has one", Destination: &o.Region},
			&urfave.StringFlag{Name: "state", Usage: "the VM is also in `STATE`: off or on", Destination: &o.State},
			&urfave.StringFlag{Name: "id", Usage: "`ID` that the VM has been given since the report; of management and backup the uid of what you have compared by hand", Destination: &o.ID},
			&urfave.StringFlag{Name: "restore", Usage: "`NAME` of the Velero restore", Destination: &o.Restore},
			&urfave.StringFlag{Name: infra.TimeoutFlag[2:], Usage: "list the place within `TIME`", Destination: &o.timeout},
		},
		Action: func(c *urfave.Context) error {
			given := c.Args().Slice()
			if len(given) < 3 {
				return &cli.UsageError{Message: "give the report that detect wrote, a check, and the name of what is looked at", Command: "recheck"}
			}
			o.report, o.Check, o.Names = given[0], given[1], given[2:]
			if err := o.bounds.read(c); err != nil {
				return err
			}
			return runRecheck(c.Context, o, s)
		},
	}
}

func runRecheck(ctx context.Context, o recheckOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	if members, _ := rep.Changed(); len(members) > 0 {
		return refuseChanged(o.report, "not as detect wrote it: "+english.First(len(members), members))
	}
	registry := all.Registry()
	registry.Timeout = o.place
	tools := registry.Tools()
	said, err := o.Ask(ctx, rep, recheck.Eyes{
		Objects: &fromKubectl{s.Stdin},
		Place: func(ctx context.Context, provider, at string, sought infra.Sought) infra.Listing {
			t := registry.Reach(provider, at, sought)
			if t.Refused == nil {
				s.Info("%s", t.Use)
			}
			return registry.Collect(ctx, []infra.Target{t}, nil).Listings[0]
		},
		Form: func(provider, id string) bool { return tools[provider] != nil && tools[provider].Identifies(id) },
	})
	var stop *recheck.Refusal
	var unseen *recheck.Unseen
	switch {
	case errors.As(err, &stop):
		return &cli.FailOnError{Message: fmt.Sprintf("stop: %s. Next: %s", stop.Text, stop.Next)}
	case errors.As(err, &unseen):
		return &cli.IncompleteError{Message: "stop: " + strings.TrimSuffix(unseen.Text, "."), Hints: []string{unseen.Next}}
	case err != nil:
		return fmt.Errorf("recheck: %w", err)
	}
	_, err = fmt.Fprintln(s.Stdout, "go on: "+terminal.Escape(said))
	return err
}

// refuseChanged returns the error for a report that is another than detect wrote.
func refuseChanged(file, why string) error {
	return &backup.InputError{Name: file, Problem: "the report is changed or incomplete, or another version made it: " + why, Next: "run detect again, and give the report as it writes it"}
}

// fromKubectl reads what kubectl printed, and does not wait for a person to type it.
type fromKubectl struct{ io.Reader }

func (p *fromKubectl) Read(b []byte) (int, error) {
	if cli.IsTerminal(p.Reader) {
		return 0, errors.New("it is a terminal; pipe it in: kubectl get … --output=json | drift-detector recheck …")
	}
	return p.Reader.Read(b)
}

package program

import (
	"fmt"
	"io"
	"os"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/report/ignore"
)

type ignoreOptions struct {
	report, reason, expires string
	outputs                 []cli.Target
	which                   ignore.Which
}

func ignoreCommand(s *cli.Streams) *urfave.Command {
	var o ignoreOptions
	return &urfave.Command{
		Name:      "ignore",
		Usage:     "write ignore rules for findings of a report",
		UsageText: "drift-detector ignore REPORT --reason TEXT [options]",
		Description: `One rule for each finding that all given options match, by its ids: a later
finding is not hidden by it. 'detect --ignore-file' applies the rules.

EXAMPLES:
   drift-detector ignore report.json --name vm-1 --reason OPS-1 -o ignore.yaml
   drift-detector ignore report.json --cluster alpha-prod --reason "OPS-1234" -o ignore.yaml
   drift-detector ignore report.json --status Unattributed --name 'jumphost-*' --reason "not ours" --expires 2027-01-31`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "reason", Usage: "why they may be set aside: a `TEXT`; every report repeats it", Destination: &o.reason},
			&urfave.StringFlag{Name: "cluster", Usage: "only those of clusters that match `GLOB`", Destination: &o.which.Cluster},
			&urfave.StringFlag{Name: "namespace", Usage: "only those in namespaces that match `GLOB`", Destination: &o.which.Namespace},
			&urfave.StringFlag{Name: "name", Usage: "only machines and VMs whose name matches `GLOB`", Destination: &o.which.Name},
			&urfave.StringFlag{Name: "status", Usage: "only those of `STATUS` Ghost, Stale, Unknown, Healthy or Unattributed (to confirm)", Destination: &o.which.Status},
			&urfave.StringFlag{Name: "code", Usage: "only those with the reason or warning `CODE`; such as InClusterFolder", Destination: &o.which.Reason},
			&urfave.StringFlag{Name: "instance", Usage: "only the VM with this `ID`, as the report has it", Destination: &o.which.Instance},
			&urfave.StringFlag{Name: "expires", Usage: "the last `DAY` on which the rules apply; YYYY-MM-DD, UTC", Destination: &o.expires},
			cli.OutputFlag("the rules", false),
		},
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			var err error
			if o.outputs, err = cli.ReadTargets(c, "yaml", []string{"yaml"}); err != nil {
				return err
			}
			if o.reason == "" {
				return &cli.UsageError{Message: "--reason is required: say why the findings may be set aside", Command: "ignore"}
			}
			if o.which == (ignore.Which{}) {
				return &cli.UsageError{Message: "say which findings, with --cluster, --namespace, --name, --status, --code or --instance: a rule for each would set everything aside", Command: "ignore"}
			}
			return runIgnore(o, s)
		},
	}
}

func runIgnore(o ignoreOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	rules, err := ignore.FromReport(rep, o.which, o.reason, o.expires)
	if err != nil {
		return err
	}
	return cli.WriteOutputs(o.outputs, s, []string{o.report}, func(w io.Writer, _ *cli.Output) error { return ignore.Write(w, rules) })
}

// readRules reads ignore files, as one list.
func readRules(files []string) ([]ignore.Rule, error) {
	var all []ignore.Rule
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading ignore rules: %w", err)
		}
		rules, err := ignore.Read(name, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

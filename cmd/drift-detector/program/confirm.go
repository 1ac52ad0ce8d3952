package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report/confirm"
)

type confirmOptions struct {
	report, as, by, expires string
	said                    confirm.As
	names                   []string
	outputs                 []cli.Target
}

// saidNames returns the values of --as.
func saidNames() (names []string) {
	for _, as := range confirm.All() {
		names = append(names, string(as))
	}
	return names
}

func confirmCommand(s *cli.Streams) *urfave.Command {
	var o confirmOptions
	return &urfave.Command{
		Name:      "confirm",
		Usage:     "write down what people say that no program can see",
		UsageText: "drift-detector confirm REPORT NAME... --as WHAT --by WHO [options]",
		Description: `NAME is a VM to confirm (its name, path or id), a folder of such VMs, or
NAMESPACE/NAME of a Cluster or a machine. WHAT is
   notAMachine   a VM, or all in a folder: of no cluster of the backup
   leave         a VM, all in a folder, or a machine whose Machine the backup
                 lacks: ours, and stays as it is
   givenUp       a Cluster whose machines are gone: left out of the restore,
                 or left paused where no selector leaves out that alone
   staysOff      a machine whose VM is off

'detect --confirmations FILE' takes that for seen, as long as the ids are the same, and
lists it under the conditions of the answer; a folder means the VMs that it holds
now. A file that exists is added to: what others say in it stays, and of two words that
contradict each other none is taken.

EXAMPLES:
   drift-detector confirm report.json vm-1 --as leave --by OPS-1 -o said.yaml
   drift-detector confirm report.json vm-7 --as notAMachine --by OPS-1 -o confirmed.yaml
   drift-detector confirm report.json /DC0/vm/infra --as leave --by "K. Lee" --expires 2027-01-31 -o confirmed.yaml
   drift-detector confirm report.json tenant-alpha/alpha-dev --as givenUp --by OPS-2 -o confirmed.yaml`,
		Flags: []urfave.Flag{
			&urfave.StringFlag{Name: "as", Usage: "`WHAT` it is: " + strings.Join(saidNames(), ", "), Destination: &o.as},
			&urfave.StringFlag{Name: "by", Usage: "`WHO` says so, a person or a ticket; every report repeats it", Destination: &o.by},
			&urfave.StringFlag{Name: "expires", Usage: "the last `DAY` on which it is taken; YYYY-MM-DD, UTC", Destination: &o.expires},
			cli.OutputFlag("the confirmations", false),
		},
		Action: func(c *urfave.Context) error {
			fail := func(message string, args ...any) error {
				return &cli.UsageError{Message: fmt.Sprintf(message, args...), Command: "confirm"}
			}
			if c.Args().Len() < 2 {
				return fail("give the report that detect wrote, and the names of what is confirmed")
			}
			o.report, o.names = c.Args().First(), c.Args().Tail()
			var err error
			if o.outputs, err = cli.ReadTargets(c, "yaml", []string{"yaml"}); err != nil {
				return err
			}
			var known bool
			o.said, known = confirm.Named(o.as)
			switch {
			case len(o.outputs) > 1:
				return fail("one --output takes the confirmations")
			case !known:
				return fail("--as %q is not known; it is %s", o.as, english.Choice(saidNames()))
			case strings.TrimSpace(o.by) == "":
				return fail("--by is required: say who confirms it")
			case o.expires != "" && !confirm.IsDay(o.expires):
				return fail("--expires %q is no day; give the last day on which it is taken, such as 2027-01-31", o.expires)
			case o.expires != "" && o.expires < s.Now().UTC().Format(time.DateOnly):
				return fail("--expires %s is over, and the confirmation would never be taken: give the last day on which it is", o.expires)
			}
			return runConfirm(o, s)
		},
	}
}

func runConfirm(o confirmOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	var more []confirm.Confirmation
	for _, name := range o.names {
		c, err := confirm.Of(rep, name, o.said, o.by, s.Now().UTC().Format(time.DateOnly), o.expires)
		if err != nil {
			return err
		}
		more = append(more, c)
	}
	var old []confirm.Confirmation
	if path := o.outputs[0].Path; path != "-" {
		if old, err = readConfirmations([]string{path}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	all, replaced := confirm.Merge(old, more)
	if err := cli.WriteOutputs(o.outputs, s, []string{o.report}, func(w io.Writer, _ *cli.Output) error { return confirm.Write(w, all) }); err != nil {
		return err
	}
	for i := range replaced {
		r := &replaced[i]
		s.Info("replaced what %s said of %s before: %s (%s)", r.By, r.Subject(), r.As, english.Join(", until ", r.On, r.Expires))
	}
	for i := range more {
		if why := confirm.NotTaken(rep, &more[i], s.Now()); why != "" {
			s.Warn("%s", why)
		}
	}
	for _, c := range confirm.Contradictions(all, more) {
		s.Warn("%s", c)
	}
	if path := o.outputs[0].Path; path != "-" {
		s.Hint("run detect again as before, and with --confirmations %s; go on with the report of that", cli.Quoted(path))
	}
	return nil
}

// readConfirmations reads files of confirmations, as one list.
func readConfirmations(files []string) ([]confirm.Confirmation, error) {
	var all []confirm.Confirmation
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading confirmations: %w", err)
		}
		one, err := confirm.Read(name, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

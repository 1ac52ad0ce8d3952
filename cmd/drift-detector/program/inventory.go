package program

import (
	"context"
	"io"
	"slices"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/terminal"
)

type inventoryOptions struct {
	backupOptions
	outputs []cli.Target
}

func inventoryCommand(s *cli.Streams) *urfave.Command {
	var o inventoryOptions
	return &urfave.Command{
		Name:      "inventory",
		Usage:     "save a list of the real infrastructure, without secrets",
		UsageText: "drift-detector inventory --backup FILE -o FILE [options]",
		Description: `What was listed is saved without secrets, so that 'detect --inventory' can
decide from it on a machine that reaches nothing.

EXAMPLES:
   drift-detector inventory --backup mgmt-data.tar.gz -o inventory.json
   drift-detector detect --backup mgmt-data.tar.gz --inventory inventory.json -o report.json`,
		Flags: append(o.flags(),
			cli.OutputFlag("the inventory", false),
		),
		Action: func(c *urfave.Context) error {
			if err := o.read(c); err != nil {
				return err
			}
			var err error
			if o.outputs, err = cli.ReadTargets(c, "json", []string{"json"}); err != nil {
				return err
			}
			if o.dryRun {
				return o.preview(c.Context, s)
			}
			if !c.IsSet("output") {
				return &cli.UsageError{Message: "--output is required: name the file to write, or - for stdout", Command: "inventory"}
			}
			return runInventory(c.Context, o, s)
		},
	}
}

func runInventory(ctx context.Context, o inventoryOptions, s *cli.Streams) error {
	access, err := o.access(s)
	if err != nil {
		return err
	}
	out, err := cli.CreateOutputs(o.outputs, s, slices.Concat([]string{o.credentials}, o.live.inputs(), o.backups)...)
	if err != nil {
		return err
	}
	defer out.Discard()
	e, err := o.load(ctx, s)
	if err != nil {
		return err
	}
	o.stores.newest.warnOfStale(s, e)
	inv, err := o.list(ctx, s, e, access, e.expected.IsRelated())
	if err != nil {
		return err
	}
	write := func(w io.Writer, _ *cli.Output) error { return infra.WriteInventory(&terminal.JSONWriter{To: w}, inv) }
	if err := out.Fill(write); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if err := incomplete(notListed(inv), "", ""); err != nil {
		return err
	}
	return unreadKinds(e.snapshot)
}

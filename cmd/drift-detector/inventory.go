package main

import (
	"bytes"
	"context"

	"github.com/urfave/cli/v2"

	"drift-detector/infra"
	"drift-detector/report/terminal"
)

type inventoryOptions struct {
	backupOptions
	output string
}

func inventoryCommand(s *streams) *cli.Command {
	var o inventoryOptions
	return &cli.Command{
		Name:      "inventory",
		Usage:     "list the real infrastructure that a backup names and save it, without secrets",
		UsageText: "drift-detector inventory --backup FILE -o FILE [options]",
		Description: `What was listed is saved without secrets, so that 'detect --inventory' can
decide from it on a machine that reaches nothing.

EXAMPLES:
   drift-detector inventory --backup mgmt-data.tar.gz -o inventory.json
   drift-detector detect --backup mgmt-data.tar.gz --inventory inventory.json -o report.json`,
		Flags: append(o.flags(),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the inventory to `FILE`, whole or not at all; - is stdout", Destination: &o.output},
		),
		Action: func(c *cli.Context) error {
			if err := o.read(c); err != nil {
				return err
			}
			if o.output == "" && !o.dryRun {
				return &usageError{message: "--output is required", command: "inventory"}
			}
			if o.dryRun {
				return o.preview(c.Context, s)
			}
			return runInventory(c.Context, o, s)
		},
	}
}

func runInventory(ctx context.Context, o inventoryOptions, s *streams) error {
	access, err := o.access(s)
	if err != nil {
		return err
	}
	out, err := createOutput(o.output, s.stdout, append([]string{o.credentials}, o.backups...)...)
	if err != nil {
		return err
	}
	defer out.discard()
	e, err := o.load(ctx, s)
	if err != nil {
		return err
	}
	inv, err := o.list(ctx, s, e, access, nil)
	if err != nil {
		return err
	}
	var document bytes.Buffer
	if err := infra.WriteInventory(&document, inv); err != nil {
		return out.failed(err)
	}
	if _, err := out.Write(terminal.JSON(document.Bytes())); err != nil {
		return out.failed(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	return incomplete(notListed(inv), "", "")
}

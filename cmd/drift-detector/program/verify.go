package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/detector"
	"drift-detector/infra/live"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/verify"
)

type verifyOptions struct {
	backupOptions
	report, format, waits string
	wait                  time.Duration
	byPlan                bool
	outputs               []cli.Target
}

func verifyCommand(s *cli.Streams) *urfave.Command {
	var o verifyOptions
	return &urfave.Command{
		Name:      "verify",
		Usage:     "compare what a restore did with what its report foretold",
		UsageText: "drift-detector verify REPORT --kubeconfig FILE [--wait TIME] [options]",
		Description: `Reads the management cluster into which the backup was restored, and the
infrastructure, and holds each machine, group and VM against the report of
detect: as foretold, not yet, NOT as foretold, or not judged. With --wait it
looks again until all is decided, or the time is over. It changes nothing; where
something is not as foretold it prints the command that pauses the Cluster.

EXAMPLES:
   drift-detector verify report.json --kubeconfig new.yaml
   drift-detector verify report.json --kubeconfig new.yaml --wait 20m -o verify.json`,
		Flags: slices.Concat(o.live.flags(), []urfave.Flag{
			&urfave.StringFlag{Name: "wait", Usage: "look again for `TIME` until all is decided; such as 20m", Destination: &o.waits},
			&urfave.BoolFlag{Name: "by-plan", Usage: "the restore was made by the plan: what its steps change is not held against the forecast", Destination: &o.byPlan},
			cli.OutputFlag("what came", true),
			&urfave.StringFlag{Name: "format", Usage: "`FORMAT` of what came: " + verify.Formats.String(), Value: "text", Destination: &o.format},
		}, o.placeFlags(), providerFlags(), []urfave.Flag{quietFlag(&o.quiet)}),
		Action: func(c *urfave.Context) error {
			if err := arguments(c, argument{&o.report, "the report that detect wrote"}); err != nil {
				return err
			}
			if o.live.kubeconfig == "" {
				return &cli.UsageError{Message: "--kubeconfig is required: that of the management cluster into which the backup was restored", Command: "verify"}
			}
			err := o.readListing(c)
			if err == nil && c.IsSet("wait") {
				o.wait, err = positive("--wait", o.waits, c.Command.Name)
			}
			if err == nil {
				o.outputs, err = cli.ReadTargets(c, o.format, verify.Formats.Names())
			}
			if err != nil {
				return err
			}
			o.skipNodes = true // which machines joined is in their conditions
			return runVerify(c.Context, o, s)
		},
	}
}

func runVerify(ctx context.Context, o verifyOptions, s *cli.Streams) error {
	rep, err := readReport(o.report)
	if err != nil {
		return err
	}
	if err := refuseLive(o.report, rep); err != nil {
		return err
	}
	out, err := cli.CreateOutputs(o.outputs, s, slices.Concat([]string{o.report, o.credentials}, o.live.inputs())...)
	if err != nil {
		return err
	}
	defer out.Discard()
	d, failed, err := o.watch(ctx, s, rep)
	if err != nil {
		return err
	}
	err = out.Fill(func(w io.Writer, to *cli.Output) error {
		if to.Format == "text" && to.Path == "" {
			return verify.Text(w, d, textOptions(s))
		}
		write, err := verify.Formats.Named(to.Format)
		if err != nil {
			return err
		}
		return write(w, d)
	})
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return err
	}
	return verdictOnRestore(d, failed)
}

// verdictOnRestore returns the error that ends the run with the status of what came.
func verdictOnRestore(d *verify.Document, failed error) error {
	n := d.Summary
	switch {
	case d.State == verify.SomeNot:
		return &cli.FailOnError{Message: "not everything is as foretold: see the lines that begin with !"}
	case failed != nil:
		return &cli.IncompleteError{Message: fmt.Sprintf("incomplete: what is written is of %s; later it could not be read: %v", d.ReadAt.Format(time.TimeOnly), failed)}
	case d.State == verify.Incomplete:
		var kinds []string
		for _, u := range d.Unread {
			kinds = append(kinds, u.Kind+" ("+u.Why+")")
		}
		return &cli.IncompleteError{Message: "incomplete: could not read " + english.First(few, kinds), Hints: []string{"nothing is concluded from what could not be read; 'drift-detector permissions kubernetes' prints what the account must be allowed"}}
	case d.State == verify.Waiting:
		return &cli.AwaitedError{Message: fmt.Sprintf("not yet as foretold: %d of %d judged; look again later, or give more time with --wait", n.AsForetold, n.AsForetold+n.NotYet)}
	}
	return nil
}

// pauseBetween is how long nothing is asked between two looks: a place of 10,000 VMs takes seconds
// to list, and what controllers do takes minutes.
const pauseBetween = 30 * time.Second

// watch looks until all is decided or the time is over. It returns what was seen last, and why what
// came later could not be read. An API server that comes and goes, as after a restore, is awaited too.
func (o *verifyOptions) watch(ctx context.Context, s *cli.Streams, rep *report.Report) (last *verify.Document, failed, err error) {
	end, looking := time.Now().Add(o.wait), *o
	for said := ""; ; {
		d, err := looking.look(ctx, s, rep)
		looking.quiet = true // what is contacted was said
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil && (last == nil && !errors.Is(err, live.ErrPassing) || errors.Is(err, verify.ErrRefused)):
			return nil, nil, err
		case err != nil:
			failed = err
			s.Warn("looking again: %v", err)
		default:
			last, failed = d, nil
		}
		left := time.Until(end)
		switch {
		case last == nil && left <= 0:
			return nil, nil, failed
		case failed != nil && left <= 0:
			last.Lost(failed.Error())
			return last, failed, nil
		case failed == nil && last.Decided() || left <= 0:
			return last, nil, nil
		}
		if last == nil {
			// nothing is known yet
		} else if now := fmt.Sprintf("as foretold %d, not yet %d", last.Summary.AsForetold, last.Summary.NotYet); now != said && !o.quiet {
			said = now
			s.Info("%s; looking again for %s", now, left.Round(time.Second))
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(min(left, pauseBetween, max(o.wait/10, time.Millisecond))):
		}
	}
}

// look reads the management cluster for what it says of places, lists them, and then reads its
// objects: a Machine that was created meanwhile must not make its VM look like one of nobody.
func (o *verifyOptions) look(ctx context.Context, s *cli.Streams, rep *report.Report) (*verify.Document, error) {
	seen := &verify.Observation{ByPlan: o.byPlan}
	access, err := o.access(s)
	if err != nil {
		return nil, err
	}
	o.live.opened = nil // of the look before, whose login may have ended
	if o.live.opened, err = o.live.open(s, &o.bounds, o.quiet); err != nil {
		return nil, err
	}
	e, err := o.load(ctx, s)
	switch {
	case errors.Is(err, backup.ErrNoClusterAPI):
		seen.NoInfrastructure = true // nothing names a place
	case err != nil:
		return nil, err
	default:
		inv, err := o.list(ctx, s, e, access, e.expected.IsRelated())
		if err != nil {
			return nil, err
		}
		result := detector.Detect(e.snapshot, e.expected, inv, detector.Options{Now: s.Now()})
		seen.Instances, seen.Scopes = build.Listed(inv, result.Scopes)
	}
	if err := o.observe(ctx, s, seen); err != nil {
		return nil, err
	}
	return verify.Judge(rep, seen)
}

// observe adds the objects of the management cluster.
func (o *verifyOptions) observe(ctx context.Context, s *cli.Streams, seen *verify.Observation) error {
	bounded, stop := o.bounds.begin(ctx)
	defer stop()
	c := o.live.opened
	seen.Serves = map[string]bool{}
	source := c.Source(bounded, live.Wants{Resource: func(id string) bool {
		kind := verify.Kind(id)
		seen.Serves[kind] = kind != ""
		return kind != ""
	}})
	info, err := archive.Walk(bounded, source, archive.DefaultBounds, archive.Visitor{
		Visit: func(i *archive.Item) error {
			if err := seen.Add(verify.Kind(i.Resource), i.Body); err != nil {
				seen.Unread = append(seen.Unread, verify.Unread{Kind: verify.Kind(i.Resource), Why: err.Error()})
			}
			return nil
		},
	})
	if err != nil {
		return o.bounds.explain(bounded, err)
	}
	seen.At, seen.Server = info.WrittenFrom, c.Name
	seen.NotRead(source.Unread())
	if !seen.Serves["Cluster"] && len(seen.Unread) == 0 {
		return &backup.InputError{Name: c.Name, Problem: "holds no Cluster API objects, and serves no kinds of it", Next: "give the kubeconfig, and the context, of the management cluster into which it is restored", Err: backup.ErrNoClusterAPI}
	}
	return nil
}

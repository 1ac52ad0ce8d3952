package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/infra"
	"drift-detector/internal/cli"
)

// bounds are how long a run may take: in the words of the flags, and as times.
type bounds struct {
	timeout, deadline string
	place, run        time.Duration // zero is no bound of its own
	begun             time.Time
}

// readWithin is the deadline of a command that contacts no place.
const readWithin = "read the backup within `TIME`"

// flag returns --deadline, which every command has that may read from a store.
func (b *bounds) flag(usage string) urfave.Flag {
	return &urfave.StringFlag{Name: infra.DeadlineFlag[2:], Usage: usage + "; no limit if not given", Destination: &b.deadline}
}

// read takes the values of the flags, and the time from which on the deadline counts.
func (b *bounds) read(c *urfave.Context) error {
	b.begun = time.Now()
	for _, f := range []struct {
		name, value string
		into        *time.Duration
	}{{infra.TimeoutFlag, b.timeout, &b.place}, {infra.DeadlineFlag, b.deadline, &b.run}} {
		if !c.IsSet(strings.TrimPrefix(f.name, "--")) {
			continue
		}
		d, err := positive(f.name, f.value, c.Command.Name)
		if err != nil {
			return err
		}
		*f.into = d
	}
	return nil
}

// positive reads the value of a flag of a command as a time of more than nothing.
func positive(flag, value, command string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	switch {
	case err != nil:
		return 0, &cli.UsageError{Message: fmt.Sprintf("%s %q is no time; it is a number and a unit, such as 90s, 10m or 1h30m", flag, value), Command: command}
	case d <= 0:
		return 0, &cli.UsageError{Message: fmt.Sprintf("%s %q would leave no time; it must be more than 0", flag, value), Command: command}
	}
	return d, nil
}

// begin returns a context that ends with the deadline, where there is one. What it cuts off
// says so; deciding and writing are not cut off by it.
func (b *bounds) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.run == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, b.begun.Add(b.run), &infra.TimeOver{Flag: infra.DeadlineFlag, Limit: b.run})
}

// explain returns the error of reading a backup for which the deadline left no time.
func (b *bounds) explain(bounded context.Context, err error) error {
	if err == nil {
		return nil
	}
	var over *infra.TimeOver
	if errors.As(context.Cause(bounded), &over) {
		return fmt.Errorf("%w before the backup was read; nothing was written", over)
	}
	return err
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	urfave "github.com/urfave/cli/v2"
)

// Program is the commands of a program, and what the command line has to be told of
// their flags.
type Program struct {
	*urfave.App
	NoVariable map[string]bool // flags that a forgotten variable of the environment must not set

	Statuses func(command string) []Status       // those that a command can end with
	Values   func(command, flag string) []string // that a flag takes, or without a flag the argument of a command; nil where they are not known

	Groups    []HelpGroup                       // of flags, in the order of help; the last one has what is in no other
	Like      func(command, flag string) string // the flag beside which the help of a command has another
	Elsewhere func(command, flag string) string // the word for a flag that help only mentions; empty for one that it explains
	Examples  string                            // of the help without a command
}

// Prepare adds to the app what is the same for all commands.
func (p *Program) Prepare(s *Streams) {
	app := p.App
	app.HideHelpCommand = true
	app.DisableSliceFlagSeparator = true // paths and endpoints may hold commas
	app.EnableBashCompletion = true
	app.Writer, app.ErrWriter = s.Stdout, s.Stderr
	app.ExitErrHandler = func(*urfave.Context, error) {}
	app.Before = func(c *urfave.Context) error {
		s.Debug = c.Bool("debug")
		return nil
	}
	app.Action = func(c *urfave.Context) error {
		if c.Args().Present() {
			return UnknownCommand(c.App, c.Args().First())
		}
		return urfave.ShowAppHelp(c)
	}
	app.OnUsageError = func(c *urfave.Context, err error, _ bool) error {
		return &UsageError{Message: flagError(err, c.App.Flags)}
	}
	p.readEnvironment(app.Flags)
	app.Flags = append(app.Flags, urfave.HelpFlag, urfave.VersionFlag) // the library adds no --help where help is a command
	for _, c := range app.Commands {
		p.readEnvironment(c.Flags)
		c.OnUsageError = func(c *urfave.Context, err error, _ bool) error {
			return &UsageError{Message: flagError(err, c.Command.Flags), Command: c.Command.Name}
		}
		c.Description += p.exitStatus(c.Name)
	}
	app.CustomAppHelpTemplate = p.appHelp()
}

// Run runs the command that args name, the program's own name first, and maps its error to the
// exit status, in this one place.
func (p *Program) Run(ctx context.Context, args []string, s *Streams) ExitCode {
	s.Program = calledAs(runtime.GOOS, args[0])
	if p.complete(args, s) {
		return ExitOK
	}
	if !IsTerminal(s.Stdout) {
		s.Stdout = &untilClosed{to: s.Stdout}
	}
	printed := &FirstError{Writer: s.Stdout}
	p.Writer = printed
	for _, c := range p.Commands {
		if slices.ContainsFunc(args, c.HasName) { // no other help can be asked for
			c.CustomHelpTemplate = p.helpPage(c)
		}
	}
	err := withinASecond(ctx, s, func() error { return p.RunContext(ctx, permute(p.App, args)) })
	s.surplusSaid()
	if err == nil && printed.Err != nil {
		err = fmt.Errorf("writing to stdout: %w", printed.Err)
	}
	if ctx.Err() != nil && err != nil && (len(s.made.written()) == 0 || errors.Is(err, ctx.Err())) {
		s.Say("error: ", "interrupted; %s", s.made.fate())
		return ExitInterrupted
	}
	return p.ended(err, s)
}

// ended says the error with which a command ended, if any, and returns what the process ends with.
func (p *Program) ended(err error, s *Streams) ExitCode {
	var failOn *FailOnError
	var incomplete *IncompleteError
	var awaited *AwaitedError
	var usage *UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &failOn):
		s.Say("error: ", "%s", failOn.Message)
		return ExitFailOn
	case errors.As(err, &awaited):
		s.Say("error: ", "%s", awaited.Message)
		return ExitAwaited
	case errors.As(err, &incomplete) && incomplete.Said:
		return ExitIncomplete
	case errors.As(err, &incomplete):
		s.Say("error: ", "%s", incomplete.Message)
		for _, hint := range incomplete.Hints {
			if hint != "" {
				s.Hint("%s", hint)
			}
		}
		return ExitIncomplete
	case errors.As(err, &usage):
		s.Say("error: ", "%s%s", usage.Message, p.fromEnvironment(usage.Message, s))
		s.Hint("%s", strings.TrimSpace("see '"+Quoted(s.Program)+" "+usage.Command)+" --help'")
		return ExitUsage
	default:
		s.Say("error: ", "%s", err)
		return ExitUsage
	}
}

// patience is how long a command that is interrupted may take to end by itself: it logs
// out, and removes what it has not finished.
const patience = 700 * time.Millisecond

// withinASecond runs a command, and leaves it behind when it goes on although it was
// interrupted: what reads and lists looks at the context, what decides and writes is
// a computation of seconds that has no business with one.
func withinASecond(ctx context.Context, s *Streams, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		s.made.end()
		return ctx.Err()
	}
}

// untilClosed writes until nobody reads the pipe any more, as with head, and nothing after that:
// who closes it has seen enough, and the exit status is that of the run.
type untilClosed struct {
	to     io.Writer
	closed bool
}

// Write implements io.Writer.
func (w *untilClosed) Write(b []byte) (int, error) {
	if w.closed {
		return len(b), nil
	}
	n, err := w.to.Write(b)
	if w.closed = errors.Is(err, syscall.EPIPE); w.closed {
		return len(b), nil
	}
	return n, err
}

// FirstError keeps the first error of a writer: the library, which prints help and the
// version, looks at none.
type FirstError struct {
	io.Writer
	Err error
}

// Write implements io.Writer.
func (w *FirstError) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.Err = cmp.Or(w.Err, err)
	return n, err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/terminal"
)

// streams is the process as commands see it, so that tests can replace it.
//
// Rules of the user interface: stdout is the result and nothing else; stderr is
// everything else, one line each, beginning with "drift-detector:"; a hint has a
// line of its own; foreign text passes terminal.Escape.
type streams struct {
	stdin          io.Reader // where --backup - comes from
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	debug          bool
	program        string // as it was called
	made           temporaries
	surplus        atomic.Bool         // a server sent more than its answer, see silence
	hide           func(string) string // takes what may be secret out of a text; nil where nothing is
}

func process() *streams {
	forgetEmpty()
	s := &streams{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now}
	silence(s)
	return s
}

func (s *streams) say(kind, format string, args ...any) {
	fmt.Fprintf(s.stderr, "drift-detector: %s%s\n", kind, terminal.Escape(s.redacted(fmt.Sprintf(format, args...))))
}

// redacted returns a text without what the operator typed and may be secret.
func (s *streams) redacted(text string) string {
	if s.hide == nil {
		return text
	}
	return s.hide(text)
}

func (s *streams) info(format string, args ...any) { s.say("", format, args...) }
func (s *streams) warn(format string, args ...any) { s.say("warning: ", format, args...) }
func (s *streams) hint(format string, args ...any) { s.say("hint: ", format, args...) }

func (s *streams) debugf(format string, args ...any) {
	if s.debug {
		s.say("debug: ", format, args...)
	}
}

// run returns the whole program: it parses args, runs the command and maps its error
// to the exit status, in this one place.
func run(ctx context.Context, args []string, s *streams) cli.ExitCode {
	s.program = calledAs(runtime.GOOS, args[0])
	app := newApp(s)
	hideTyped(app, args, s)
	if complete(app, args, s) {
		return cli.ExitOK
	}
	if !isTerminal(s.stdout) {
		s.stdout = &untilClosed{to: s.stdout}
	}
	printed := &firstError{Writer: s.stdout}
	app.Writer = printed
	err := withinASecond(ctx, s, func() error { return app.RunContext(ctx, cli.Permute(app, args)) })
	s.surplusSaid()
	if err == nil && printed.err != nil {
		err = fmt.Errorf("writing to stdout: %w", printed.err)
	}
	var failOn *cli.FailOnError
	var incomplete *cli.IncompleteError
	var awaited *cli.AwaitedError
	var usage *cli.UsageError
	switch {
	case err == nil:
		return cli.ExitOK
	case ctx.Err() != nil && (len(s.made.written()) == 0 || errors.Is(err, ctx.Err())):
		s.say("error: ", "interrupted; %s", s.made.fate())
		return cli.ExitInterrupted
	case errors.As(err, &failOn):
		s.say("error: ", "%s", failOn.Message)
		return cli.ExitFailOn
	case errors.As(err, &awaited):
		s.say("error: ", "%s", awaited.Message)
		return cli.ExitAwaited
	case errors.As(err, &incomplete) && incomplete.Said:
		return cli.ExitIncomplete
	case errors.As(err, &incomplete):
		s.say("error: ", "%s", incomplete.Message)
		for _, hint := range incomplete.Hints {
			if hint != "" {
				s.hint("%s", hint)
			}
		}
		return cli.ExitIncomplete
	case errors.As(err, &usage):
		s.say("error: ", "%s%s", usage.Message, s.fromEnvironment(usage.Message))
		s.hint("%s", strings.TrimSpace("see '"+quoted(s.program)+" "+usage.Command)+" --help'")
		return cli.ExitUsage
	default:
		s.say("error: ", "%s", err)
		return cli.ExitUsage
	}
}

// patience is how long a command that is interrupted may take to end by itself: it logs
// out, and removes what it has not finished.
const patience = 700 * time.Millisecond

// withinASecond runs a command, and leaves it behind when it goes on although it was
// interrupted: what reads and lists looks at the context, what decides and writes is
// a computation of seconds that has no business with one.
func withinASecond(ctx context.Context, s *streams, command func() error) error {
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

// firstError keeps the first error of a writer: the library, which prints help and the
// version, looks at none.
type firstError struct {
	io.Writer
	err error
}

func (w *firstError) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// The library keeps it in a variable of its own, for all programs of a process.
func init() {
	urfave.VersionPrinter = func(c *urfave.Context) {
		fmt.Fprintf(c.App.Writer, "drift-detector %s (commit %s)\n", version, commit)
	}
}

func allCommands(s *streams) []*urfave.Command {
	return []*urfave.Command{
		detectCommand(s),
		checkCommand(s),
		releasesCommand(s),
		backupsCommand(s),
		inventoryCommand(s),
		renderCommand(s),
		planCommand(s),
		readyCommand(s),
		recheckCommand(s),
		verifyCommand(s),
		diffCommand(s),
		confirmCommand(s),
		ignoreCommand(s),
		extractCommand(s),
		permissionsCommand(s),
		schemaCommand(s),
		completionCommand(s),
		manCommand(s),
		explainCommand(s),
		helpCommand(s),
		versionCommand(s),
	}
}

func newApp(s *streams) *urfave.App {
	app := &urfave.App{
		Name:  "drift-detector",
		Usage: "says what a restore of a Cluster API management cluster will find",
		Description: `The management cluster is lost, its Velero backup is on disk, and the workload
clusters still run. Every machine is Healthy, Stale (object without VM), Ghost
(VM without object) or Unknown; VMs that may be one are listed to be confirmed.
Endpoints and credentials come out of the backup. Nothing is ever changed.`,
		Version:         version,
		HideHelpCommand: true,
		// Paths and endpoints may hold commas.
		DisableSliceFlagSeparator: true,
		EnableBashCompletion:      true,
		Writer:                    s.stdout,
		ErrWriter:                 s.stderr,
		ExitErrHandler:            func(*urfave.Context, error) {},
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: "debug", Aliases: []string{"D"}, Usage: "say on stderr what is done, list every machine; never prints a secret"},
		},
		Before: func(c *urfave.Context) error {
			s.debug = c.Bool("debug")
			return nil
		},
		Commands: allCommands(s),
		Action: func(c *urfave.Context) error {
			if c.Args().Present() {
				return cli.UnknownCommand(c.App, c.Args().First())
			}
			return urfave.ShowAppHelp(c)
		},
		OnUsageError: func(c *urfave.Context, err error, _ bool) error {
			return &cli.UsageError{Message: cli.FlagError(err, c.App.Flags)}
		},
	}
	readEnvironment(app.Flags)
	app.Flags = append(app.Flags, urfave.HelpFlag, urfave.VersionFlag) // the library adds no --help where help is a command
	for _, c := range app.Commands {
		readEnvironment(c.Flags)
		if c.Before == nil {
			c.Before = refuseEmpty
		}
		c.OnUsageError = func(c *urfave.Context, err error, _ bool) error {
			return &cli.UsageError{Message: cli.FlagError(err, c.Command.Flags), Command: c.Command.Name}
		}
		c.CustomHelpTemplate = helpPage(c)
		c.Description += exitStatus(c.Name)
	}
	app.CustomAppHelpTemplate = appHelp(app)
	return app
}

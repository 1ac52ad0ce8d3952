package program

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"drift-detector/internal/cli"
)

// Program is what runs, and Main sets it.
var Program func(ctx context.Context, args []string, s *cli.Streams) cli.ExitCode

// Ended is called after each run, where it is set: a test of every exit status.
var Ended = func(t *testing.T, args []string, code cli.ExitCode) {}

// Commands are what a test binary does under other names than its own.
var Commands = map[string]func(){
	"drift-detector": func() {
		if called := os.Getenv("CALLED"); called != "" { // testscript makes the bare name of every path
			os.Args[0] = called
		}
		os.Exit(int(Program(context.Background(), os.Args, cli.Process())))
	},
}

// Main is TestMain of a package that runs the program, as a function and as a process.
func Main(m *testing.M, program func(context.Context, []string, *cli.Streams) cli.ExitCode) {
	Program = program
	testscript.Main(m, Commands)
}

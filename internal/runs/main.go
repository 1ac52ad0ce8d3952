package runs

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"drift-detector/internal/cli"
)

// Program is what runs, and Main sets it.
var Program func(ctx context.Context, args []string, s *cli.Streams) cli.ExitCode

// Commands are what a test binary does under other names than its own.
var Commands = map[string]func(){
	"drift-detector": func() {
		if called := os.Getenv("CALLED"); called != "" { // testscript makes the bare name of every path
			os.Args[0] = called
		}
		os.Exit(int(Program(context.Background(), os.Args, cli.Process())))
	},
}

// Main runs the tests of a package, which calls it in TestMain with the program: as a function
// of the test binary, and as a process of that binary under the program's name.
func Main(m *testing.M, program func(context.Context, []string, *cli.Streams) cli.ExitCode) {
	Program = program
	testscript.Main(m, Commands)
}

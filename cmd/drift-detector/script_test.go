package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"drift-detector": func() { os.Exit(int(run(context.Background(), os.Args, process()))) },
	})
}

// TestScripts runs the command line as a user does, one script per behaviour:
// stdout, stderr and exit status are asserted. $LAB is testdata.
func TestScripts(t *testing.T) {
	lab, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("LAB", lab)
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// expectStatus is the script command `status CODE command args…`: like exec,
// but it demands the exact exit status.
func expectStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE command args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

package program

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

func TestMain(m *testing.M) { runs.Main(m, Run) }

// TestScripts runs the command line as a user does, one script per behaviour:
// stdout, stderr and exit status are asserted. $ROOT is the repository, $LAB its
// testdata, $INVENTORY what was listed of the lab's drifted fleet, and $REPORT
// the report on it.
func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	lab := filepath.Join(root, "testdata")
	w := runs.Fleet(t)
	inventory, report := filepath.Join(w.Dir, "inventory.json"), filepath.Join(w.Dir, "report.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", inventory}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	runs.Run(t, slices.Concat([]string{"detect", "-o", report, "--inventory", inventory}, w.Sources())...).Demand(t, cli.ExitOK)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("LAB", lab)
			env.Setenv("INVENTORY", inventory)
			env.Setenv("REPORT", report)
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus, "containers": writeContainers, "action": writeAction, "example": writeExample, "bucket": startBucket(t)},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// expectStatus runs the script command `status CODE command args…`: like exec,
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

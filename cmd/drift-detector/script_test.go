package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// commands are what this test binary does under other names than its own.
var commands = map[string]func(){
	"drift-detector": func() { os.Exit(int(run(context.Background(), os.Args, process()))) },
}

func TestMain(m *testing.M) { testscript.Main(m, commands) }

// TestScripts runs the command line as a user does, one script per behaviour:
// stdout, stderr and exit status are asserted. $ROOT is the repository, $LAB its
// testdata, $INVENTORY what was listed of the lab's drifted fleet, and $REPORT
// the report on it.
func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	lab := filepath.Join(root, "testdata")
	w := fleet(t)
	inventory, report := filepath.Join(w.dir, "inventory.json"), filepath.Join(w.dir, "report.json")
	runProgram(t, slices.Concat([]string{"inventory", "-o", inventory}, w.sources(), w.reach())...).demand(t, exitOK)
	runProgram(t, slices.Concat([]string{"detect", "-o", report, "--inventory", inventory}, w.sources())...).demand(t, exitOK)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("LAB", lab)
			env.Setenv("INVENTORY", inventory)
			env.Setenv("REPORT", report)
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus, "cronjob": writeCronJob},
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

// writeCronJob is the script command `cronjob FILE SCRIPT`: it takes the shell
// script out of a CronJob, with the paths of its volumes in $WORK, and sets the
// environment that the CronJob sets.
func writeCronJob(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cronjob FILE SCRIPT")
	}
	var job batchv1.CronJob
	ts.Check(yaml.UnmarshalStrict([]byte(ts.ReadFile(args[0])), &job))
	spec := job.Spec.JobTemplate.Spec.Template.Spec
	c := spec.Containers[0]
	text := strings.Join(c.Args, "\n")
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			ts.Fatalf("no volume %s", m.Name)
		}
		text = strings.ReplaceAll(text, m.MountPath, ts.MkAbs(strings.TrimPrefix(m.MountPath, "/")))
	}
	for _, e := range c.Env {
		ts.Setenv(e.Name, e.Value)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

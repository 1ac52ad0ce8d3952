package program

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// Ctrl-C while an API server hangs: exit status 130, the report that was there
// stays as it was, and no file is left behind.
func TestInterrupted(t *testing.T) {
	w := runs.Fleet(t)
	n, err := lab.StartAPIServers(w.Backups[0], runs.Testdata+"nodes", lab.FaultOf{Cluster: "alpha-prod", Fault: lab.Hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w.Nodes = n
	folder := t.TempDir()
	file := filepath.Join(folder, "report.json")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(time.Second, cancel).Stop()
	var stdout, stderr bytes.Buffer
	s := &cli.Streams{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
	code := runs.Program(ctx, slices.Concat([]string{"drift-detector", "detect", "-o", file, "--quiet"}, w.Sources(), w.Reach()), s)
	if got := runs.ErrorLines(stderr.String()); code != cli.ExitInterrupted || len(got) != 2 || got[0] != "drift-detector: error: interrupted; nothing was written" {
		t.Errorf("exit status %d, %q", code, got)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "before" {
		t.Errorf("the report is %q, %v", data, err)
	}
	if all, err := os.ReadDir(folder); err != nil || len(all) != 1 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}

// stuck is a stdout that nobody reads, such as that of a pager: with the first write the
// operator presses Ctrl-C, and unless it gives way, no write ends.
type stuck struct {
	interrupt func()
	until     <-chan struct{}
}

func (w stuck) Write(b []byte) (int, error) {
	w.interrupt()
	<-w.until
	return len(b), nil
}

// interruptWhileWriting returns a detect that is interrupted once it writes to stdout, which takes
// it until then. It returns the exit status and stderr.
func interruptWhileWriting(t *testing.T, until <-chan struct{}, w *runs.World, args ...string) (cli.ExitCode, string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stderr bytes.Buffer
	s := &cli.Streams{Stdout: stuck{cancel, until}, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
	code := runs.Program(ctx, slices.Concat([]string{"drift-detector", "detect"}, args, w.Sources(), w.Reach()), s)
	return code, stderr.String()
}

// Ctrl-C once the report has its name, while it is printed: no message says that nothing
// was written, and a run that ends by itself keeps its verdict.
func TestInterruptedWhilePrinting(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	gone := make(chan struct{})
	close(gone)
	for _, c := range []struct {
		name  string
		until <-chan struct{}
		code  cli.ExitCode
		says  string
	}{
		{"nobody reads", t.Context().Done(), cli.ExitInterrupted, "interrupted; written, and whole: "},
		{"all is printed", gone, cli.ExitFailOn, "--fail-on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "report.json")
			code, got := interruptWhileWriting(t, c.until, w, "-o", file, "--fail-on", "ghost")
			if data, err := os.ReadFile(file); err != nil || len(data) == 0 {
				t.Errorf("no report: %v", err)
			}
			if code != c.code || !strings.Contains(got, c.says) || strings.Contains(got, "nothing was written") {
				t.Errorf("exit status %d:\n%s", code, got)
			}
		})
	}
}

// Ctrl-C while the report itself goes to stdout: a part of it is there, and no message says
// that nothing was written.
func TestInterruptedWhileWritingToStdout(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	gone := make(chan struct{})
	close(gone)
	for _, c := range []struct {
		name  string
		until <-chan struct{}
	}{{"nobody reads", t.Context().Done()}, {"it ends by itself", gone}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, got := interruptWhileWriting(t, c.until, w, "--format", "json")
			if code != cli.ExitInterrupted || !strings.Contains(got, "error: interrupted; cut off: stdout; nothing else\n") {
				t.Errorf("exit status %d:\n%s", code, got)
			}
		})
	}
}

// A run whose deadline is over while an API server hangs writes what was listed, and says
// which flag gives more time.
func TestDeadline(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	n, err := lab.StartAPIServers(w.Backups[0], runs.Testdata+"nodes", lab.FaultOf{Cluster: "alpha-prod", Fault: lab.Hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w.Nodes = n
	begun := time.Now()
	o := w.Detect("--deadline", "5s", "--namespace", "tenant-alpha")
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	o.Demand(t, cli.ExitIncomplete)
	runs.NoWorse(t, before.Report, o.Report)
	if !strings.Contains(string(o.JSON), "the 5s of --deadline are over") {
		t.Errorf("the report does not name the flag:\n%s", o.Stderr)
	}
}

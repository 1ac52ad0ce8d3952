package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/lab"
)

// Ctrl-C while an API server hangs: exit status 130, the report that was there
// stays as it was, and no file is left behind.
func TestInterrupted(t *testing.T) {
	w := fleet(t)
	n, err := lab.StartAPIServers(w.backups[0], testdata+"nodes", lab.FaultOf{Cluster: "alpha-prod", Fault: lab.Hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w.nodes = n
	folder := t.TempDir()
	file := filepath.Join(folder, "report.json")
	if err := os.WriteFile(file, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(time.Second, cancel).Stop()
	var stdout, stderr bytes.Buffer
	s := &streams{stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }, now: clock}
	code := run(ctx, slices.Concat([]string{"drift-detector", "detect", "-o", file, "--quiet"}, w.sources(), w.reach()), s)
	if got := errorLines(stderr.String()); code != exitInterrupted || len(got) != 2 || got[0] != "drift-detector: error: interrupted; nothing was written" {
		t.Errorf("exit status %d, %q", code, got)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "before" {
		t.Errorf("the report is %q, %v", data, err)
	}
	if all, err := os.ReadDir(folder); err != nil || len(all) != 1 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}

// A run whose deadline is over while an API server hangs writes what was listed, and says
// which flag gives more time.
func TestDeadline(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	before := w.detect()
	n, err := lab.StartAPIServers(w.backups[0], testdata+"nodes", lab.FaultOf{Cluster: "alpha-prod", Fault: lab.Hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	w.nodes = n
	begun := time.Now()
	o := w.detect("--deadline", "5s", "--namespace", "tenant-alpha")
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	o.demand(t, exitIncomplete)
	noWorse(t, before.report, o.report)
	if !strings.Contains(string(o.json), "the 5s of --deadline are over") {
		t.Errorf("the report does not name the flag:\n%s", o.stderr)
	}
}

package program

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// A person who knows only how to run detect gets from there to the first command that
// has to be run: each output names what to type next.
func TestEachOutputNamesTheNextCommand(t *testing.T) {
	w := runs.Fleet(t)
	saved := filepath.Join(w.Dir, "report.json")
	screen := runs.Run(t, slices.Concat([]string{"detect", "--summary", "-o", saved}, w.Sources(), w.Reach())...)
	screen.Demand(t, cli.ExitOK)

	first := regexp.MustCompile(`(?m)^BEFORE +[\d-]* [!?] (\w+)`).FindStringSubmatch(screen.Stdout)
	if first == nil || !strings.Contains(screen.Stdout, "drift-detector explain "+first[1]) || !strings.Contains(screen.Stdout, "drift-detector plan "+saved) {
		t.Fatalf("the screen does not name what to type next:\n%s", screen.Stdout)
	}
	explained := runs.Run(t, "explain", first[1])
	explained.Demand(t, cli.ExitOK)
	for _, want := range []string{first[1], "What to do", "drift-detector plan report.json --phase before"} {
		if !strings.Contains(explained.Stdout, want) {
			t.Errorf("explain does not say %q:\n%s", want, explained.Stdout)
		}
	}
	before := runs.Run(t, "plan", saved, "--phase", "before")
	before.Demand(t, cli.ExitOK)
	if !strings.Contains(before.Stdout, "| 1 | before |") || !strings.Contains(before.Stdout, "--step 1") || strings.Contains(before.Stdout, "## After the restore") {
		t.Errorf("the plan does not lead to its first step:\n%s", before.Stdout)
	}
	step := runs.Run(t, "plan", saved, "--step", "1")
	step.Demand(t, cli.ExitOK)
	if n := strings.Count(step.Stdout, "\n"); !strings.Contains(step.Stdout, "**1.1**") || !strings.Contains(step.Stdout, "```sh") || n > 40 {
		t.Errorf("the first step has %d lines and no command:\n%s", n, step.Stdout)
	}
}

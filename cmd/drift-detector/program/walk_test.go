package program

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
)

// A person who knows only how to run detect gets from there to the first command that
// has to be run: each output names what to type next.
func TestEachOutputNamesTheNextCommand(t *testing.T) {
	w := fleet(t)
	saved := filepath.Join(w.dir, "report.json")
	screen := runProgram(t, slices.Concat([]string{"detect", "--summary", "-o", saved}, w.sources(), w.reach())...)
	screen.demand(t, cli.ExitOK)

	first := regexp.MustCompile(`(?m)^BEFORE +[\d-]* [!?] (\w+)`).FindStringSubmatch(screen.stdout)
	if first == nil || !strings.Contains(screen.stdout, "drift-detector explain "+first[1]) || !strings.Contains(screen.stdout, "drift-detector plan "+saved) {
		t.Fatalf("the screen does not name what to type next:\n%s", screen.stdout)
	}
	explained := runProgram(t, "explain", first[1])
	explained.demand(t, cli.ExitOK)
	for _, want := range []string{first[1], "What to do", "drift-detector plan report.json --phase before"} {
		if !strings.Contains(explained.stdout, want) {
			t.Errorf("explain does not say %q:\n%s", want, explained.stdout)
		}
	}
	before := runProgram(t, "plan", saved, "--phase", "before")
	before.demand(t, cli.ExitOK)
	if !strings.Contains(before.stdout, "| 1 | before |") || !strings.Contains(before.stdout, "--step 1") || strings.Contains(before.stdout, "## After the restore") {
		t.Errorf("the plan does not lead to its first step:\n%s", before.stdout)
	}
	step := runProgram(t, "plan", saved, "--step", "1")
	step.demand(t, cli.ExitOK)
	if n := strings.Count(step.stdout, "\n"); !strings.Contains(step.stdout, "**1.1**") || !strings.Contains(step.stdout, "```sh") || n > 40 {
		t.Errorf("the first step has %d lines and no command:\n%s", n, step.stdout)
	}
}

package program

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// A terminal of 24 rows that ran detect on the lab shows everything that decides.
func TestDetectEndsWithOneScreen(t *testing.T) {
	w := runs.Fleet(t)
	t.Chdir(w.Dir) // the commands to type have the name of the report, and are short
	lines, _, code := runs.OnTerminal(t, 80, nil, slices.Concat([]string{"detect", "-o", "report.json"}, w.Sources(), w.Reach())...)
	if code != cli.ExitOK {
		t.Fatalf("exit status %d:\n%s", code, strings.Join(lines, "\n"))
	}
	last := strings.Join(lines[max(0, len(lines)-23):], "\n") // the prompt takes one
	for _, want := range []string{
		"Safe to restore?  NO  as Velero restores by default\nBy the plan:      NOT CLEAR YET  after ",
		"\nfleet-data.tar.gz, 2026-11-21 04:06Z, ", "Listed: 2 of 2 places, 64 VMs.",
		"\nBEFORE      4 ? ControlPlaneDown     ", "\n            3 ! IdentityAbsent       ", "\n            6 ! DuplicateID          ",
		"\n            2 ! OldManagementCluster keep the old management cluster off\n",
		"\nPAUSED     17 ! PoolScaledBack       ", " more: bin/drift-detector render report.json\n",
		"\n! tenant-alpha/alpha-prod     3     3 10  3 unmanaged, 3 broken",
		"\n! tenant-gamma/gamma-edge     2     1  7  1 duplicated, 2 unmanaged",
		"\n! tenant-aws/aws-prod         1     2  4  1 terminated, 1 unmanaged, 3 broken",
		"\n? tenant-alpha/alpha-dev      -     4  -  control plane down",
		"\n- tenant-beta/beta-prod       -     3  9  halted, 3 broken",
		"bin/drift-detector plan ", "bin/drift-detector explain ControlPlaneDown",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not in the last 23 lines:\n%s", want, last)
		}
	}
}

// Narrow, without colours, without a file: what a terminal shows is what fits there.
func TestScreenOfTerminals(t *testing.T) {
	t.Parallel()
	w, _, inventory := savedReport(t)
	args := slices.Concat([]string{"detect", "--inventory", inventory}, w.Sources())
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, c := range []struct {
		name        string
		columns     int
		environment map[string]string
		coloured    bool
	}{
		{"wide", 200, nil, true},
		{"narrow", 40, nil, true},
		{"narrower", 30, nil, true},
		{"tiny", 10, nil, true},
		{"dumb", 80, map[string]string{"TERM": "dumb"}, false},
		{"no colour", 80, map[string]string{"NO_COLOR": "1"}, false},
	} {
		lines, sent, code := runs.OnTerminal(t, c.columns, c.environment, args...)
		if code != cli.ExitOK || !strings.HasPrefix(lines[0], "Safe to restore?  YES") || colour.MatchString(sent) != c.coloured {
			t.Errorf("%s: exit status %d\n%q", c.name, code, sent)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > max(c.columns, 24) && !strings.Contains(l, "bin/drift-detector") && !strings.HasPrefix(l, "Next ") {
				t.Errorf("%s: %d columns: %q", c.name, n, l)
			}
		}
	}
}

// Without a terminal: no output file means the screen, --summary too, a file alone the
// long text as ever, and --quiet nothing.
func TestWhatIsPrintedWhere(t *testing.T) {
	t.Parallel()
	w, _, inventory := savedReport(t)
	file := filepath.Join(w.Dir, "out.json")
	for _, c := range []struct {
		args   []string
		begins string
		screen bool
	}{
		{nil, "Safe to restore?", true},
		{[]string{"-o", file, "--summary"}, "Safe to restore?", true},
		{[]string{"-o", file}, "Safe to restore?  YES  as Velero restores by default\nBy the plan: ", false},
		{[]string{"--format", "text"}, "Safe to restore?  YES  as Velero restores by default\nBy the plan: ", false},
		{[]string{"--format", "json"}, "{", false},
		{[]string{"-o", "-"}, "{", false},
		{[]string{"-o", file, "--quiet"}, "", false},
		{[]string{"--quiet"}, "", false},
	} {
		o := runs.Run(t, slices.Concat([]string{"detect", "--inventory", inventory}, w.Sources(), c.args)...)
		if o.Code != cli.ExitOK || !strings.HasPrefix(o.Stdout, c.begins) || (c.begins == "") != (o.Stdout == "") || strings.Contains(o.Stdout, "\nNext ") != c.screen {
			t.Errorf("%v: exit status %d\n%s", c.args, o.Code, o.Stdout)
		}
	}
}

// A pipe that nobody reads any more, as with head, is no error of any command: the report is in
// its file, and the exit status is that of the run.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	w, report, inventory := savedReport(t)
	file := filepath.Join(w.Dir, "out.json")
	detect := slices.Concat([]string{"detect", "--inventory", inventory}, w.Sources())
	for _, c := range []struct {
		args []string
		code cli.ExitCode
		says string
	}{
		{append(slices.Clone(detect), "-o", file, "--summary"), cli.ExitOK, ""},
		{detect, cli.ExitOK, ""},
		{append(slices.Clone(detect), "-o", "-"), cli.ExitOK, ""},
		{append(slices.Clone(detect), "--fail-on", "not-yes,by-plan"), cli.ExitOK, ""},
		{[]string{"render", report}, cli.ExitOK, ""},
		{[]string{"plan", report}, cli.ExitOK, ""},
		{[]string{"diff", report, report, "--fail-on", "incomplete"}, cli.ExitOK, ""},
		{[]string{"explain"}, cli.ExitOK, ""},
		{[]string{"schema"}, cli.ExitOK, ""},
		{[]string{"man"}, cli.ExitOK, ""},
		{[]string{"--help"}, cli.ExitOK, ""},
		{append([]string{"check"}, w.Sources()[:2]...), cli.ExitOK, ""},
		{[]string{"render", filepath.Join(w.Dir, "none.json")}, cli.ExitUsage, "none.json"},
	} {
		r, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		var stderr strings.Builder
		s := &cli.Streams{Stdout: pipe, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
		code := runs.Program(context.Background(), append([]string{"drift-detector"}, c.args...), s)
		_ = pipe.Close()
		if code != c.code || !strings.Contains(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 {
			t.Errorf("%v: exit status %d\n%s", c.args, code, stderr.String())
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// An incomplete run ends with its screen: the answer and the first thing to do are visible, and
// nothing below says again what the screen has said. A log of stderr has it.
func TestAnIncompleteRunEndsWithItsScreen(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	empty := filepath.Join(w.Dir, "empty.json")
	if err := os.WriteFile(empty, []byte(`{"inventoryVersion": "1", "listings": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.Concat([]string{"detect", "--inventory", empty, "-o", filepath.Join(w.Dir, "r.json")}, w.Sources())
	for _, fails := range []bool{false, true} {
		code, want := cli.ExitIncomplete, cli.ExitIncomplete
		run := args
		if fails {
			run, want = append(slices.Clone(args), "--fail-on", "error"), cli.ExitFailOn
		}
		var lines []string
		lines, _, code = runs.OnTerminal(t, 80, nil, run...)
		last := strings.Join(lines[max(0, len(lines)-23):], "\n")
		if fails { // one line says why it fails
			last = strings.Join(lines[max(0, len(lines)-24):], "\n")
		}
		if code != want || !strings.Contains(last, "Safe to restore?  ") || !strings.Contains(last, "\nBEFORE ") || !strings.Contains(last, "\nIncomplete: ") ||
			strings.Contains(last, "incomplete: ") || strings.Contains(last, "hint: ") {
			t.Errorf("exit status %d\n%s", code, last)
		}
	}
	if o := runs.Run(t, args...); o.Code != cli.ExitIncomplete || !strings.Contains(o.Stderr, "error: incomplete") {
		t.Errorf("without a terminal: exit status %d\n%s", o.Code, o.Stderr)
	}
}

// A terminal that cannot move its cursor gets none of what does, and of a list that is taller
// than it is the answer is there at the end.
func TestWhatATerminalCannotShow(t *testing.T) {
	w := runs.Fleet(t)
	_, sent, code := runs.OnTerminal(t, 80, map[string]string{"TERM": "dumb"}, slices.Concat([]string{"detect", "-o", filepath.Join(w.Dir, "report.json")}, w.Sources(), w.Reach())...)
	if code != cli.ExitOK || strings.Contains(sent, "\x1b") {
		t.Errorf("dumb: exit status %d\n%q", code, sent)
	}
	lines, _, code := runs.OnTerminal(t, 80, nil, append([]string{"check"}, w.Sources()[:2]...)...)
	last := strings.Join(lines[max(0, len(lines)-4):], "\n")
	if code != cli.ExitOK || len(lines) < 24 || !strings.Contains(last, "\nCan it be restored? ") || !strings.Contains(last, "\nFound: ") {
		t.Errorf("exit status %d, %d lines, at last\n%s", code, len(lines), last)
	}
}

// Of a fleet of 5,040 machines and of an incomplete report the answer and the first thing to do are
// on the last 23 rows of any terminal; so are they of the lab's.
func TestTheEndOfAnyTerminal(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	lab := w.Detect().Report
	large := reporttest.Sized(504, 10)
	large.ToDo = lab.ToDo
	incomplete := w.Detect().Report
	incomplete.Summary.Complete = false
	incomplete.Scopes[0].State = code.ScopeFailed
	incomplete.Scopes[0].Error = &report.Fault{Reason: "Unauthorized", Message: "the server refuses the login", Hint: strings.Repeat("give another credential ", 20)}
	for name, r := range map[string]*report.Report{"the lab's": lab, "5,040 machines": large, "incomplete": incomplete} {
		file := filepath.Join(w.Dir, strings.ReplaceAll(name, " ", "-")+".json")
		var doc bytes.Buffer
		if err := report.JSON(&doc, r); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, doc.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, columns := range []int{80, 40, 30} {
			for _, env := range []map[string]string{nil, {"TERM": "dumb"}} {
				lines, _, code := runs.OnTerminal(t, columns, env, "render", file, "--format", "screen")
				var rows []string // as a terminal breaks them
				for _, l := range lines {
					for ; utf8.RuneCountInString(l) > columns; l = string([]rune(l)[columns:]) {
						rows = append(rows, string([]rune(l)[:columns]))
					}
					rows = append(rows, l)
				}
				last := strings.Join(rows[max(0, len(rows)-23):], "\n")
				if code != cli.ExitOK || !strings.Contains(last, "Safe to restore?  ") || !strings.Contains(last, string(r.ToDo[0].Code)) {
					t.Errorf("%s at %d columns, %v: exit status %d, %d rows\n%s", name, columns, env, code, len(rows), strings.Join(rows, "\n"))
				}
			}
		}
	}
}

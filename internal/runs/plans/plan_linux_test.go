package plans_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// On a terminal a plan is its table: one row for each step, with the command that shows it.
// What goes elsewhere, and --all, is the whole.
func TestPlanOnATerminal(t *testing.T) {
	w := runs.Fleet(t)
	w.Detect()
	t.Chdir(w.Dir) // the commands to type are short
	const report = "report.json"
	whole := runs.Run(t, "plan", report).Stdout
	rows := regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(whole, -1)
	if len(rows) < 20 || !strings.Contains(whole, "```sh") {
		t.Fatalf("%d rows; a pipe gets the whole:\n%s", len(rows), whole)
	}
	for _, c := range []struct {
		columns, rows int
		env           map[string]string
	}{{80, 24, nil}, {40, 24, nil}, {80, 40, nil}, {40, 60, nil}, {120, 40, nil}, {80, 24, map[string]string{"TERM": "dumb", "PAGER": "sed s/^/PAGED/"}}} {
		lines, sent, code := runs.OnTall(t, c.columns, c.rows, c.env, "plan", report)
		name := fmt.Sprintf("%d columns, %d rows, %v", c.columns, c.rows, c.env)
		if code != cli.ExitOK || len(lines) > c.rows-1 || strings.Contains(sent, "PAGED") || strings.Contains(sent, "\x1b[") != (c.env == nil) {
			t.Errorf("%s: exit status %d, %d rows:\n%s", name, code, len(lines), strings.Join(lines, "\n"))
		}
		text := strings.Join(lines, "\n") + "\n"
		shown := 0
		for _, r := range rows {
			switch n := len(regexp.MustCompile(`(?m)^ +`+r[1]+` `).FindAllString(text, -1)); {
			case n == 1 && fmt.Sprint(shown+1) == r[1]:
				shown++
			case n > 0 || c.rows >= 40:
				t.Errorf("%s: step %s has %d rows, behind %d:\n%s", name, r[1], n, shown, text)
			}
		}
		if more := fmt.Sprintf("   … %d more: --all", len(rows)-shown); shown < 8 || strings.Contains(text, more) != (shown < len(rows)) {
			t.Errorf("%s: %d of %d steps:\n%s", name, shown, len(rows), text)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > c.columns && !strings.Contains(l, report) {
				t.Errorf("%s: %d columns: %q", name, n, l)
			}
		}
		if !strings.Contains(text, " plan "+report+" --step 1") || !strings.Contains(text, " plan "+report+" -o plan.md") || !strings.Contains(text, " -o plan.env") || strings.Contains(text, "govc") {
			t.Errorf("%s: it does not say how to go on:\n%s", name, text)
		}
	}
	paged := map[string]string{"PAGER": "sed s/^/PAGED/"}
	for _, c := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{[]string{"--all"}, nil, whole},
		{[]string{"--all"}, paged, "PAGED" + strings.ReplaceAll(strings.TrimSuffix(whole, "\n"), "\n", "\nPAGED") + "\n"},
		{[]string{"--format", "markdown"}, nil, whole},
		{[]string{"-o", "-"}, nil, whole},
		{[]string{"--step", "9"}, map[string]string{"PAGER": "cat"}, runs.Run(t, "plan", report, "--step", "9").Stdout},
	} {
		_, sent, code := runs.OnTerminal(t, 80, c.env, append([]string{"plan", report}, c.args...)...)
		got := strings.ReplaceAll(sent, "\r\n", "\n")
		got, hint, _ := strings.Cut(got, "drift-detector: hint: the lines of the plan call drift-detector: first export PATH=") // it is called by its path
		if hint != "\"$PWD\"/bin:\"$PATH\"\n" {
			t.Errorf("%v with %v: hint %q", c.args, c.env, hint)
		}
		if code != cli.ExitOK || got != c.want {
			t.Errorf("%v with %v: exit status %d\n%s", c.args, c.env, code, got)
		}
	}
	lines, _, _ := runs.OnTerminal(t, 80, nil, "plan", report, "--phase", "before", "--cluster", "tenant-beta/beta-prod")
	text := strings.Join(lines, "\n")
	if !strings.Contains(text, "only ") || strings.Contains(text, "After the restore") || !strings.Contains(text, " --cluster tenant-beta/beta-prod --phase before -o plan.md") {
		t.Errorf("a part:\n%s", text)
	}
}

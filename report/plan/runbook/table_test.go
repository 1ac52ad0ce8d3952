package runbook

import (
	"bytes"
	"strings"
	"testing"

	"drift-detector/internal/terminal"
	"drift-detector/report/plan"
)

// A table has a row for each step, whatever the names are, and none is wider than the terminal.
func TestTableOfHostileNames(t *testing.T) {
	for _, name := range []string{"web", "\x1b[2J\u202e", strings.Repeat("long", 100), "字字字字字字字字字字字字字字字字字字"} {
		p := plan.New(sample(name), providerTools)
		for _, width := range []int{24, 30, 40, 80, 200} {
			var b bytes.Buffer
			if err := Table(&b, p, Look{Width: width, Program: "drift-detector", Report: "r.json"}); err != nil {
				t.Fatal(err)
			}
			rows := 0
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if terminal.Escape(line) != line || terminal.Width(line) > width && !strings.Contains(line, "r.json") && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "? ") {
					t.Errorf("%.10q, %d columns: %q", name, width, line)
				}
				if len(line) > 6 && strings.TrimLeft(line[:4], " ") != "" && strings.Trim(line[:4], " 0123456789") == "" && line[4] == ' ' {
					if rows++; terminal.Width(line) > width {
						t.Errorf("%.10q, %d columns: %q", name, width, line)
					}
				}
			}
			if rows != len(p.Checklist) {
				t.Errorf("%.10q, %d columns: %d rows of %d steps\n%s", name, width, rows, len(p.Checklist), b.String())
			}
		}
	}
}

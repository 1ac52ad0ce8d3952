package message

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Each body has the answer, the backup and three things to do, and nothing of it is a mark or a link.
func TestBodies(t *testing.T) {
	r := &report.Report{
		Backups: []report.Backup{{Path: "s3://velero/mgmt/backups/nightly-1"}},
		Summary: report.Summary{Status: code.ManualRemediationRequired, Complete: true, Answer: &report.SafeAnswer{Safe: code.No}, AnswerByPlan: &report.PlanAnswer{Safe: code.WithWork}, Machines: report.MachineCounts{Healthy: 7, Ghost: 2}},
	}
	for range 5 {
		r.ToDo = append(r.ToDo, report.ToDo{Phase: code.Phases()[0], Safe: code.No, Code: code.GhostsLeft, Message: "<!channel> [here](https://evil.example) " + strings.Repeat("long ", 200), Objects: []string{"instance a&b"}})
	}
	for name, write := range map[string]func(io.Writer, *report.Report) error{"slack": Slack, "teams": Teams, "webhook": JSON} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !json.Valid(b.Bytes()) || b.Len() > 4_000 {
			t.Errorf("%s: %d bytes: %s", name, b.Len(), text)
		}
		for _, want := range []string{"Safe to restore?", "NO", "NOT WITHOUT MANUAL WORK", "nightly-1", "7 Healthy, 0 Stale, 2 Ghost, 0 Unknown"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
		if n := strings.Count(text, "channel"); n != 3 {
			t.Errorf("%s: %d things to do", name, n)
		}
		if name == "slack" && strings.Contains(text, "<!channel>") || name == "teams" && strings.Contains(text, "[here]") {
			t.Errorf("%s: a mark: %s", name, text)
		}
	}
}

// Slack refuses a message with a section of more than 3000 characters, escapes counted.
func TestSectionsAreShort(t *testing.T) {
	r := &report.Report{Summary: report.Summary{Answer: &report.SafeAnswer{Safe: code.No}}}
	for range 5 {
		r.Backups = append(r.Backups, report.Backup{Path: strings.Repeat("&", 300)})
		r.ToDo = append(r.ToDo, report.ToDo{Phase: code.Phases()[0], Safe: code.No, Code: code.GhostsLeft, Message: strings.Repeat("&", 300)})
	}
	var b bytes.Buffer
	if err := Slack(&b, r); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Blocks []struct{ Text struct{ Text string } }
	}
	if err := json.Unmarshal(b.Bytes(), &body); err != nil || len(body.Blocks) != 6 {
		t.Fatalf("%d blocks, %v", len(body.Blocks), err)
	}
	for _, block := range body.Blocks {
		if n := len([]rune(block.Text.Text)); n > 3000 {
			t.Errorf("a section of %d characters", n)
		}
	}
}

package message

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Each body has the answer, why the run failed, the backup, three things to do and the link, and nothing else
// of it is a mark or a link.
func TestBodies(t *testing.T) {
	r := &report.Report{
		Backups: []report.Backup{{Path: "s3://velero/mgmt/backups/nightly-1"}},
		Summary: report.Summary{Status: code.ManualRemediationRequired, Complete: true, Answer: &report.SafeAnswer{Safe: code.No}, AnswerByPlan: &report.PlanAnswer{Safe: code.WithWork}, Machines: report.MachineCounts{Healthy: 7, Ghost: 2}},
	}
	for range 5 {
		r.ToDo = append(r.ToDo, report.ToDo{Phase: code.Phases()[0], Safe: code.No, Code: code.GhostsLeft, Message: "<!channel> [here](https://evil.example) " + strings.Repeat("long ", 200), Objects: []string{"instance a&b"}})
	}
	r.Options.Filter = &report.Filter{Clusters: []string{"alpha"}}
	about := About{Fails: []string{"the answer is NO", "backup a is stale: it is 2 days old"}, Link: "https://ci.example/runs/1?a=b&c=d"}
	for _, name := range []string{"slack", "teams", "webhook"} {
		var b bytes.Buffer
		if err := about.Named(name)(&b, r); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if !json.Valid(b.Bytes()) || b.Len() > 4_000 {
			t.Errorf("%s: %d bytes: %s", name, b.Len(), text)
		}
		for _, want := range []string{"Safe to restore?", "NO", "is stale: it is 2 days old", "This report covers only --cluster alpha.", "https://ci.example/runs/1?a=b&", "NOT WITHOUT MANUAL WORK", "nightly-1", "7 Healthy, 0 Stale, 2 Ghost, 0 Unknown"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
		if name == "teams" && !strings.Contains(text, `"actions":[{"title":"The report","type":"Action.OpenUrl"`) {
			t.Errorf("no link in %s", text)
		}
		if n := strings.Count(text, "channel"); n != map[string]int{"slack": 2 * most, "teams": most, "webhook": most}[name] {
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
	if err := (About{}).Named("slack")(&b, r); err != nil {
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

// What a chat shows first says the answer, why the run failed and the first thing to do, also in a chat that
// shows no blocks; and a name calls nobody there.
func TestTheFirstLines(t *testing.T) {
	r := &report.Report{
		Backups: []report.Backup{{Path: "nightly-1"}},
		Summary: report.Summary{Complete: true, Answer: &report.SafeAnswer{Safe: code.No}, AnswerByPlan: &report.PlanAnswer{Safe: code.WithWork}},
		ToDo:    []report.ToDo{{Phase: code.Phases()[0], Safe: code.No, Code: code.GhostsLeft, Message: "@all _@channel @@here ＠@all -@all: ![x](https://evil.example/y) of a@b <!here>"}},
	}
	about := About{Fails: []string{"the answer is NO", "1 Ghost"}, Link: "https://ci.example/1"}
	var b bytes.Buffer
	if err := about.Named("slack")(&b, r); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Text   string
		Blocks []struct{ Text struct{ Verbatim bool } }
	}
	if err := json.Unmarshal(b.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	for i, block := range body.Blocks {
		if !block.Text.Verbatim {
			t.Errorf("Slack makes links and calls of names in block %d", i)
		}
	}
	lines := strings.Split(body.Text, "\n")
	for i, want := range []string{"Safe to restore? NO; by the plan: NOT WITHOUT MANUAL WORK", "Fails by --fail-on: the answer is NO; 1 Ghost", "nightly-1: 0 Healthy, ", "1. "} {
		if len(lines) <= i || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("line %d is not %s:\n%s", i, want, body.Text)
		}
	}
	if first := lines[3]; strings.Contains(first, "@") || strings.Contains(first, "[") || strings.Contains(first, "<") || !strings.Contains(first, "of a(at)b") {
		t.Errorf("it calls somebody, or is a mark: %s", first)
	}
	if last := lines[len(lines)-1]; last != "<https://ci.example/1|The report>" {
		t.Errorf("the link: %s", last)
	}
	if about.Fails = nil; strings.Contains(strings.Join(about.of(r).lines(), "\n"), "Fails") {
		t.Error("a run that matches nothing fails")
	}
}

// However long the path of a backup is, what is wrong with it is said.
func TestTheReasonOfALongNameIsSaid(t *testing.T) {
	old := report.Check{Object: "backup " + strings.Repeat("d", 2000) + "/nightly-1", Code: "BackupOld", Message: "it is 2 days old"}
	about := About{Fails: report.StaleBackups([]report.Check{old})}
	for _, said := range about.of(&report.Report{}).Fails {
		if !strings.HasPrefix(said, "backup ddd") || !strings.HasSuffix(said, "/nightly-1 is stale: it is 2 days old") {
			t.Error(said)
		}
	}
	if len(about.Fails) != 1 {
		t.Error(about.Fails)
	}
}

// That there is no report is said in every format, with the reason and what to do, and is no answer.
func TestThereIsNoReport(t *testing.T) {
	f := &Failure{Of: []string{"s3://velero/mgmt"}, Why: "s3://velero/mgmt: holds <!here> no backup\x1b[31m", Next: "see why with 'backups'", At: time.Unix(1e9, 0)}
	for _, name := range []string{"slack", "teams", "webhook"} {
		var b bytes.Buffer
		if err := (About{Link: "https://ci.example/1"}).Failed(&b, name, f); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, want := range []string{"Safe to restore?", "NOT KNOWN", "s3://velero/mgmt", "no backup", "see why with", "2001-09-09T01:46:40Z", "https://ci.example/1"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", name, want, text)
			}
		}
		if !json.Valid(b.Bytes()) || strings.Contains(text, "\x1b") || strings.Contains(text, "YES") || name == "slack" && strings.Contains(text, "<!here>") {
			t.Errorf("%s: %s", name, text)
		}
		if name == "webhook" && (!strings.Contains(text, `"status":"NoReport"`) || !strings.Contains(text, `"complete":false`) || !strings.Contains(text, `"error":"s3:`)) {
			t.Error(text)
		}
	}
}

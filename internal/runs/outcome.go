package runs

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
)

// Demand fails the test unless the run ended with a status.
func (o Outcome) Demand(t *testing.T, code cli.ExitCode) {
	t.Helper()
	if o.Code != code {
		t.Fatalf("exit status %d, want %d\n%s\n%s", o.Code, code, o.Stderr, o.Stdout)
	}
}

// AgreesWith complains of each difference between the report and a truth.
func (o Outcome) AgreesWith(t *testing.T, want interface{ Misses(*report.Report) []string }) {
	t.Helper()
	for _, miss := range want.Misses(o.Report) {
		t.Error(miss)
	}
}

// WithoutTime returns the report's JSON except for the moments at which it was made, and places were listed.
func (o Outcome) WithoutTime(t *testing.T) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(o.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	stamp, ok := doc["generatedAt"].(string)
	if !ok {
		t.Fatal("the report has no generatedAt")
	}
	text, _, _ := strings.Cut(strings.Replace(string(o.JSON), stamp, "T", 1), ",\n  \"digests\": {")
	return listingTimes.ReplaceAllString(text, `"listedAt": "T"`)
}

// Says holds what a report says of machines and VMs, by name: "status reason", or
// only the reason of one to confirm, or "nothing".
func (o Outcome) Says(t *testing.T, want map[string]string) {
	t.Helper()
	for name, w := range want {
		status, reason, found := VerdictOf(o.Report, name)
		got := strings.TrimSpace(string(status) + " " + reason)
		if !found {
			got = "nothing"
		}
		if got != w {
			t.Errorf("%s is %q, want %q: %s", name, got, w, o.Message(name))
		}
	}
}

// Message returns what a report says of a machine or VM in words.
func (o Outcome) Message(name string) string {
	for _, c := range o.Report.Clusters {
		for _, m := range MachinesOf(c) {
			if m.Name == name || m.Instance != nil && m.Instance.Name == name {
				return m.Message
			}
		}
	}
	for _, m := range o.Report.InfraMachines {
		if m.Instance.Name == name {
			return m.Message
		}
	}
	return ""
}

// Warned returns the warnings of a machine.
func (o Outcome) Warned(name string) (reasons []string) {
	for _, c := range o.Report.Clusters {
		for _, m := range MachinesOf(c) {
			for _, x := range m.Warnings {
				if m.Name == name {
					reasons = append(reasons, string(x.Reason))
				}
			}
		}
	}
	return reasons
}

// Contains reports whether a run says a text anywhere.
func (o Outcome) Contains(text string) bool {
	return bytes.Contains(o.JSON, []byte(text)) || strings.Contains(o.Stdout, text) || strings.Contains(o.Stderr, text)
}

// Keeps complains where the run shows a secret.
func (o Outcome) Keeps(t *testing.T, secret string) {
	t.Helper()
	if text := o.Stdout + o.Stderr + string(o.JSON); strings.Contains(text, secret) {
		t.Errorf("an output holds %s:\n%s", secret, text)
	}
}

var listingTimes = regexp.MustCompile(`"listedAt": "[^"]*"`)

// FirstDifference returns the first line of each of two texts in which they differ.
func FirstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + " / " + y[i]
		}
	}
	return "one is longer"
}

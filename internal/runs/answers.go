package runs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Foretells demands the outcome of a machine and words of what is said of it.
func (a Safety) Foretells(t *testing.T, machine, outcome string, words ...string) {
	t.Helper()
	got, condition, message := a.outcome(machine)
	if got != outcome {
		t.Errorf("%s: %q (%s; %s), want %s", machine, got, message, condition, outcome)
	}
	for _, w := range words {
		if !strings.Contains(message+"; "+condition, w) {
			t.Errorf("%s: %q lacks %q", machine, message+"; "+condition, w)
		}
	}
}

// Safety is summary.answer of a report, as a script reads it.
type Safety struct {
	Safe    string
	Reasons []struct {
		Code, Message string
		Objects       []string
	}
	Conditions []struct{ Code, Message string }
	Status     string
	Complete   bool
	O          Outcome
}

// Answer runs detect and reads summary.answer.
func (w *World) Answer(args ...string) Safety {
	w.T.Helper()
	o := w.Detect(args...)
	var doc struct {
		Summary struct {
			Answer   Safety
			Status   string
			Complete bool
		}
	}
	if err := json.Unmarshal(o.JSON, &doc); err != nil {
		w.T.Fatalf("%v\n%s", err, o.Stderr)
	}
	a := doc.Summary.Answer
	a.Status, a.Complete, a.O = doc.Summary.Status, doc.Summary.Complete, o
	return a
}

// Codes returns the reasons in their order.
func (a Safety) Codes() string {
	var out []string
	for _, r := range a.Reasons {
		out = append(out, r.Code)
	}
	return strings.Join(slices.Compact(out), " ")
}

// About returns the objects of a reason.
func (a Safety) About(code string) string {
	var out []string
	for _, r := range a.Reasons {
		if r.Code == code {
			out = append(out, r.Objects...)
		}
	}
	return strings.Join(out, " ")
}

// Condition reports whether the answer has a condition of a code.
func (a Safety) Condition(code string) bool {
	return slices.ContainsFunc(a.Conditions, func(c struct{ Code, Message string }) bool { return c.Code == code })
}

// outcome returns what a report foretells of one machine or ghost.
func (a Safety) outcome(machine string) (outcome, condition, message string) {
	var doc struct {
		Clusters []struct {
			ControlPlane struct{ Machines []forecastOf }
			Workers      struct {
				Groups []struct{ Machines []forecastOf }
			}
		}
	}
	if json.Unmarshal(a.O.JSON, &doc) != nil {
		return "", "", ""
	}
	for _, c := range doc.Clusters {
		all := c.ControlPlane.Machines
		for _, g := range c.Workers.Groups {
			all = append(all, g.Machines...)
		}
		for _, m := range all {
			if m.Name == machine {
				return m.Forecast.Outcome, m.Forecast.Condition, m.Forecast.Message
			}
		}
	}
	return "", "", ""
}

type forecastOf struct {
	Name     string
	Forecast struct{ Outcome, Condition, Message string }
}

// Demand fails the test unless the answer is that, for these reasons.
func (a Safety) Demand(t *testing.T, safe, codes string) {
	t.Helper()
	if a.Safe != safe || a.Codes() != codes {
		t.Errorf("the answer is %q for %q, want %q for %q: %+v", a.Safe, a.Codes(), safe, codes, a.Reasons)
	}
}

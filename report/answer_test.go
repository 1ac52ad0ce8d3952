package report

import (
	"strings"
	"testing"

	"drift-detector/report/code"
)

// What people read first is the answer of the document, whatever is written beside it.
func TestTheScreenSaysTheAnswer(t *testing.T) {
	reason := func(safe code.Safe, codes ...code.Reason) *SafeAnswer {
		a := &SafeAnswer{Safe: safe, Conditions: []Note{{"RestoreOrder", "all objects come first"}}}
		for _, code := range codes {
			a.Reasons = append(a.Reasons, AnswerReason{Code: code, Message: "of " + string(code), Objects: []string{"x"}})
		}
		return a
	}
	for _, c := range []struct {
		answer *SafeAnswer
		status code.Status
		safe   string
		look   code.Status
	}{
		{reason(code.Yes), code.Healthy, "YES", code.Healthy},
		{reason(code.WithWork, code.MachinesMade), code.Healthy, "NOT WITHOUT MANUAL WORK", code.ManualRemediationNotRequired},
		{reason(code.WithWork, code.GhostsLeft), code.ManualRemediationRequired, "NOT WITHOUT MANUAL WORK", code.ManualRemediationRequired},
		{reason(code.No, code.RolloutDue), code.Healthy, "NO", code.ManualRemediationRequired},
		{reason(code.Unclear, code.MachinesUnknown), code.NeedFurtherConfirmation, "NOT CLEAR YET", code.NeedFurtherConfirmation},
		{reason(code.Unclear, code.InstancesToConfirm), code.NeedFurtherConfirmationInfraMachines, "CONFIRM FIRST", code.NeedFurtherConfirmationInfraMachines},
		{reason(code.Unclear, code.NothingToCompare), code.Healthy, "NOTHING TO COMPARE", code.Healthy},
		{reason("later"), code.Healthy, "NOT CLEAR YET", code.ManualRemediationRequired},
		{nil, code.Healthy, "NOT CLEAR YET", code.NeedFurtherConfirmation},
	} {
		r := &Report{Summary: Summary{Status: c.status, Complete: true, Answer: c.answer}}
		a := r.Answer()
		if a.Safe != c.safe || a.As != c.look || a.Status != c.status {
			t.Errorf("%+v: %s as %s", c.answer, a.Safe, a.As)
		}
		var facts []string
		for _, f := range a.Facts {
			facts = append(facts, f.Text)
		}
		text := strings.Join(facts, "\n")
		if c.answer == nil && !strings.Contains(text, "run detect again") {
			t.Errorf("of a report without an answer: %s", text)
		}
		if c.answer != nil && strings.Contains(text, "1 condition. The first: ") != (c.answer.Safe == code.Yes || c.answer.Safe == code.WithWork) {
			t.Errorf("%s: conditions: %s", c.answer.Safe, text)
		}
	}
}

// Facts are whole sentences. A VM that nobody will start has one.
func TestFactsAreSentences(t *testing.T) {
	for _, n := range []int{1, 2} {
		r := &Report{Clusters: make([]Cluster, 1)}
		for range n {
			m := Machine{Status: code.Healthy, Forecast: &MachineForecast{Outcome: code.Stuck}, Warnings: []Warning{{Reason: code.DuplicateID}, {Reason: code.PoweredOff}}}
			r.Clusters[0].ControlPlane.Machines = append(r.Clusters[0].ControlPlane.Machines, m)
		}
		var all []string
		for _, f := range r.Answer().Facts {
			if all = append(all, f.Text); !strings.HasSuffix(f.Text, ".") {
				t.Errorf("not a sentence: %q", f.Text)
			}
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, "no controller will start") {
			t.Errorf("the VMs that stay off are not said:\n%s", text)
		}
	}
}

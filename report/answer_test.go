package report

import (
	"slices"
	"strings"
	"testing"
)

// The reasons are grouped by the answer that they leave, the worst first, and the schema
// says of each which that is.
func TestReasonsAndTheSchemaAgree(t *testing.T) {
	answers := []Safe{No, Unclear, WithWork, Yes}
	if !slices.IsSortedFunc(reasonRows, func(a, b reasonRow) int {
		return slices.Index(answers, a.safe) - slices.Index(answers, b.safe)
	}) {
		t.Error("the reasons are not ordered by their answers")
	}
	known := map[Reason]bool{}
	for _, row := range reasonRows {
		if known[row.code] {
			t.Errorf("%s is there twice", row.code)
		}
		known[row.code] = true
		if meaning := Explain(row.code); !strings.HasPrefix(meaning, "Answer, "+string(row.safe)+": ") {
			t.Errorf("%s leaves %s, and the schema says %q", row.code, row.safe, meaning)
		}
	}
	for code, meaning := range reasons() {
		if strings.HasPrefix(meaning, "Answer, ") && !known[Reason(code)] {
			t.Errorf("%s is in the schema alone", code)
		}
	}
	if SafeAfter("of a later release") != No {
		t.Error("a reason that is not known is called less than the worst")
	}
}

// What people read first is the answer of the document, whatever is written beside it.
func TestTheScreenSaysTheAnswer(t *testing.T) {
	reason := func(safe Safe, codes ...Reason) *SafeAnswer {
		a := &SafeAnswer{Safe: safe, Conditions: []Note{{"RestoreOrder", "all objects come first"}}}
		for _, code := range codes {
			a.Reasons = append(a.Reasons, AnswerReason{Code: code, Message: "of " + string(code), Objects: []string{"x"}})
		}
		return a
	}
	for _, c := range []struct {
		answer *SafeAnswer
		status Status
		safe   string
		look   Status
	}{
		{reason(Yes), Healthy, "YES", Healthy},
		{reason(WithWork, MachinesMade), Healthy, "NOT WITHOUT MANUAL WORK", ManualRemediationNotRequired},
		{reason(WithWork, GhostsLeft), ManualRemediationRequired, "NOT WITHOUT MANUAL WORK", ManualRemediationRequired},
		{reason(No, RolloutDue), Healthy, "NO", ManualRemediationRequired},
		{reason(Unclear, MachinesUnknown), NeedFurtherConfirmation, "NOT CLEAR YET", NeedFurtherConfirmation},
		{reason(Unclear, InstancesToConfirm), NeedFurtherConfirmationInfraMachines, "CONFIRM FIRST", NeedFurtherConfirmationInfraMachines},
		{reason(Unclear, NothingToCompare), Healthy, "NOTHING TO COMPARE", Healthy},
		{reason("later"), Healthy, "NOT CLEAR YET", ManualRemediationRequired},
		{nil, Healthy, "NOT CLEAR YET", NeedFurtherConfirmation},
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
		if c.answer != nil && strings.Contains(text, "1 condition. The first: ") != (c.answer.Safe == Yes || c.answer.Safe == WithWork) {
			t.Errorf("%s: conditions: %s", c.answer.Safe, text)
		}
	}
}

// Facts are whole sentences. A VM that nobody will start has one.
func TestFactsAreSentences(t *testing.T) {
	for _, n := range []int{1, 2} {
		r := &Report{Clusters: make([]Cluster, 1)}
		for range n {
			m := Machine{Status: Healthy, Forecast: &MachineForecast{Outcome: Stuck}, Warnings: []Warning{{Reason: DuplicateID}, {Reason: PoweredOff}}}
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

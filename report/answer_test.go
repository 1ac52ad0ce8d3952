package report

import (
	"strings"
	"testing"

	"drift-detector/report/code"
)

// What people read first is the answer of the document, whatever is written beside it.
func TestTheScreenSaysTheAnswer(t *testing.T) {
	reason := func(safe code.Safe, codes ...code.Reason) *SafeAnswer {
		a := &SafeAnswer{Safe: safe, Conditions: []Note{{Code: "RestoreOrder", Message: "all objects come first"}}}
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
		if c.answer != nil && (len(a.Conditions) == 1) != (c.answer.Safe == code.Yes || c.answer.Safe == code.WithWork) {
			t.Errorf("%s: conditions: %v", c.answer.Safe, a.Conditions)
		}
	}
}

// Both answers are said, and what the second is given after. Where that is that anything is
// safe, its conditions are said, also when the first is NO.
func TestTheAnswerByPlan(t *testing.T) {
	todo := []ToDo{
		{Code: code.ControlPlaneDown, Phase: code.Before, Safe: code.No, Decide: true, Resolved: true, Steps: []int{4}},
		{Code: code.PoolScaledBack, Phase: code.Paused, Safe: code.No, Resolved: true, Steps: []int{16}},
		{Code: code.GhostsLeft, Phase: code.After, Safe: code.WithWork, Resolved: true, Steps: []int{20}},
		{Code: code.OldManagementCluster, Phase: code.Before, Safe: code.No, Resolved: true},
		{Code: code.InstancesToConfirm, Phase: code.Before, Safe: code.Unclear, Decide: true, Steps: []int{9}},
	}
	for _, c := range []struct {
		safe       code.Safe
		todo       []ToDo
		words      string
		after      string
		conditions int
	}{
		{code.Yes, todo, "YES", "after 1 decision and 1 step", 1},
		{code.WithWork, todo[1:], "NOT WITHOUT MANUAL WORK", "after 1 step", 1},
		{code.Unclear, todo[4:], "NOT CLEAR YET", "", 0},
		{code.No, nil, "NO", "", 0},
	} {
		r := &Report{ToDo: c.todo, Summary: Summary{
			Status: code.Healthy, AnswerByPlan: &PlanAnswer{Safe: c.safe},
			Answer: &SafeAnswer{Safe: code.No, Conditions: []Note{{Code: "RestoreOrder"}}},
		}}
		if a := r.Answer(); a.ByPlan != c.words || a.After != c.after || len(a.Conditions) != c.conditions || a.Safe != "NO" {
			t.Errorf("%s: %+v", c.safe, a)
		}
	}
}

// Facts are whole sentences.
func TestFactsAreSentences(t *testing.T) {
	for _, r := range []*Report{
		{},
		{Summary: Summary{Complete: true, Ignored: 2, Machines: MachineCounts{Total: 1, Healthy: 1}}},
		{Options: Options{Filter: &Filter{Clusters: []string{"a"}}}},
	} {
		for _, f := range r.Answer().Facts {
			if !strings.HasSuffix(f.Text, ".") {
				t.Errorf("not a sentence: %q", f.Text)
			}
		}
	}
}

// Of hundreds of steps that lie between others the first are named, and the others counted.
func TestStepsInFewCharacters(t *testing.T) {
	var odd []int
	for n := 1; n < 1200; n += 2 {
		odd = append(odd, n)
	}
	for _, c := range []struct {
		steps []int
		want  string
	}{
		{nil, ""},
		{[]int{6}, "6"},
		{[]int{3, 9, 10, 11}, "3 9-11"},
		{odd[:8], "1 3 5 7 9 11 13 15"},
		{append(odd[:8:8], 17, 18, 30), "1 3 5 7 9 11 13 15 and 3 more"},
		{odd, "1 3 5 7 9 11 13 15 and 592 more"},
	} {
		if got := (&ToDo{Steps: c.steps}).StepsText(); got != c.want {
			t.Errorf("%d steps: %q, want %q", len(c.steps), got, c.want)
		}
	}
}

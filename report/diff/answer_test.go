package diff

import (
	"reflect"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// What was resolved, what is new and what is left comes first, with both answers; each object
// counts for itself.
func TestTheAnswerComesFirst(t *testing.T) {
	old, new := fleet(), fleet()
	old.Summary.Answer, old.Summary.AnswerByPlan = &report.SafeAnswer{Safe: code.No}, &report.PlanAnswer{Safe: code.Unclear}
	new.Summary.Answer, new.Summary.AnswerByPlan = &report.SafeAnswer{Safe: code.No}, &report.PlanAnswer{Safe: code.Yes}
	todo := func(word, reason code.Reason, objects ...string) report.ToDo {
		return report.ToDo{Phase: code.Before, Safe: code.No, Code: word, Reason: reason, Objects: objects}
	}
	old.ToDo = []report.ToDo{
		todo(code.DuplicateID, code.CopiedID, "Machine a/x"), todo(code.OldManagementCluster, ""),
		todo(code.MachinesBroken, "", "Machine a/1", "Machine a/2"), todo(code.IdentityAbsent, code.BackupError, "Identity i"),
	}
	new.ToDo = []report.ToDo{
		todo(code.OldManagementCluster, ""), todo(code.IdentityAbsent, code.BackupError, "Identity i"),
		todo(code.MachinesBroken, "", "Machine a/2", "Machine a/3", "Machine a/4"), todo(code.ResourceUndecided, "", "Cluster a/b"),
	}
	d := compareOK(t, old, new)
	if want := (Answer{
		Old: Answers{code.No, code.Unclear}, New: Answers{code.No, code.Yes},
		Resolved: []Reason{{code.DuplicateID, []string{"Machine a/x"}}, {code.MachinesBroken, []string{"Machine a/1"}}},
		Added:    []Reason{{code.MachinesBroken, []string{"Machine a/3", "Machine a/4"}}, {code.ResourceUndecided, []string{"Cluster a/b"}}},
		Left:     []Reason{{code.IdentityAbsent, []string{"Identity i"}}, {code.MachinesBroken, []string{"Machine a/2"}}},
	}); !reflect.DeepEqual(d.Answer, want) {
		t.Errorf("got %+v", d.Answer)
	}
	const text = `Answer: NO -> NO; by the plan: NOT CLEAR YET -> YES
  resolved: DuplicateID (Machine a/x), MachinesBroken (Machine a/1)
  new: MachinesBroken (Machine a/3, Machine a/4), ResourceUndecided (Cluster
    a/b)
  left: IdentityAbsent, MachinesBroken
Only the answer differs.
`
	if got := write(t, plain, d); !strings.HasPrefix(got, text) {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	if got := write(t, Markdown, d); !strings.HasPrefix(got, "**Answer:** NO → NO; by the plan: NOT CLEAR YET → YES\n\n- resolved: `DuplicateID` (`Machine a/x`), ") {
		t.Errorf("got\n%s", got)
	}
	if d.Worse || !d.Different {
		t.Errorf("worse %t, different %t", d.Worse, d.Different)
	}
}

// An answer that got worse makes the whole worse, each of both, in the order of danger; one that
// is not there says nothing.
func TestAnAnswerThatGotWorse(t *testing.T) {
	order := []code.Safe{code.Yes, code.WithWork, code.Unclear, code.No}
	for i, before := range append(order, "") {
		for j, after := range append(order, "") {
			for _, byPlan := range []bool{false, true} {
				old, new := fleet(), fleet()
				for r, safe := range map[*report.Report]code.Safe{old: before, new: after} {
					switch {
					case safe == "":
					case byPlan:
						r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: safe}
					default:
						r.Summary.Answer = &report.SafeAnswer{Safe: safe}
					}
				}
				d := compareOK(t, old, new)
				if want := before != "" && after != "" && j > i; d.Worse != want || d.Different != (before != after) {
					t.Errorf("%q to %q (by the plan: %t): worse %t, different %t", before, after, byPlan, d.Worse, d.Different)
				}
				if matched, _ := d.Fails([]string{"worse"}); (len(matched) > 0) != d.Worse {
					t.Errorf("--fail-on worse: %q", matched)
				}
			}
		}
	}
}

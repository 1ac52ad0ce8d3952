package plan

import (
	"fmt"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// The list has the reasons of both answers, what an object of a later one adds, and the
// conditions that a person has to see to; a check that is an error stands for the clusters that
// it halts.
func TestToDoHasWhatBothAnswersHave(t *testing.T) {
	r := &report.Report{
		Clusters: []report.Cluster{{Namespace: "t", Name: "a"}, {Namespace: "t", Name: "b", Paused: true}},
		Checks:   []report.Check{{Severity: code.CheckError, Code: code.IdentityAbsent, Object: "Identity i", Message: "not there"}},
	}
	r.Summary.Answer = &report.SafeAnswer{
		Safe: code.No,
		Reasons: []report.AnswerReason{
			{Code: code.BackupError, Message: "not fit", Objects: []string{"Identity i"}},
			{Code: code.ClusterHalted, Message: "halted", Objects: []string{"Cluster t/a"}, Until: "Identity i"},
			{Code: code.InstancesToConfirm, Message: "may", Objects: []string{"instance x"}},
			{Code: code.GhostsLeft, Message: "run on", Objects: []string{"instance y"}},
		},
		Conditions: []report.Note{{Code: code.OldManagementCluster}, {Code: code.NewestBackup}, {Code: code.UnpausedClusters}},
	}
	r.Summary.AnswerByPlan = &report.PlanAnswer{
		Safe: code.Unclear,
		Reasons: []report.AnswerReason{
			{Code: code.InstancesToConfirm, Message: "may", Objects: []string{"instance x"}},
			{Code: code.SecondInstance, Message: "twice", Objects: []string{"Machine t/m"}},
		},
		Resolved: []report.AnswerReason{{Code: code.BackupError}, {Code: code.ClusterHalted}, {Code: code.GhostsLeft, Message: "run on", Objects: []string{"instance y", "instance z"}}},
	}
	Fill(r, providerTools)
	var got []string
	for i := range r.ToDo {
		td := &r.ToDo[i]
		if td.Objects == nil || td.Steps == nil {
			t.Errorf("%s: a list is nil", td.Code)
		}
		got = append(got, fmt.Sprint(td.Phase, " ", td.Mark(), " ", td.Code, " ", td.Reason, td.Objects, " ", td.Decide, " ", td.Resolved))
	}
	want := []string{
		"before ! IdentityAbsent BackupError[Identity i] false true",
		"before ! OldManagementCluster [] false true",
		"before ? InstancesToConfirm [instance x] true false",
		"restore ! UnpausedClusters [] false true",
		"whilePaused ! SecondInstance [Machine t/m] false false",
		"after - GhostsLeft [instance y instance z] false true",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

package build_test

import (
	"strings"
	"testing"

	"drift-detector/backup/check"
	"drift-detector/detector/rehearsal"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
)

// The answer by the plan leaves what no step mends, what a line has to settle as long as there is
// no plan, and what shows only once the controllers act again.
func TestAnswerByPlan(t *testing.T) {
	effect := func(reason code.Reason) report.AnswerReason {
		return report.AnswerReason{Code: reason, Message: "of " + string(reason), Objects: []string{"a"}}
	}
	finding := func(word code.Reason, mended bool) check.Finding {
		return check.Finding{Code: word, Severity: code.CheckError, Mended: mended, Object: "o", Why: string(word)}
	}
	for name, c := range map[string]struct {
		now, then []report.AnswerReason
		checks    []check.Finding
		safe      code.Safe
		left      string
		resolved  string
	}{
		"nothing to do":                  {safe: code.Yes},
		"held back by a person":          {now: []report.AnswerReason{effect(code.RolloutDue)}, then: []report.AnswerReason{effect(code.RolloutDue)}, safe: code.No, left: "RolloutDue"},
		"halted, and nothing follows":    {now: []report.AnswerReason{effect(code.ClusterHalted)}, safe: code.No, left: "ClusterHalted"},
		"broken, and a step repairs it":  {now: []report.AnswerReason{effect(code.MachinesBroken)}, safe: code.Yes, resolved: "MachinesBroken"},
		"a line has to scale it":         {now: []report.AnswerReason{effect(code.MachinesMade)}, then: []report.AnswerReason{effect(code.MachinesMade)}, safe: code.WithWork, left: "MachinesMade"},
		"halted for good":                {now: []report.AnswerReason{effect(code.ClusterHalted)}, then: []report.AnswerReason{effect(code.ClusterHalted)}, safe: code.No, left: "ClusterHalted"},
		"halted, and doubles then":       {now: []report.AnswerReason{effect(code.ClusterHalted)}, then: []report.AnswerReason{effect(code.SecondInstance)}, safe: code.No, left: "SecondInstance ClusterHalted"},
		"halted, and a rollout follows":  {now: []report.AnswerReason{effect(code.ClusterHalted)}, then: []report.AnswerReason{effect(code.RolloutDue)}, safe: code.No, left: "RolloutDue ClusterHalted"},
		"not known":                      {now: []report.AnswerReason{effect(code.OutcomeUnknown)}, then: []report.AnswerReason{effect(code.OutcomeUnknown)}, safe: code.Unclear, left: "OutcomeUnknown"},
		"an identity is created":         {checks: []check.Finding{finding("IdentityAbsent", true)}, safe: code.Yes, resolved: "BackupError"},
		"the backup is not whole":        {checks: []check.Finding{finding("BackupNotCompleted", false)}, safe: code.No, left: "BackupError"},
		"one error of two can be mended": {checks: []check.Finding{finding("IdentityAbsent", true), finding("BackupNotCompleted", false)}, safe: code.No, left: "BackupError", resolved: "BackupError"},
		"of a later release":             {now: []report.AnswerReason{effect("Surprise")}, then: []report.AnswerReason{effect("Surprise")}, safe: code.No, left: "Surprise"},
	} {
		t.Run(name, func(t *testing.T) {
			p := buildtest.Foreseen(buildtest.Healthy(), c.now...)
			by := *buildtest.Foreseen(buildtest.Healthy(), c.then...).Forecast
			p.ByPlan, p.Checks = &by, c.checks
			got := build.New(p).Summary.AnswerByPlan
			if got.Safe != c.safe || words(got.Reasons) != c.left || words(got.Resolved) != c.resolved {
				t.Errorf("%s, left %q, resolved %q", got.Safe, words(got.Reasons), words(got.Resolved))
			}
		})
	}
	p := buildtest.Healthy()
	p.Result.Unattributed, p.Result.Status, p.ByPlan = buildtest.Unattributed(), code.NeedFurtherConfirmation, &rehearsal.Forecast{}
	if got := build.New(p).Summary.AnswerByPlan; got.Safe != code.Unclear || words(got.Reasons) != "InstancesToConfirm" {
		t.Errorf("with VMs to confirm: %s, %s", got.Safe, words(got.Reasons))
	}
	if p.ByPlan = nil; build.New(p).Summary.AnswerByPlan != nil {
		t.Error("an answer by the plan without a forecast of it")
	}
}

func words(all []report.AnswerReason) string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = string(all[i].Code)
	}
	return strings.Join(out, " ")
}

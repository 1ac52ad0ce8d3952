package build_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
)

// codesOf returns the codes of reasons in their order.
func codesOf(a *report.SafeAnswer) string {
	var out []string
	for i := range a.Reasons {
		out = append(out, string(a.Reasons[i].Code))
	}
	return strings.Join(out, " ")
}

func TestDecide(t *testing.T) {
	effect := func(reason code.Reason, objects ...string) report.AnswerReason {
		return report.AnswerReason{Code: reason, Message: "of " + string(reason), Objects: objects}
	}
	for name, c := range map[string]struct {
		parts func() build.Parts
		safe  code.Safe
		codes code.Reason
	}{
		"nothing to do":        {buildtest.Healthy, code.Yes, ""},
		"machines are created": {func() build.Parts { return buildtest.Foreseen(buildtest.Healthy(), effect(code.MachinesMade, "a")) }, code.WithWork, "MachinesMade"},
		"the worst decides, and is first": {func() build.Parts {
			return buildtest.Foreseen(buildtest.Healthy(), effect(code.MachinesMade, "a"), effect(code.SpecUnseen, "b"), effect(code.RolloutDue, "c"))
		}, code.No, "RolloutDue SpecUnseen MachinesMade"},
		"unknown before withWork": {func() build.Parts {
			return buildtest.Foreseen(buildtest.Healthy(), effect(code.GhostsLeft, "a"), effect(code.MachinesUnknown, "b"))
		}, code.Unclear, "MachinesUnknown GhostsLeft"},
		"of a later release": {func() build.Parts {
			return buildtest.Foreseen(buildtest.Healthy(), effect("Surprise", "a"), effect(code.RolloutDue, "b"))
		}, code.No, "Surprise RolloutDue"},
		"of the whole": {func() build.Parts {
			p := buildtest.Healthy()
			p.Forecast.Effects = []report.AnswerReason{effect(code.ClustersFirst, "Deployment velero")}
			return p
		}, code.No, "ClustersFirst"},
		"what acts on the management cluster itself": {func() build.Parts {
			p := buildtest.Foreseen(buildtest.Healthy(), effect(code.RolloutDue, "a"))
			p.Result.Clusters[0].Self = true
			p.Result.Clusters = append(p.Result.Clusters, buildtest.Big(2))
			p.Forecast.Clusters = append(p.Forecast.Clusters, rehearsal.Cluster{Groups: make([]rehearsal.Group, 9)})
			return p
		}, code.No, "RolloutDue"},
		"no forecast": {func() build.Parts { p := buildtest.Healthy(); p.Forecast = nil; return p }, code.Unclear, code.NoForecast},
		"nothing to compare": {func() build.Parts {
			p := buildtest.Healthy()
			p.Result.Clusters = nil
			return p
		}, code.Unclear, code.NothingToCompare},
		"a pool alone": {func() build.Parts {
			p := buildtest.Healthy()
			p.Result.Clusters = []detector.Cluster{{WorkerGroups: []detector.Set{{Kind: "MachinePool", Pool: &detector.PoolState{State: code.Present}}}}}
			p.Forecast.Clusters = []rehearsal.Cluster{{Groups: make([]rehearsal.Group, 1)}}
			return p
		}, code.Yes, ""},
		"VMs to confirm": {func() build.Parts {
			p := buildtest.Healthy()
			p.Result.Unattributed, p.Result.Status = buildtest.Unattributed(), code.NeedFurtherConfirmation
			return p
		}, code.Unclear, code.InstancesToConfirm},
		"not complete": {func() build.Parts {
			p := buildtest.Healthy()
			p.Result.Complete, p.Result.Scopes = false, buildtest.Sample().Result.Scopes
			return p
		}, code.Unclear, code.Incomplete},
		"an error": {func() build.Parts {
			p := buildtest.Healthy()
			p.Result.Errors = []detector.Error{{Object: "resources/x.json", Message: "bad"}}
			return p
		}, code.Unclear, code.ErrorsOccurred},
		"a check that is an error": {func() build.Parts { p := buildtest.Healthy(); p.Checks = buildtest.Checks(); return p }, code.No, code.BackupError},
		"checks that are warnings": {func() build.Parts {
			p := buildtest.Healthy()
			p.Checks = []check.Finding{{Severity: code.CheckWarning, Code: "X", Object: "o", Why: "w"}}
			return p
		}, code.Yes, ""},
		"another status": {func() build.Parts {
			p := buildtest.Healthy()
			p.Result.Status = code.NeedFurtherConfirmation
			return p
		}, code.Unclear, code.StatusNotHealthy},
	} {
		t.Run(name, func(t *testing.T) {
			a := build.New(c.parts()).Summary.Answer
			if a.Safe != c.safe || codesOf(a) != string(c.codes) {
				t.Errorf("%s for %q, want %s for %q: %+v", a.Safe, codesOf(a), c.safe, c.codes, a.Reasons)
			}
		})
	}
}

// One reason is of all that have it, and names each once.
func TestReasonsNameTheirObjects(t *testing.T) {
	p := buildtest.Foreseen(buildtest.Healthy(), report.AnswerReason{Code: code.GhostsLeft, Message: "they run on", Objects: []string{"instance b", "instance a"}})
	p.Forecast.Effects = []report.AnswerReason{{Code: code.GhostsLeft, Message: "they run on", Objects: []string{"instance b", "instance c"}}}
	p.Result.Complete, p.Result.Scopes = false, buildtest.Sample().Result.Scopes
	got := build.New(p).Summary.Answer.Reasons
	if len(got) != 2 || got[0].Code != code.Incomplete || len(got[0].Objects) != 1 || got[1].Code != code.GhostsLeft ||
		!slices.Equal(got[1].Objects, []string{"instance a", "instance b", "instance c"}) {
		t.Errorf("%+v", got)
	}
}

// The conditions are those of the forecast; one that only some clusters were asked for is
// the last.
func TestConditionsOfTheAnswer(t *testing.T) {
	p := buildtest.Healthy()
	p.Options.Filter = &report.Filter{Namespaces: []string{"tenant-alpha"}}
	a := build.New(p).Summary.Answer
	if len(a.Conditions) != 2 || a.Conditions[0].Code != code.RestoreOrder || a.Conditions[1].Code != code.Narrowed || !strings.Contains(a.Conditions[1].Message, "tenant-alpha") {
		t.Errorf("%+v", a.Conditions)
	}
	p.Forecast = nil
	if a := build.New(p).Summary.Answer; len(a.Conditions) != 1 || a.Conditions[0].Code != code.Narrowed {
		t.Errorf("without a forecast: %+v", a.Conditions)
	}
}

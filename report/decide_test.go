package report

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/readiness"
	"drift-detector/detector"
	"drift-detector/detector/forecast"
)

// The reasons are grouped by the answer that they leave, the worst first, and the schema
// says of each which that is.
func TestReasonsAndTheSchemaAgree(t *testing.T) {
	if !slices.IsSortedFunc(reasonRows, func(a, b reasonRow) int {
		return slices.Index(answersWorstFirst, a.safe) - slices.Index(answersWorstFirst, b.safe)
	}) {
		t.Error("the reasons are not ordered by their answers")
	}
	known := map[string]bool{}
	for _, row := range reasonRows {
		if known[row.code] {
			t.Errorf("%s is there twice", row.code)
		}
		known[row.code] = true
		if meaning := reasons()[row.code]; !strings.HasPrefix(meaning, "Answer, "+row.safe+": ") {
			t.Errorf("%s leaves %s, and the schema says %q", row.code, row.safe, meaning)
		}
	}
	for code, meaning := range reasons() {
		if strings.HasPrefix(meaning, "Answer, ") && !known[code] {
			t.Errorf("%s is in the schema alone", code)
		}
	}
	if safeAfter("of a later release") != No {
		t.Error("a reason that is not known is called less than the worst")
	}
}

// codesOf are the codes of reasons in their order.
func codesOf(a *SafeAnswer) string {
	var out []string
	for i := range a.Reasons {
		out = append(out, a.Reasons[i].Code)
	}
	return strings.Join(out, " ")
}

func TestDecide(t *testing.T) {
	effect := func(code string, objects ...string) forecast.Effect {
		return forecast.Effect{Code: code, Message: "of " + code, Objects: objects}
	}
	for name, c := range map[string]struct {
		parts       func() Parts
		safe, codes string
	}{
		"nothing to do":     {healthyParts, Yes, ""},
		"machines are made": {func() Parts { return foreseen(healthyParts(), effect(forecast.MachinesMade, "a")) }, WithWork, "MachinesMade"},
		"the worst decides, and is first": {func() Parts {
			return foreseen(healthyParts(), effect(forecast.MachinesMade, "a"), effect(forecast.SpecUnseen, "b"), effect(forecast.RolloutDue, "c"))
		}, No, "RolloutDue SpecUnseen MachinesMade"},
		"unknown before withWork": {func() Parts {
			return foreseen(healthyParts(), effect(forecast.GhostsLeft, "a"), effect(forecast.MachinesUnknown, "b"))
		}, Unclear, "MachinesUnknown GhostsLeft"},
		"of a later release": {func() Parts {
			return foreseen(healthyParts(), effect("Surprise", "a"), effect(forecast.RolloutDue, "b"))
		}, No, "Surprise RolloutDue"},
		"of the estate": {func() Parts {
			p := healthyParts()
			p.Forecast.Effects = []forecast.Effect{effect(forecast.ClustersFirst, "Deployment velero")}
			return p
		}, No, "ClustersFirst"},
		"of the management cluster itself": {func() Parts {
			p := foreseen(healthyParts(), effect(forecast.RolloutDue, "a"))
			p.Result.Clusters[0].Self = true
			p.Result.Clusters = append(p.Result.Clusters, sampleBig(2))
			p.Forecast.Clusters = append(p.Forecast.Clusters, forecast.Cluster{Groups: make([]forecast.Group, 9)})
			return p
		}, Yes, ""},
		"no forecast": {func() Parts { p := healthyParts(); p.Forecast = nil; return p }, Unclear, NoForecast},
		"nothing to compare": {func() Parts {
			p := healthyParts()
			p.Result.Clusters = nil
			return p
		}, Unclear, NothingToCompare},
		"a pool alone": {func() Parts {
			p := healthyParts()
			p.Result.Clusters = []detector.Cluster{{WorkerGroups: []detector.Set{{Kind: "MachinePool", Pool: &detector.PoolState{State: detector.Present}}}}}
			p.Forecast.Clusters = []forecast.Cluster{{Groups: make([]forecast.Group, 1)}}
			return p
		}, Yes, ""},
		"VMs to confirm": {func() Parts {
			p := healthyParts()
			p.Result.Unattributed, p.Result.Status = sampleUnattributed(), detector.NeedFurtherConfirmation
			return p
		}, Unclear, InstancesToConfirm},
		"not complete": {func() Parts {
			p := healthyParts()
			p.Result.Complete, p.Result.Scopes = false, sampleParts().Result.Scopes
			return p
		}, Unclear, Incomplete},
		"an error": {func() Parts {
			p := healthyParts()
			p.Result.Errors = []detector.Error{{Object: "resources/x.json", Message: "bad"}}
			return p
		}, Unclear, ErrorsOccurred},
		"a check that is an error": {func() Parts { p := healthyParts(); p.Checks = sampleChecks(); return p }, No, BackupError},
		"checks that are warnings": {func() Parts {
			p := healthyParts()
			p.Checks = []readiness.Finding{{Severity: readiness.Warning, Code: "X", Object: "o", Why: "w"}}
			return p
		}, Yes, ""},
		"another status": {func() Parts {
			p := healthyParts()
			p.Result.Status = detector.NeedFurtherConfirmation
			return p
		}, Unclear, StatusNotHealthy},
	} {
		t.Run(name, func(t *testing.T) {
			a := New(c.parts()).Summary.Answer
			if a.Safe != c.safe || codesOf(a) != c.codes {
				t.Errorf("%s for %q, want %s for %q: %+v", a.Safe, codesOf(a), c.safe, c.codes, a.Reasons)
			}
		})
	}
}

// One reason is of all that have it, and names each once.
func TestReasonsNameTheirObjects(t *testing.T) {
	p := foreseen(healthyParts(), forecast.Effect{Code: forecast.GhostsLeft, Message: "they run on", Objects: []string{"instance b", "instance a"}})
	p.Forecast.Effects = []forecast.Effect{{Code: forecast.GhostsLeft, Message: "they run on", Objects: []string{"instance b", "instance c"}}}
	p.Result.Complete, p.Result.Scopes = false, sampleParts().Result.Scopes
	got := New(p).Summary.Answer.Reasons
	if len(got) != 2 || got[0].Code != Incomplete || len(got[0].Objects) != 1 || got[1].Code != forecast.GhostsLeft ||
		!slices.Equal(got[1].Objects, []string{"instance a", "instance b", "instance c"}) {
		t.Errorf("%+v", got)
	}
}

// The conditions are those of the forecast; one that only some clusters were asked for is
// the last.
func TestConditionsOfTheAnswer(t *testing.T) {
	p := healthyParts()
	p.Options.Filter = &Filter{Namespaces: []string{"tenant-alpha"}}
	a := New(p).Summary.Answer
	if len(a.Conditions) != 2 || a.Conditions[0].Code != forecast.RestoreOrder || a.Conditions[1].Code != Narrowed || !strings.Contains(a.Conditions[1].Message, "tenant-alpha") {
		t.Errorf("%+v", a.Conditions)
	}
	p.Forecast = nil
	if a := New(p).Summary.Answer; len(a.Conditions) != 1 || a.Conditions[0].Code != Narrowed {
		t.Errorf("without a forecast: %+v", a.Conditions)
	}
}

// What people read first is the answer of the document, whatever is written beside it.
func TestTheScreenSaysTheAnswer(t *testing.T) {
	reason := func(safe string, codes ...string) *SafeAnswer {
		a := &SafeAnswer{Safe: safe, Conditions: []Note{{forecast.RestoreOrder, "all objects come first"}}}
		for _, code := range codes {
			a.Reasons = append(a.Reasons, AnswerReason{Code: code, Message: "of " + code, Objects: []string{"x"}})
		}
		return a
	}
	for _, c := range []struct {
		answer             *SafeAnswer
		status, safe, look string
	}{
		{reason(Yes), Healthy, "YES", Healthy},
		{reason(WithWork, forecast.MachinesMade), Healthy, "NOT WITHOUT MANUAL WORK", ManualRemediationNotRequired},
		{reason(WithWork, forecast.GhostsLeft), ManualRemediationRequired, "NOT WITHOUT MANUAL WORK", ManualRemediationRequired},
		{reason(No, forecast.RolloutDue), Healthy, "NO", ManualRemediationRequired},
		{reason(Unclear, forecast.MachinesUnknown), NeedFurtherConfirmation, "NOT CLEAR YET", NeedFurtherConfirmation},
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

// Screens shorten a long list of objects; the document has all of it.
func TestManyObjects(t *testing.T) {
	if got := listedUpTo([]string{"a", "b", "c"}, 3); got != "a, b, c" {
		t.Error(got)
	}
	if got := listedUpTo([]string{"a", "b", "c", "d"}, 3); got != "a, b, c and 1 more" {
		t.Error(got)
	}
}

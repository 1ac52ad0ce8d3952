package plan

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// refusedAtFirst returns a report of clusters whose infrastructure machines are refused at first.
func refusedAtFirst() *report.Report {
	r := sample("alpha")
	r.Providers = slices.Clone(r.Providers) // samples share them
	for i := range r.Providers {
		r.Providers[i].RefusedAtFirst = "AzureMachines"
	}
	reason := report.AnswerReason{Code: code.RefusedAtFirst, Message: "CAPZ refuses", Objects: []string{"Cluster " + r.Clusters[0].Title()}}
	r.Summary.Answer, r.Summary.AnswerByPlan = &report.SafeAnswer{Safe: code.WithWork, Reasons: []report.AnswerReason{reason}}, &report.PlanAnswer{Safe: code.WithWork, Reasons: []report.AnswerReason{reason}}
	return r
}

// The restore that is refused is not the one that has to complete, and a second one follows it,
// while all Clusters are paused.
func TestWhatIsRefusedAtFirstIsRestoredAgain(t *testing.T) {
	r := refusedAtFirst()
	var again, complete []string
	for _, line := range planLines(r) {
		if strings.Contains(line, "restore create") && strings.Contains(line, restoredAgain) {
			again = append(again, line)
		}
		if strings.Contains(line, "status.phase") {
			complete = append(complete, line)
		}
	}
	if len(again) != 1 || len(complete) != 1 || !strings.Contains(complete[0], restoredAgain) {
		t.Fatalf("lines %q, %q", again, complete)
	}
	for name, tt := range map[string]struct {
		cases []string
		want  bool
	}{
		"all is paused":               {nil, true},
		"a Cluster is not":            {[]string{`*"get clusters.cluster.x-k8s.io "*"go-template"*) echo tenant/prod; exit ;;`}, false},
		"another management cluster":  {[]string{plantest.Stops(" management filled")}, false},
		"another Backup":              {[]string{plantest.Stops(" backup ")}, false},
		"a ConfigMap without a pause": {[]string{plantest.Stops(" pauses ")}, false},
	} {
		if o := plantest.Try(t, again[0], tt.cases...); o.Did("restore create filled-again ") != tt.want {
			t.Errorf("%s: %q\n%s", name, o.Calls, o.Printed)
		}
	}
	if text := planText(New(r, providerTools)); !strings.Contains(text, "refuse AzureMachines as long as their Clusters are not there") {
		t.Error("the plan does not say what is refused")
	}
}

// The answer by the plan counts on that line.
func TestTheSecondRestoreResolvesTheRefusal(t *testing.T) {
	for refuses, want := range map[string]code.Safe{"AzureMachines": code.Yes, "": code.WithWork} {
		r := refusedAtFirst()
		for i := range r.Providers {
			r.Providers[i].RefusedAtFirst = refuses
		}
		Fill(r, providerTools)
		if got := r.Summary.AnswerByPlan.Safe; got != want {
			t.Errorf("%q: %s", refuses, got)
		}
	}
}

package ignore

import (
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

func withChecks() *report.Readiness {
	return &report.Readiness{Checks: []report.Check{
		{Severity: code.CheckError, Code: "IdentityAbsent", Object: "VSphereClusterIdentity shared", Clusters: []string{"tenant-beta/dev"}},
		{Severity: code.CheckWarning, Code: "NoHealthCheck", Object: "MachineDeployment tenant-alpha/md-0", Clusters: []string{"tenant-alpha/alpha-prod"}},
		{Severity: code.CheckWarning, Code: "NoHealthCheck", Object: "MachineDeployment tenant-beta/md-1", Clusters: []string{"tenant-beta/dev"}},
		{Severity: code.CheckInfo, Code: "VeleroBackupUnknown", Object: "the backup"},
	}}
}

// Rules with check: set checks aside, others never do.
func TestRulesForChecks(t *testing.T) {
	for rule, want := range map[string]string{
		`check: NoHealthCheck`:                                   " 1 2",
		`check: NoHealthCheck, cluster: dev`:                     " 2",
		`check: "*", namespace: tenant-beta`:                     " 0 2",
		`check: "*", cluster: ""`:                                " 3",
		`check: "*", object: "MachineDeployment tenant-alpha/*"`: " 1",
		`cluster: dev`:                                           "",
	} {
		r := withChecks()
		warnings := ApplyToChecks(r, read(t, "i", "rules:\n- {match: {"+rule+"}, reason: known}\n"), today)
		got := ""
		for i := range r.Checks {
			if by := r.Checks[i].Ignored; by != nil && by.Reason == "known" {
				got += " " + string(rune('0'+i))
			}
		}
		if got != want || r.Summary.Ignored != len(strings.Fields(want)) || len(warnings) > 0 {
			t.Errorf("%s sets aside %q, want %q; %+v %v", rule, got, want, r.Summary, warnings)
		}
		// In a report they do the same, and touch no count of machines.
		whole := fleet()
		whole.Checks = withChecks().Checks
		if _, err := Apply(whole, read(t, "i", "rules:\n- {match: {"+rule+"}, reason: known}\n"), today); err != nil {
			t.Fatal(err)
		}
		if n := report.CountChecks(whole.Checks).Ignored; n != len(strings.Fields(want)) || want != "" && whole.Summary.Ignored != 0 {
			t.Errorf("%s: %d checks of the report, %d findings", rule, n, whole.Summary.Ignored)
		}
	}
	r := withChecks()
	for text, want := range map[string]string{
		"rules:\n- {match: {check: Gone}, reason: r}\n":                               "i:2 matches no finding",
		"rules:\n- {match: {check: NoHealthCheck}, reason: r, expires: 2026-11-19}\n": "i:2 expired on 2026-11-19",
	} {
		if got := ApplyToChecks(r, read(t, "i", text), today); len(got) != 1 || !strings.Contains(got[0], want) || r.Summary.Ignored != 0 {
			t.Errorf("%v, want %q", got, want)
		}
		r = withChecks()
	}
	for text, want := range map[string]string{
		"rules:\n- {match: {check: X, status: Ghost}, reason: r}\n": "status: is not a key of a check",
		"rules:\n- {match: {object: X}, reason: r}\n":               "object: is a key of checks",
	} {
		if _, err := Read("i", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

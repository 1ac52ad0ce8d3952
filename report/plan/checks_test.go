package plan

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

func faultOn(object string, reason code.Reason) report.Check {
	return report.Check{Severity: "error", Code: reason, Object: object, Message: "found in " + object, Why: "why of " + string(reason), Do: "do about " + string(reason)}
}

// Each error is named before the restore, with why it matters and what to do;
// those of one kind together.
func TestErrorsOfTheBackupAreListed(t *testing.T) {
	r := sample("alpha")
	r.Checks = []report.Check{
		faultOn("Secret alpha/alpha-ca", "CertificateAbsent"), faultOn("Secret alpha/alpha-sa", "CertificateAbsent"), faultOn("ClusterClass alpha/x", "ClusterClassAbsent"),
		{Severity: "warning", Code: "BackupOld", Object: "backup x"},
		{Severity: "info", Code: "BackupAge", Object: "backup y"},
	}
	p := New(r, providerTools)
	head, found, _ := strings.Cut(planText(p), "Cluster alpha/alpha Forecast")
	for _, want := range []string{
		"found 3 errors and 1 warning.", "CertificateAbsent: 2 errors", "why of CertificateAbsent", "Do about CertificateAbsent.",
		"Secret alpha/alpha-ca", "found in Secret alpha/alpha-sa", "ClusterClassAbsent: 1 error why", "found in ClusterClass alpha/x",
	} {
		if !strings.Contains(head, want) || found == "" {
			t.Errorf("%q is missing", want)
		}
	}
	if text := planText(p); strings.Contains(text, "BackupAge") || strings.Contains(text, "BackupOld") {
		t.Error("what is no error is listed")
	}
	r.Checks = r.Checks[3:]
	if text := planText(New(r, providerTools)); !strings.Contains(text, "found no error and 1 warning") || strings.Contains(text, "this is resolved") {
		t.Error("a warning alone is shown as an error")
	}
	r.Checks = r.Checks[1:]
	if text := planText(New(r, providerTools)); strings.Contains(text, "checks of the backup itself") {
		t.Error("without a finding there is talk of one")
	}
}

// An error is repeated before the unpausing of the cluster that it is certainly
// about, and pointed to where that is not known. What brings an absent identity
// back is a step of its own, after which there is nothing left to settle.
func TestErrorsAreRepeatedBeforeTheirClusterIsUnpaused(t *testing.T) {
	for object, want := range map[string]string{ // of alpha/alpha, then alpha/alpha2
		"Cluster alpha/alpha":                        "own -",
		"Cluster alpha/alpha2":                       "- own",
		"Cluster other/alpha":                        "open open",
		"KubeadmControlPlane alpha/alpha":            "own -",
		"MachineDeployment alpha/alpha":              "own -",
		"MachineSet alpha/alpha":                     "- own",
		"Machine alpha/stale":                        "own -",
		"Machine alpha/ghost":                        "open open",
		"Secret alpha/alpha-ca":                      "own -",
		"Secret alpha/alpha2-kubeconfig":             "- own",
		"Secret alpha/alpha-eu-ca":                   "open open",
		"VSphereClusterIdentity of-alpha":            "waits -",
		"VSphereClusterIdentity of-more":             "waits own", // the forecast of the other does not name it
		"Secret alpha/of-more":                       "own own",
		"VSphereClusterIdentity named-by-a-forecast": "- waits",
		"VSphereMachine alpha/lost":                  "own -",
		"ClusterClass alpha/alpha":                   "open open",
		"every Secret":                               "open open",
		"backup alpha":                               "open open",
		"":                                           "open open",
	} {
		r := sample("alpha")
		plantest.Find(t, r, code.Stale, "worker").Name = "stale"
		plantest.Find(t, r, code.Ghost, "worker").Name = "ghost"
		r.Backups[0].Missing = []report.Missing{
			{Kind: "VSphereClusterIdentity", Name: "of-alpha", ReferredBy: "VSphereCluster alpha/alpha"},
			{Kind: "VSphereClusterIdentity", Name: "of-more", ReferredBy: "VSphereCluster alpha/alpha and 1 more"},
			{Kind: "Secret", Namespace: "alpha", Name: "of-more", ReferredBy: "VSphereCluster alpha/alpha and 1 more"},
			{Kind: "VSphereClusterIdentity", Name: "named-by-a-forecast", ReferredBy: "VSphereCluster alpha/elsewhere"},
			{Kind: "VSphereMachine", Namespace: "alpha", Name: "lost", ReferredBy: "Machine alpha/stale"},
		}
		waits := func(identities ...string) []report.Note {
			return []report.Note{{Code: code.IdentityAbsent, Message: "as somebody else would say it", Objects: identities}}
		}
		r.Clusters[0].Forecast.Notes = waits("VSphereClusterIdentity of-alpha", "VSphereClusterIdentity of-more")
		r.Clusters[1].Forecast = &report.ClusterForecast{Notes: waits("VSphereClusterIdentity named-by-a-forecast")}
		r.Checks = []report.Check{faultOn(object, "Code")}
		r.Checks[0].Clusters = map[string][]string{
			"VSphereClusterIdentity of-alpha": {"alpha/alpha"}, "VSphereClusterIdentity of-more": {"alpha/alpha", "alpha/alpha2"},
			"Secret alpha/of-more": {"alpha/alpha", "alpha/alpha2"}, "VSphereClusterIdentity named-by-a-forecast": {"alpha/alpha2"},
			"VSphereMachine alpha/lost": {"alpha/alpha"}, "ClusterClass alpha/alpha": {"not/here"},
		}[object]
		var got []string
		for _, c := range New(r, providerTools).Sections[2].Chapters {
			if c.Cluster == "" {
				continue
			}
			steps := lines(c.Steps)
			text := strings.Join(steps, "\n")
			switch {
			case object != "" && strings.Contains(text, "is not reconciled until "+object+" exists") && !strings.Contains(text, "this is resolved"):
				got = append(got, "waits")
			case strings.Contains(text, object+" (Code: found in "+object+")"):
				got = append(got, "own")
				inOrder(t, steps, "Do not unpause it before this is resolved", `{"spec":{"paused":false}}`)
			case strings.Contains(text, "1 error of the backup can't be assigned to one cluster"):
				got = append(got, "open")
				inOrder(t, steps, "can't be assigned", `{"spec":{"paused":false}}`)
			default:
				got = append(got, "-")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", object, got, want)
		}
	}
}

// What is missing is said once before the restore: with the error that is about
// it, or else by itself.
func TestWhatIsMissingIsToldOnce(t *testing.T) {
	for name, k := range map[string]report.Check{
		"by an error":              faultOn("VSphereClusterIdentity alpha", "IdentityAbsent"),
		"by a warning":             {Severity: "warning", Object: "VSphereClusterIdentity alpha"},
		"by an error of something": faultOn("VSphereClusterIdentity other", "IdentityAbsent"),
		"of another backup":        {Severity: "error", Object: "VSphereClusterIdentity alpha", Backup: 1},
	} {
		r := sample("alpha")
		r.Backups[0].Missing = r.Backups[0].Missing[:1]
		r.Checks = []report.Check{k}
		text := strings.Join(lines(New(r, providerTools).Sections[0].Chapters[0].Steps), "\n")
		if got, want := strings.Contains(text, "VSphereClusterIdentity alpha is not in the backup"), name != "by an error"; got != want {
			t.Errorf("%s: said by itself: %v", name, got)
		}
	}
}

// A report of an earlier release names an identity in a sentence alone: its error is not
// taken for resolved by a step that there is not.
func TestIdentitiesAreNotReadOffSentences(t *testing.T) {
	r := sample("alpha")
	r.Clusters[0].Forecast.Notes = []report.Note{{Code: code.IdentityAbsent, Message: "VSphereClusterIdentity x is not in the backup"}}
	r.Backups[0].Missing = []report.Missing{{Kind: "VSphereClusterIdentity", Name: "x", ReferredBy: "VSphereCluster alpha/alpha"}}
	r.Checks = []report.Check{faultOn("VSphereClusterIdentity x", "Code")}
	for clusters, want := range map[string]string{"": "can't be assigned to one cluster", "alpha/alpha": "Do not unpause it before this is resolved"} {
		if r.Checks[0].Clusters = nil; clusters != "" {
			r.Checks[0].Clusters = []string{clusters}
		}
		if text := strings.Join(lines(New(r, providerTools).Sections[2].Chapters[0].Steps), "\n"); !strings.Contains(text, want) {
			t.Error(text)
		}
	}
}

// An error in one backup says nothing of a cluster in another.
func TestErrorsOfAnotherBackupAreNotRepeated(t *testing.T) {
	r := sample("alpha")
	r.Backups = append(r.Backups, report.Backup{Path: "second"})
	k := faultOn("Cluster alpha/alpha", "Code")
	k.Backup = 1
	r.Checks = []report.Check{k}
	if text := fmt.Sprint(New(r, providerTools).Sections[2].Chapters[0].Steps); strings.Contains(text, "Do not unpause it") {
		t.Error(text)
	}
}

func TestOneIsNoneMoreThanOne(t *testing.T) {
	r := sample("alpha")
	r.Summary.Clusters.Total, r.Summary.Machines.Total, r.Summary.InfraMachines = 1, 1, 1
	r.Summary.Errors, r.Summary.Ignored = 1, 1
	r.Summary.Forecast = &report.GeneralForecast{NotHealing: 1}
	r.Checks = []report.Check{faultOn("x", "Code"), {Severity: "warning"}}
	r.Backups[0].Missing[0].ReferredBy += " and 1 more"
	g := plantest.Group(r)
	g.Machines, g.Counts = g.Machines[:1], report.MachineCounts{Total: 1, Ghost: 1}
	text := planText(New(r, providerTools))
	for _, want := range []string{"1 cluster, 1 machine: ", "; 1 VM to confirm", "1 error occurred", "1 finding is set aside", "found 1 error and 1 warning", "referred to by VSphereCluster alpha/alpha and 1 more"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	for _, wrong := range []string{" 1 errors", " 1 clusters", " 1 machines", " 1 VMs", " 1 warnings", " 1 findings", "1 more refers"} {
		if strings.Contains(text, wrong) {
			t.Errorf("it says %q", wrong)
		}
	}
}

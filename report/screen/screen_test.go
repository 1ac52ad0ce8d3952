package screen

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

func shown(t *testing.T, r *report.Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sample is a report with a reason of each sort that the screen words in its own way.
func sample() *report.Report {
	at := time.Date(2026, 11, 21, 4, 6, 0, 0, time.UTC)
	dup := report.Machine{Namespace: "t", Name: "prod-x", Status: code.Healthy, Warnings: []report.Warning{{Reason: code.DuplicateID}}}
	r := &report.Report{
		GeneratedAt: at.Add(21 * time.Hour),
		Backups:     []report.Backup{{Path: "/backups/fleet-data.tar.gz", WrittenFrom: at}},
		Scopes:      []report.Scope{{Provider: "vsphere", Endpoint: "vc1", State: report.ScopeComplete, Instances: 64}},
		Clusters: []report.Cluster{
			{
				Namespace: "t", Name: "dev", Status: code.NeedFurtherConfirmation, Counts: report.MachineCounts{Stale: 4, Total: 4},
				ControlPlane: report.ControlPlane{Kind: "KubeadmControlPlane", Name: "dev"},
				Forecast:     &report.ClusterForecast{Outcomes: map[code.Outcome]int{code.Stuck: 4}, Notes: []report.Note{{Code: code.ControlPlaneGone}}},
			},
			{
				Namespace: "t", Name: "prod", Status: code.ManualRemediationRequired, Counts: report.MachineCounts{Ghost: 2, Healthy: 1200, Total: 1202},
				ControlPlane: report.ControlPlane{Kind: "KubeadmControlPlane", Name: "prod", Machines: []report.Machine{dup}},
				Forecast:     &report.ClusterForecast{Outcomes: map[code.Outcome]int{code.Adopted: 1200, code.GhostKeepsRunning: 2}},
			},
			{Namespace: "t", Name: "well", Status: code.Healthy, Paused: true, Counts: report.MachineCounts{Healthy: 3, Total: 3}},
			{Namespace: "t", Name: "itself", Self: true},
		},
		Checks: []report.Check{{Severity: report.CheckError, Code: code.IdentityAbsent, Object: "VSphereClusterIdentity shared", Message: "not in the backup; really"}},
	}
	r.Summary.Complete = true
	r.Summary.Answer = &report.SafeAnswer{
		Safe: code.No,
		Reasons: []report.AnswerReason{
			{Code: code.ControlPlaneDown, Message: "No machine", Objects: []string{"KubeadmControlPlane t/dev"}},
			{Code: code.ClusterHalted, Message: "until VSphereClusterIdentity shared exists", Objects: []string{"Cluster t/prod"}},
			{Code: code.BackupError, Message: "Not fit", Objects: []string{"VSphereClusterIdentity shared"}},
			{Code: code.CopiedID, Message: "Another", Objects: []string{"Machine t/prod-x"}},
			{Code: "OfANewerVersion", Message: "What this version has no words for", Objects: []string{"Machine t/prod-x"}},
		},
		Conditions: []report.Note{{Code: code.OldManagementCluster, Message: "Off"}, {Code: code.UnpausedClusters, Message: "Two"}, {Code: "NewestBackup", Message: "New"}},
	}
	return r
}

const sampleScreen = `Safe to restore? NO: 5 things to do first
fleet-data.tar.gz, 2026-11-21 04:06Z, 21h old.  Listed: 1 of 1 place, 64 VMs.

FIRST
 1 ! OfANewerVersion      t/prod-x: What this version has no words for.
 2 ! ControlPlaneDown     t/dev: its control plane is lost: leave the cluster
                          out, or recover etcd
 3 ! IdentityAbsent       VSphereClusterIdentity shared: create it; without it
                          no controller acts on t/prod
 4 ! DuplicateID          t/prod-x: a delete may end 2 VMs
 5 ! OldManagementCluster keep it off; pause 2 Clusters, or two act on one VM

  CLUSTER GHOST STALE UNKN   OK  AFTER THE RESTORE
! t/prod      2     -    - 1200  halted, 2 unmanaged
? t/dev       -     4    -    -  control plane down, 4 stuck
= t/well      -     -    -    3  paused, not known

Next dd plan r.json                              what to do, in a safe order
     dd render r.json                            everything, 1 more to know
     dd explain OfANewerVersion                  what a code means
`

func TestScreen(t *testing.T) {
	if got := shown(t, sample(), Options{Program: "dd", Report: "r.json"}); got != sampleScreen {
		t.Errorf("got\n%s\nwant\n%s", got, sampleScreen)
	}
}

// A view of one cluster says what is to be done about that one and about all, and counts
// the rest: the answer is that of the whole report.
func TestScreenOfOneCluster(t *testing.T) {
	for cluster, want := range map[string]string{
		"dev": `
 1 ! ControlPlaneDown     t/dev: its control plane is lost: leave the cluster
                          out, or recover etcd
 2 ! IdentityAbsent       VSphereClusterIdentity own: gone
 3 ! OldManagementCluster keep it off; pause every Cluster, or two act on one VM
   and 2 more of the whole report: render shows all
`,
		"prod": `
 1 ! OfANewerVersion      t/prod-x: What this version has no words for.
 2 ! IdentityAbsent       VSphereClusterIdentity shared: create it; without it
                          no controller acts on t/prod
 3 ! DuplicateID          t/prod-x: a delete may end 2 VMs
 4 ! OldManagementCluster keep it off; pause every Cluster, or two act on one VM
   and 1 more of the whole report: render shows all
`,
		"well": `
 1 ! OldManagementCluster keep it off; pause every Cluster, or two act on one VM
   and 4 more of the whole report: render shows all
`,
	} {
		r := sample()
		r.Checks[0].Clusters = []string{"t/prod"}
		r.Checks = append(r.Checks, report.Check{Severity: report.CheckError, Code: code.IdentityAbsent, Object: "VSphereClusterIdentity own", Message: "gone", Clusters: []string{"t/dev"}})
		if err := r.Narrow(report.Filter{Clusters: []string{cluster}}); err != nil {
			t.Fatal(err)
		}
		if got := shown(t, r, Options{}); !strings.Contains(got, want) || !strings.Contains(got, "NO: 5 things to do first") {
			t.Errorf("%s: want%s\ngot\n%s", cluster, want, got)
		}
	}
}

// Of the lab's backup, whatever its age, the second row stays one: it has to fit in a
// terminal of 24 rows.
func TestAnyAgeFitsInItsRow(t *testing.T) {
	for _, d := range []time.Duration{59 * time.Minute, 47 * time.Hour, 48 * time.Hour, 99 * 24 * time.Hour, 999 * 24 * time.Hour} {
		r := sample()
		r.Scopes = append(r.Scopes, report.Scope{Provider: "aws", State: report.ScopeComplete})
		r.GeneratedAt = r.Backups[0].WrittenFrom.Add(d)
		if got := shown(t, r, Options{}); !strings.Contains(got, "old.  Listed: 2 of 2 places, 64 VMs.\n\nFIRST") {
			t.Errorf("%s:\n%s", d, got)
		}
	}
}

func TestScreenOfAYes(t *testing.T) {
	r := sample()
	r.Summary.Answer.Safe, r.Summary.Answer.Reasons, r.Checks = code.Yes, nil, nil
	got := shown(t, r, Options{})
	for _, want := range []string{"Safe to restore? YES, under the conditions below\n", "OldManagementCluster", "NewestBackup ", "detect … -o report.json"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestScreenOfAnIncompleteReport(t *testing.T) {
	r := sample()
	r.Summary.Complete = false
	r.Summary.Machines.Unknown = 6
	for i := range 316 {
		name := fmt.Sprintf("vc%d", i)
		r.Scopes = append(r.Scopes, report.Scope{Provider: "vsphere", Endpoint: name, State: report.ScopeFailed, Error: &report.Fault{Reason: "Unauthorized", Message: name + " refuses the login", Hint: "ask for another account"}})
		r.Errors = append(r.Errors, report.Error{Object: name + strings.Repeat("x", 300), Message: "odd " + strings.Repeat("word ", 300)})
	}
	unknown := func(i int, why string) string {
		c := &r.Clusters[i]
		c.ControlPlane.Machines = []report.Machine{{Status: code.Unknown, Message: "cannot be concluded: " + why}}
		return c.Title()
	}
	first := unknown(0, "vc7 refuses the login")
	unknown(1, "something else")
	got := shown(t, r, Options{})
	for _, want := range []string{
		"Incomplete: 316 of 317 places not listed; 6 machines Unknown\n",
		"  vsphere vc0 and 315 more Unauthorized  " + first + "\n    ask for another account\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n > 30 {
		t.Errorf("%d lines:\n%s", n, got)
	}
}

// escapes are those of colours.
var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

func TestScreenIsOneScreen(t *testing.T) {
	all := []*report.Report{reporttest.Sized(525, 10), reporttest.Sized(16, 10), reporttest.HostileReport()}
	for seed := range uint64(60) {
		all = append(all, reporttest.Random(seed))
	}
	for i, r := range all {
		for _, width := range []int{0, 1, 40, 79, 80, 200} {
			got := escapes.ReplaceAllString(shown(t, r, Options{Width: width, Color: true}), "")
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > 30 && width >= 80 || len(lines) > 90 {
				t.Errorf("report %d at %d columns: %d lines\n%s", i, width, len(lines), got)
			}
			for _, l := range lines {
				if n := terminal.Width(l); n > max(width, 40) && width > 0 && !strings.Contains(l, "drift-detector") {
					t.Errorf("report %d at %d columns: %d in %q", i, width, n, l)
				}
				if strings.ContainsAny(l, "\x1b\r\u202e\u2066") {
					t.Errorf("report %d: not escaped: %q", i, l)
				}
			}
		}
	}
	if got := shown(t, all[0], Options{}); !strings.Contains(got, "\n  515 more clusters") {
		t.Errorf("the other clusters are not counted:\n%s", got)
	}
}

// TestEveryReasonHasWords: a reason without words of its own takes a whole sentence. The
// checks and the places that were not listed have lines of their own.
func TestEveryReasonHasWords(t *testing.T) {
	for _, r := range code.Table {
		own := r.Code == code.BackupError || r.Code == code.Incomplete
		if r.Safe != "" && (r.Screen == "") != own {
			t.Errorf("%s: words %q", r.Code, r.Screen)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestScreenReturnsTheErrorOfItsWriter(t *testing.T) {
	if err := Write(broken{}, sample(), Options{}); err == nil || err.Error() != "closed" {
		t.Errorf("error %v", err)
	}
}

// What decides and has no room is counted where the reader looks for it.
func TestWhatHasNoRoomIsCounted(t *testing.T) {
	r := sample()
	r.Summary.Answer.Reasons, r.Summary.Answer.Safe = nil, code.No
	for _, code := range reasonsWithWords() {
		r.Summary.Answer.Reasons = append(r.Summary.Answer.Reasons, report.AnswerReason{Code: code, Message: string(code), Objects: []string{"Cluster t/prod"}})
	}
	got := shown(t, r, Options{})
	numbered := regexp.MustCompile(`(?m)^ ?\d+ [!?=-] `).FindAllString(got, -1)
	others := regexp.MustCompile(`(?m)^   and (\d+) more: render shows all$`).FindStringSubmatch(got)
	if others == nil {
		t.Fatalf("nothing is counted:\n%s", got)
	}
	first, _ := decisive(r)
	if n, _ := strconv.Atoi(others[1]); n+len(numbered) != toDo(first) || n < 10 {
		t.Errorf("%d and %s of %d lines:\n%s", len(numbered), others[1], toDo(first), got)
	}
	if n := strings.Count(got, "\n"); n > 30 {
		t.Errorf("%d rows:\n%s", n, got)
	}
}

// reasonsWithWords are the reasons of the answer that have words for the screen, sorted.
func reasonsWithWords() []code.Reason {
	var out []code.Reason
	for _, r := range code.Table {
		if r.Safe != "" && r.Screen != "" {
			out = append(out, r.Code)
		}
	}
	slices.Sort(out)
	return out
}

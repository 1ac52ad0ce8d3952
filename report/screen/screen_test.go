package screen

import (
	"errors"
	"fmt"
	"regexp"
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

// sample returns a report with a reason of each sort that the screen words in its own way.
func sample() *report.Report {
	at := time.Date(2026, 11, 21, 4, 6, 0, 0, time.UTC)
	dup := report.Machine{Namespace: "t", Name: "prod-x", Status: code.Healthy, Warnings: []report.Warning{{Reason: code.DuplicateID}}}
	r := &report.Report{
		GeneratedAt: at.Add(21 * time.Hour),
		Backups:     []report.Backup{{Path: "/backups/fleet-data.tar.gz", WrittenFrom: at}},
		Scopes:      []report.Scope{{Provider: "vsphere", Endpoint: "vc1", State: code.ScopeComplete, Instances: 64}},
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
		Checks: []report.Check{{Severity: code.CheckError, Code: code.IdentityAbsent, Object: "VSphereClusterIdentity shared", Message: "not in the backup; really", Brief: "not in the backup"}},
	}
	r.Summary.Complete = true
	r.Summary.Answer = &report.SafeAnswer{
		Safe: code.No,
		Reasons: []report.AnswerReason{
			{Code: code.ControlPlaneDown, Message: "No machine", Objects: []string{"KubeadmControlPlane t/dev"}},
			{Code: code.ClusterHalted, Message: "until it exists", Until: "VSphereClusterIdentity shared", Objects: []string{"Cluster t/prod"}},
			{Code: code.BackupError, Message: "Not fit", Objects: []string{"VSphereClusterIdentity shared"}},
			{Code: code.CopiedID, Message: "Another", Objects: []string{"Machine t/prod-x"}},
			{Code: "OfANewerVersion", Message: "What this version has no words for", Objects: []string{"Machine t/prod-x"}},
		},
		Conditions: []report.Note{{Code: code.OldManagementCluster, Message: "Off"}, {Code: code.UnpausedClusters, Message: "Two"}, {Code: "NewestBackup", Message: "New"}},
	}
	r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: code.Unclear, Reasons: []report.AnswerReason{{Code: code.CopiedID, Message: "Another", Objects: []string{"Machine t/prod-x"}}}}
	r.ToDo = []report.ToDo{
		{Phase: code.Before, Safe: code.No, Code: code.ControlPlaneDown, Message: "its control plane is gone: leave the cluster out, or recover etcd", Objects: []string{"KubeadmControlPlane t/dev"}, Steps: []int{4}, Decide: true, Resolved: true},
		{Phase: code.Before, Safe: code.No, Code: code.IdentityAbsent, Reason: code.BackupError, Message: "create it; without it no controller acts on t/prod", Objects: []string{"VSphereClusterIdentity shared"}, Steps: []int{3}, Resolved: true},
		{Phase: code.Before, Safe: code.No, Code: code.DuplicateID, Reason: code.CopiedID, Message: "another VM has its id: deleting the Machine may destroy both", Objects: []string{"Machine t/prod-x"}, Steps: []int{6, 7, 8}},
		{Phase: code.Before, Safe: code.No, Code: code.OldManagementCluster, Message: "keep the old management cluster off, or two manage one VM", Steps: []int{2}},
		{Phase: code.Paused, Safe: code.No, Code: "OfANewerVersion", Message: "What this version has no words for", Objects: []string{"Machine t/prod-x"}},
		{Phase: code.After, Safe: code.WithWork, Code: code.GhostsLeft, Message: "keeps running, and no controller manages it", Objects: []string{"instance t-gone-1", "instance t-gone-2"}, Steps: []int{20, 22}, Resolved: true},
	}
	return r
}

const sampleScreen = `Safe to restore?  NO  as Velero restores by default
By the plan:      NOT CLEAR YET  after 1 decision and 1 step
fleet-data.tar.gz, 2026-11-21 04:06Z, 21h old.  Listed: 1 of 1 place, 64 VMs.

BEFORE      4 ? ControlPlaneDown     t/dev: its control plane is gone: leave the
                                     cluster out, or recover etcd
            3 ! IdentityAbsent       VSphereClusterIdentity shared: create it;
                                     without it no controller acts on t/prod
          6-8 ! DuplicateID          t/prod-x: another VM has its id: deleting
                                     the Machine may destroy both
            2 ! OldManagementCluster keep the old management cluster off, or two
                                     manage one VM
PAUSED        ! OfANewerVersion      t/prod-x: What this version has no words
                                     for
LATER   20 22 - GhostsLeft           instance t-gone-1 and 1 more: keeps running

  CLUSTER GHOST STALE   OK  AFTER THE RESTORE
! t/prod      2     - 1200  halted, 2 unmanaged
? t/dev       -     4    -  control plane down, 4 broken
= t/well      -     -    3  paused, not known

Next dd plan r.json                              the steps, in a safe order
     dd explain ControlPlaneDown r.json          what that means
`

func TestScreen(t *testing.T) {
	if got := shown(t, sample(), Options{Program: "dd", Report: "r.json"}); got != sampleScreen {
		t.Errorf("got\n%s\nwant\n%s", got, sampleScreen)
	}
}

// Of the lab's backup, whatever its age, the second row stays one: it has to fit in a
// terminal of 24 rows.
func TestAnyAgeFitsInItsRow(t *testing.T) {
	for _, d := range []time.Duration{59 * time.Minute, 47 * time.Hour, 48 * time.Hour, 99 * 24 * time.Hour, 999 * 24 * time.Hour} {
		r := sample()
		r.Scopes = append(r.Scopes, report.Scope{Provider: "aws", State: code.ScopeComplete})
		r.GeneratedAt = r.Backups[0].WrittenFrom.Add(d)
		if got := shown(t, r, Options{}); !strings.Contains(got, "old.  Listed: 2 of 2 places, 64 VMs.\n\nBEFORE") {
			t.Errorf("%s:\n%s", d, got)
		}
	}
}

func TestScreenOfAnIncompleteReport(t *testing.T) {
	r := sample()
	r.Summary.Complete = false
	r.Summary.Machines.Unknown = 6
	for i := range 316 {
		name := fmt.Sprintf("vc%d", i)
		r.Scopes = append(r.Scopes, report.Scope{Provider: "vsphere", Endpoint: name, State: code.ScopeFailed, Error: &report.Fault{Reason: "Unauthorized", Message: name + " refuses the login", Hint: "ask for another account"}})
		r.Errors = append(r.Errors, report.Error{Object: name + strings.Repeat("x", 300), Message: "odd " + strings.Repeat("word ", 300)})
	}
	for i := range r.Clusters[:2] {
		r.Clusters[i].Counts.Unknown = 3
	}
	first := r.Clusters[0].Title()
	r.Scopes[7].Clusters = []string{first, r.Clusters[2].Title(), "not/shown"} // of the second nothing is unknown
	got := shown(t, r, Options{})
	for _, want := range []string{
		"Incomplete: 316 of 317 places not listed; 6 machines Unknown\n",
		"  vsphere vc0 and 315 more Unauthorized  " + first + "\n    ask for another account\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n > 23 {
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
		for _, width := range []int{0, 1, 30, 40, 79, 80, 200} {
			got := escapes.ReplaceAllString(shown(t, r, Options{Width: width, Color: true}), "")
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > 23 {
				t.Errorf("report %d at %d columns: %d lines\n%s", i, width, len(lines), got)
			}
			for _, l := range lines {
				if n := terminal.Width(l); n > max(width, terminal.Narrowest) && width > 0 && !strings.Contains(l, "drift-detector") && !strings.HasPrefix(l, "Next ") {
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

// TestEveryReasonHasWords: a reason without words of its own takes a whole sentence.
func TestEveryReasonHasWords(t *testing.T) {
	for _, r := range code.Table {
		if own := r.Code == code.BackupError || r.Code == code.Incomplete; r.Is(code.Answer) && (r.Screen == "") != own {
			t.Errorf("%s has words %q", r.Code, r.Screen)
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

// many has a thing to do for each reason of the answer.
func many() *report.Report {
	r := sample()
	r.ToDo = nil
	for _, phase := range code.Phases() {
		for _, row := range code.Table {
			if row.Is(code.Answer) && row.Screen != "" {
				r.ToDo = append(r.ToDo, report.ToDo{Phase: phase, Safe: row.Safe, Code: row.Code, Message: row.Screen, Objects: []string{"Cluster t/prod"}, Steps: []int{len(r.ToDo) + 1}})
			}
		}
	}
	return r
}

// aThing is a row about a thing to do.
var aThing = regexp.MustCompile(`(?m)^(BEFORE |RESTORE|PAUSED |LATER  |IF     |       ) +[0-9 -]* [!?=-] [A-Z]`)

// What has no room is counted where the reader looks for it, and what is urgent comes before
// the rest. A taller terminal has room for more.
func TestWhatHasNoRoomIsCounted(t *testing.T) {
	r, before := many(), 0
	for _, height := range []int{0, 24, 40, 60, 100} {
		got := shown(t, r, Options{Height: height})
		n, more := len(aThing.FindAllString(got, -1)), regexp.MustCompile(`(?m)^ {8}and (\d+) more: (?:render shows all|drift-detector render \S+)$`).FindStringSubmatch(got)
		if more == nil {
			t.Fatalf("nothing is counted:\n%s", got)
		}
		if left, _ := strconv.Atoi(more[1]); n+left != len(r.ToDo) || n < before || height > 24 && n < height-20 {
			t.Errorf("%d and %d of %d things in %d rows:\n%s", n, left, len(r.ToDo), height, got)
		}
		if rows := strings.Count(got, "\n"); rows > max(height, 24)-1 {
			t.Errorf("%d rows of %d:\n%s", rows, height, got)
		}
		if strings.Contains(got, " - ") && strings.Contains(got, "LATER") && height < 60 {
			t.Errorf("what is to be done later has taken the room:\n%s", got)
		}
		before = n
	}
}

// With 24 rows the answer and the first thing to do are on the screen when the program has
// ended, whatever the report holds; at 40 columns each takes more rows.
func TestTheAnswerStaysOnTheScreen(t *testing.T) {
	incomplete := many()
	incomplete.Summary.Complete = false
	for i := range 300 {
		incomplete.Scopes = append(incomplete.Scopes, report.Scope{Provider: "vsphere", Endpoint: fmt.Sprint("vc", i), State: code.ScopeFailed, Error: &report.Fault{Reason: "Unauthorized", Hint: strings.Repeat("ask ", 99)}})
	}
	fleet := reporttest.Sized(525, 10)
	fleet.ToDo = many().ToDo
	hostile := reporttest.HostileReport()
	hostile.ToDo = []report.ToDo{{Phase: code.Before, Safe: code.No, Code: code.Reason(strings.Repeat("x", 90)), Message: strings.Repeat("\x1b[2J ", 90), Objects: []string{strings.Repeat("\u202e", 300)}}}
	for name, r := range map[string]*report.Report{"sample": sample(), "many": many(), "incomplete": incomplete, "525 clusters": fleet, "hostile": hostile} {
		for _, width := range []int{40, 80, 120} {
			got := shown(t, r, Options{Width: width, Report: "report.json"})
			rows := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			high := 0
			for _, l := range rows {
				high += max((terminal.Width(l)+width-1)/width, 1)
			}
			if high > 23 || !strings.HasPrefix(rows[0], "Safe to restore?") {
				t.Errorf("%s at %d columns: %d rows\n%s", name, width, high, got)
			}
			for _, l := range rows {
				if n := terminal.Width(l); n > width && !strings.Contains(l, "report.json") {
					t.Errorf("%s at %d columns: %d in %q", name, width, n, l)
				}
			}
			if !strings.Contains(got, string(r.ToDo[0].Code[:8])) {
				t.Errorf("%s at %d columns: the first thing is not there:\n%s", name, width, got)
			}
		}
	}
}

// A YES has its conditions on the screen: those special to the report in their own words, and
// before those of every report.
func TestScreenOfAYes(t *testing.T) {
	r := sample()
	r.Summary.Answer.Safe, r.Summary.Answer.Reasons, r.Checks = code.Yes, nil, nil
	r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: code.Yes}
	r.Summary.Answer.Conditions = append(r.Summary.Answer.Conditions, report.Note{Code: code.PoolsUncompared, Message: "The pools p and q could not be compared"})
	r.ToDo = r.ToDo[3:4] // to keep the old management cluster off
	const want = `
BEFORE   2 ! OldManagementCluster keep the old management cluster off, or two
                                  manage one VM
IF         ? UnpausedClusters     Two
           ? PoolsUncompared      The pools p and q could not be compared
           ? NewestBackup         there is no newer backup
`
	if got := shown(t, r, Options{}); !strings.HasPrefix(got, "Safe to restore?  YES  as Velero restores by default\nBy the plan:      YES  under 4 conditions\n") || !strings.Contains(got, want) || !strings.Contains(got, "\nNext the same with -o report.json ") {
		t.Errorf("want%s\ngot\n%s", want, got)
	}
	r.Summary.AnswerByPlan = nil
	if got := shown(t, r, Options{}); !strings.HasPrefix(got, "Safe to restore?  YES  under 4 conditions\n") {
		t.Errorf("of a version without the answer by the plan:\n%s", got)
	}
}

// A YES by the plan has all its conditions on the screen, too, however little room there is: by
// their codes at least.
func TestNoConditionOfAYesIsLeftOut(t *testing.T) {
	for name, r := range map[string]*report.Report{"sample": sample(), "many": many(), "525 clusters": reporttest.Sized(525, 10)} {
		r.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: sample().Summary.Answer.Reasons}
		r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: code.Yes}
		if name == "525 clusters" {
			r.ToDo = many().ToDo
		}
		var words []string
		for _, row := range code.Table {
			if row.Is(code.Condition) && !row.Is(code.Note) && len(words) < 14 {
				words = append(words, string(row.Code))
				r.Summary.Answer.Conditions = append(r.Summary.Answer.Conditions, report.Note{Code: row.Code, Message: strings.Repeat("so ", 99)})
			}
		}
		for _, o := range []Options{{Width: 40}, {}, {Width: 120, Height: 80}} {
			got := shown(t, r, o)
			for _, w := range words {
				if !strings.Contains(got, w) {
					t.Errorf("%s, %+v: no %s in\n%s", name, o, w, got)
				}
			}
			if rows := strings.Count(got, "\n"); rows > max(o.Height, 24)-1 || !strings.Contains(got, string(r.ToDo[0].Code)) {
				t.Errorf("%s, %+v: %d rows\n%s", name, o, rows, got)
			}
		}
	}
}

// Without a report that was saved the next command is the one that saves it, whole, or what to add
// where that cannot be repeated or would take the screen.
func TestNextSavesTheReport(t *testing.T) {
	for again, want := range map[string]string{
		"": "\nNext the same with -o report.json ",
		"bin/drift-detector detect --backup b.tar.gz -o report.json": "\nNext bin/drift-detector detect --backup b.tar.gz -o report.json",
		strings.Repeat("x", 400): "\nNext the same with -o report.json ",
	} {
		got := shown(t, sample(), Options{Again: again})
		if !strings.Contains(got, want) || strings.Contains(got, "drift-detector plan") || strings.Contains(got, "…") {
			t.Errorf("%q: want %q in\n%s", again, want, got)
		}
	}
}

// A view of one cluster says what is to be done about that one and about all: the answer is that
// of the whole report.
func TestScreenOfOneCluster(t *testing.T) {
	for cluster, want := range map[string]string{
		"dev":  "ControlPlaneDown OldManagementCluster",
		"prod": "IdentityAbsent DuplicateID OldManagementCluster OfANewerVersion",
		"well": "OldManagementCluster",
	} {
		r := sample()
		r.Checks[0].Clusters = []string{"t/prod"}
		if err := r.Narrow(report.Filter{Clusters: []string{cluster}}); err != nil {
			t.Fatal(err)
		}
		got := shown(t, r, Options{})
		var codes []string
		for _, m := range regexp.MustCompile(`(?m)^.{10,14} [!?-] ([A-Za-z]+) `).FindAllStringSubmatch(got, -1) {
			codes = append(codes, m[1])
		}
		if strings.Join(codes, " ") != want || !strings.Contains(got, "The answers are those of the") {
			t.Errorf("%s: want %s, got %s\n%s", cluster, want, codes, got)
		}
	}
}

// A list of steps that is long shifts no row: it is cut, and the code is where those of others are.
func TestAWideListOfStepsShiftsNoRow(t *testing.T) {
	r := sample()
	for _, steps := range [][]int{{6, 7, 8}, {9, 19, 20}, {10, 12, 14, 16, 18}, {1001, 1003, 1005}} {
		r.ToDo[2].Steps = steps
		var b strings.Builder
		if err := Write(&b, r, Options{Program: "dd", Report: "r.json"}); err != nil {
			t.Fatal(err)
		}
		column := -1
		for _, todo := range r.ToDo {
			for line := range strings.Lines(b.String()) {
				before, _, ok := strings.Cut(line, " "+string(todo.Code)+" ")
				if !ok || strings.HasPrefix(strings.TrimSpace(line), "dd ") {
					continue
				}
				if at := terminal.Width(before); column >= 0 && at != column {
					t.Errorf("steps %v: %s begins in column %d, and others in %d:\n%s", steps, todo.Code, at, column, b.String())
				} else {
					column = at
				}
			}
		}
	}
	if got := step("9-11") + step("3 17") + step("6"); got != "(steps 9-11)(steps 3, 17)(step 6)" {
		t.Error(got)
	}
}

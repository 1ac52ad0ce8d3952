package backups

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// compared returns a backup with these clusters: Healthy, Ghost, Stale, Unknown of each.
func compared(name string, safe code.Safe, clusters map[string][4]int) *Compared {
	r := &report.Report{}
	r.Summary.Answer = &report.SafeAnswer{Safe: safe}
	for cluster, n := range clusters {
		counts := report.MachineCounts{Healthy: n[0], Ghost: n[1], Stale: n[2], Unknown: n[3], Total: n[0] + n[1] + n[2] + n[3]}
		r.Clusters = append(r.Clusters, report.Cluster{Namespace: "ns", Name: cluster, Counts: counts})
		r.Summary.Machines.Ghost += n[1]
		r.Summary.Machines.Stale += n[2]
		r.Summary.Machines.Unknown += n[3]
	}
	return Of(name, "place/"+name, r)
}

// flat returns a text without its line breaks.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestNoBackupIsBetterForWhatItLacks: a backup that was narrowed has less to be Unknown, or
// a Ghost, and is worse for it.
func TestNoBackupIsBetterForWhatItLacks(t *testing.T) {
	type clusters = map[string][4]int
	good := [4]int{3, 0, 0, 0}
	for _, c := range []struct {
		what         string
		newer, older clusters
		best         string
		cluster      string // the one that another backup has better
	}{
		{"not seen", clusters{"a": good, "b": {0, 0, 0, 3}}, clusters{"a": good}, "newer", ""},
		{"replaced as a whole", clusters{"a": good, "b": {0, 3, 3, 0}}, clusters{"a": good}, "newer", ""},
		{"replaced, and lacking in the newer", clusters{"a": good}, clusters{"a": good, "b": {0, 3, 3, 0}}, "older", ""},
		{"gone, and deleted before the newer", clusters{"a": good}, clusters{"a": good, "b": {0, 0, 3, 0}}, "newer", ""},
		{"not seen, and perhaps deleted before the newer", clusters{"a": good}, clusters{"a": good, "b": {0, 0, 0, 3}}, "newer", "ns/b"},
		{"without its machines in the older", clusters{"a": {9, 0, 3, 0}}, clusters{"a": {0, 0, 0, 0}}, "newer", ""},
		{"without some machines in the older", clusters{"a": {9, 0, 3, 1}}, clusters{"a": {4, 0, 0, 0}}, "newer", ""},
		{"without its machines in the newer", clusters{"a": {0, 0, 0, 0}}, clusters{"a": {9, 0, 3, 0}}, "older", ""},
		{"gone, and without machines in the older", clusters{"a": good, "b": {0, 0, 4, 0}}, clusters{"a": {2, 1, 0, 0}, "b": {0, 0, 0, 0}}, "newer", ""},
		{"many Stale, and a Ghost in the older", clusters{"a": {3, 0, 9, 0}}, clusters{"a": {2, 1, 0, 0}}, "newer", ""},
		{"runs, and lacking in the newer", clusters{"a": good}, clusters{"a": good, "b": {1, 0, 2, 0}}, "older", ""},
	} {
		got := Choose([]*Compared{compared("newer", code.Unclear, c.newer), compared("older", code.Unclear, c.older)}, "")
		better := ""
		for _, k := range got.Clusters {
			better += k.Cluster
		}
		if got.Best != c.best || better != c.cluster {
			t.Errorf("%s: %s (%s), %q", c.what, got.Best, got.Why, better)
		}
	}
}

// TestWhatARestoreDoesDecides: a backup that has every cluster better is the best, however many
// errors are in it; one with an error that keeps clusters from working is not.
func TestWhatARestoreDoesDecides(t *testing.T) {
	type clusters = map[string][4]int
	erring := func(name string, unmended bool, n clusters, codes ...code.Reason) *Compared {
		r := &report.Report{}
		r.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: code.BackupError}}}
		r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: code.WithWork}
		for _, c := range codes {
			r.Checks = append(r.Checks, report.Check{Code: c, Severity: code.CheckError, Object: string(c)})
			if unmended {
				r.Summary.AnswerByPlan.Reasons = append(r.Summary.AnswerByPlan.Reasons, report.AnswerReason{Code: code.BackupError, Objects: []string{string(c)}})
			}
		}
		for cluster, n := range n {
			r.Clusters = append(r.Clusters, report.Cluster{Namespace: "ns", Name: cluster, Counts: report.MachineCounts{Healthy: n[0], Ghost: n[1], Total: n[0] + n[1]}})
			r.Summary.Machines.Ghost += n[1]
		}
		return Of(name, "place/"+name, r)
	}
	all, few := clusters{"a": {5, 0}, "b": {5, 0}}, clusters{"a": {4, 1}, "b": {4, 1}}
	for what, c := range map[string]struct {
		newest   *Compared
		best     string
		clusters int
	}{
		"errors that the plan mends":     {erring("new", false, all, "One", "Two", "Three"), "new", 0},
		"errors that stop every cluster": {erring("new", true, all, "SecretsAbsent"), "old", 0},
		"fewer of them":                  {erring("new", true, few, "SecretsAbsent"), "old", 0},
	} {
		got := Choose([]*Compared{c.newest, compared("old", code.WithWork, map[string][4]int{"a": {4, 1}, "b": {4, 1}})}, "")
		if got.Best != c.best || len(got.Clusters) != c.clusters {
			t.Errorf("%s: %s (%s), %+v", what, got.Best, got.Why, got.Clusters)
		}
	}
}

// TestClusterOfPoolsRuns: its machines are in no list of machines.
func TestClusterOfPoolsRuns(t *testing.T) {
	pool := report.Cluster{Namespace: "ns", Name: "eks", Workers: report.Workers{Groups: []report.Group{{Pool: &report.Pool{Now: []string{"i-1"}}}}}}
	older := Of("older", "", &report.Report{Clusters: []report.Cluster{pool}})
	c := Choose([]*Compared{compared("newer", code.Unclear, nil), older}, "")
	if c.Best != "older" || !strings.Contains(c.Why, "lacks ns/eks") {
		t.Errorf("%s: %s", c.Best, c.Why)
	}
}

// TestSeveralManagementClusters: a backup that lacks the clusters of another management
// cluster is none the worse for it, and none is called the one to restore.
func TestSeveralManagementClusters(t *testing.T) {
	of := func(name, uid string, clusters map[string][4]int) *Compared {
		c := compared(name, code.Yes, clusters)
		c.KubeSystemUID = uid
		return c
	}
	good, stale := [4]int{3, 0, 0, 0}, [4]int{2, 0, 1, 0}
	a2 := of("a2", "uid-a", map[string][4]int{"one": stale})
	b2 := of("b2", "uid-b", map[string][4]int{"two": good, "three": good})
	a1 := of("a1", "uid-a", map[string][4]int{"one": good})
	c := Choose([]*Compared{a2, b2, a1, Unreadable("x", "", io.EOF)}, "")
	if c.Best != "" || len(c.Clusters) > 0 || len(c.ManagementClusters) != 2 {
		t.Fatalf("best %q, %+v", c.Best, c.ManagementClusters)
	}
	a, b := c.ManagementClusters[0], c.ManagementClusters[1]
	if a.Best != "a1" || !slices.Equal(a.Backups, []string{"a2", "a1"}) || b.Best != "b2" || len(a1.Missing) > 0 {
		t.Errorf("%+v, %+v", a, b)
	}
	if text := flat(c.text("place", Flags{})); !strings.Contains(text, "Restore none yet: these are of 2 management clusters") || !strings.Contains(text, "Management cluster of a2, a1, with ns/one: Restore a1: the newest, a2, ") {
		t.Error(text)
	}
	c = Choose([]*Compared{of("n", "", map[string][4]int{"one": good}), a2, b2}, "")
	if n := c.ManagementClusters[0]; n.Best != "" || !strings.Contains(flat(c.text("place", Flags{})), "Of n, with ns/one restore none yet: without Namespace kube-system") {
		t.Errorf("%+v\n%s", n, flat(c.text("place", Flags{})))
	}
	for what, all := range map[string][]*Compared{
		"one uid":   {of("new", "uid-a", nil), of("old", "uid-a", nil)},
		"one known": {of("new", "", nil), of("old", "uid-a", nil)},
		"none":      {of("new", "", nil), of("old", "", nil)},
	} {
		if c := Choose(all, ""); c.Best != "new" || c.ManagementClusters != nil {
			t.Errorf("%s: %q, %+v", what, c.Best, c.ManagementClusters)
		}
	}
}

// TestNotSafeIsNotSaidToBeRestored: who reads no further than the first word restores.
func TestNotSafeIsNotSaidToBeRestored(t *testing.T) {
	for safe, want := range map[code.Safe]string{
		code.Yes: "Restore new: it is the newest, and no other that was compared is better.\n",
		code.No:  "The best is new: it is the newest, and no other that was compared is better; even so the answer is NO: see its report first.\n  drift-detector detect --backup place/new -o report.json\n",
	} {
		if text := flat(Choose([]*Compared{compared("new", safe, nil)}, "").text("place", Flags{})); !strings.Contains(text, flat(want)) {
			t.Errorf("%s:\n%s", safe, text)
		}
	}
}

// TestAYesHasItsConditions: whoever restores the backup that is said to be the best sees them.
func TestAYesHasItsConditions(t *testing.T) {
	for _, byPlan := range []bool{false, true} {
		r := &report.Report{Summary: report.Summary{Complete: true, Answer: &report.SafeAnswer{Safe: code.No, Conditions: []report.Note{{Code: code.NewestBackup, Message: "No newer one"}, {Code: code.OnTheWordOf, Message: "On the word of OPS-1"}}}, AnswerByPlan: &report.PlanAnswer{Safe: code.No}}}
		text := func() string {
			return Choose([]*Compared{Of("b", "place/b", r)}, "").text("place", Flags{Program: "bin/drift-detector"})
		}
		if got := text(); strings.Contains(got, "only while") {
			t.Errorf("conditions without a YES:\n%s", got)
		}
		if byPlan {
			r.Summary.AnswerByPlan.Safe = code.Yes
		} else {
			r.Summary.Answer.Safe = code.Yes
		}
		if got := flat(text()); !strings.Contains(got, "bin/drift-detector detect --backup place/b -o report.json only while OnTheWordOf: On the word of OPS-1. only while NewestBackup: No newer one.") {
			t.Errorf("by the plan %t: %s", byPlan, got)
		}
	}
}

// TestUnreadIsNotRestorable: one screen does not say both of a backup.
func TestUnreadIsNotRestorable(t *testing.T) {
	d := New("place", "", []*Backup{{Name: "cut", Place: "place/cut", Restorable: true}, {Name: "old", Place: "place/old", Restorable: true}}, report.Tool{}, time.Time{})
	d.Compare(Choose([]*Compared{Unreadable("cut", "place/cut", io.EOF), compared("old", code.Yes, nil)}, ""))
	if s := d.Summary; s.Backups != 2 || s.Restorable != 1 || s.Newest != "old" || d.Backups[0].Restorable || !d.Backups[1].Restorable {
		t.Errorf("%+v, %+v", d.Summary, *d.Backups[0])
	}
	var out strings.Builder
	if err := Text(&out, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ncut   can't be read\n", "2 backups, 1 can be restored", "\nNAME  RESTORE", "\ncut   no", "\nold   yes", "\ncut: can't be read: EOF\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// TestSignsOfAnotherManagementCluster: a Kubernetes that was newer before, or two Veleros.
func TestSignsOfAnotherManagementCluster(t *testing.T) {
	row := func(hours int, kubernetes, velero string) *Backup {
		at := time.Date(2026, 11, 1, hours, 0, 0, 0, time.UTC)
		return &Backup{Name: "n", Place: "p", Root: "r", Restorable: true, Phase: "Completed", Started: &at, Kubernetes: kubernetes, Velero: velero, Stream: Stream{Root: "r", Velero: velero}}
	}
	for what, c := range map[string]struct {
		all  []*Backup
		said string
	}{
		"upgraded":     {[]*Backup{row(3, "v1.34.1", "velero"), row(2, "v1.33.9", "velero")}, ""},
		"not known":    {[]*Backup{row(3, "", "velero"), row(2, "v1.33.9", "velero")}, ""},
		"two in turns": {[]*Backup{row(3, "v1.33.9", "velero"), row(2, "", "velero"), row(1, "v1.34.1", "velero")}, "Kubernetes was v1.33.9 in n, and v1.34.1 in n before: they may be of several"},
		"two Veleros":  {[]*Backup{row(3, "v1.33.9", "velero"), row(2, "v1.33.9", "velero-b")}, "The backups are of Veleros in 2 namespaces: they may be of several"},
	} {
		var out strings.Builder
		if err := Text(&out, New("r", "", c.all, report.Tool{}, time.Time{})); err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(flat(out.String()), "may be of several"); has != (c.said != "") || !strings.Contains(flat(out.String()), c.said) {
			t.Errorf("%s:\n%s", what, out.String())
		}
	}
}

package prometheus

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

func text(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// line is one sample: name, labels, value, and nothing after it.
var line = regexp.MustCompile(`^(drift_detector_[a-z_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?[0-9]+)$`)

var pair = regexp.MustCompile(`([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"`)

// sums reads the text back: the sum of all samples by name, and by name and
// status, state or severity.
func sums(t *testing.T, doc string) map[string]int {
	t.Helper()
	out, seen := map[string]int{}, map[string]bool{}
	for _, l := range strings.Split(strings.TrimSuffix(doc, "\n"), "\n") {
		if strings.HasPrefix(l, "# HELP ") || strings.HasPrefix(l, "# TYPE ") {
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("not a sample without a timestamp: %q", l)
		}
		if seen[m[1]+m[2]] {
			t.Fatalf("two values of %s%s", m[1], m[2])
		}
		seen[m[1]+m[2]] = true
		n, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(m[1], "drift_detector_")
		out[name] += n
		for _, p := range pair.FindAllStringSubmatch(m[2], -1) {
			switch p[1] {
			case "status", "state", "severity":
				out[name+" "+p[2]] += n
			}
		}
	}
	return out
}

// expected returns what a report says of itself, in the words of the metrics.
func expected(r *report.Report) map[string]int {
	want := map[string]int{
		"infra_machines": r.Summary.InfraMachines, "infra_machines_ignored": r.Summary.IgnoredInfraMachines,
		"errors": r.Summary.Errors, "out_of_scope_instances": r.Summary.OutOfScope,
		"clusters":                              r.Summary.Clusters.Total,
		"clusters ManualRemediationRequired":    r.Summary.Clusters.ManualRemediationRequired,
		"clusters NeedFurtherConfirmation":      r.Summary.Clusters.NeedFurtherConfirmation,
		"clusters ManualRemediationNotRequired": r.Summary.Clusters.ManualRemediationNotRequired,
		"clusters Healthy":                      r.Summary.Clusters.Healthy,
		"resources present":                     r.Summary.Resources.Present, "resources absent": r.Summary.Resources.Absent,
		"resources unknown": r.Summary.Resources.Unknown,
		"checks":            len(r.Checks), "ignore_rules": len(r.IgnoreRules),
		"complete": int(one(r.Summary.Complete)), "report_narrowed": int(one(r.Options.Filter != nil)),
		"info": 1, "status": 1, "status " + string(r.Summary.Status): 1,
	}
	machines(want, "machines", r.Summary.Machines)
	if n := r.Summary.IgnoredMachines; n != nil {
		machines(want, "machines_ignored", *n)
	} else {
		machines(want, "machines_ignored", report.MachineCounts{})
	}
	for i := range r.Clusters {
		if c := &r.Clusters[i]; c.Self {
			machines(want, "management_cluster_machines", c.Counts)
		}
	}
	for i := range r.Scopes {
		want["scope_instances"] += r.Scopes[i].Instances
	}
	for i := range r.Backups {
		want["missing_objects"] += len(r.Backups[i].Missing)
	}
	for _, n := range r.Summary.Excluded {
		want["excluded_instances"] += n
	}
	return want
}

func machines(want map[string]int, name string, n report.MachineCounts) {
	want[name] += n.Total
	want[name+" Ghost"] += n.Ghost
	want[name+" Unknown"] += n.Unknown
	want[name+" Stale"] += n.Stale
	want[name+" Healthy"] += n.Healthy
}

func all() map[string]*report.Report {
	out := map[string]*report.Report{"hostile": reporttest.HostileReport(), "empty": build.New(build.Parts{}), "nil": {}, "large": reporttest.Sized(50, 100)}
	for seed := range uint64(200) {
		out[fmt.Sprint("random ", seed)] = reporttest.Random(seed)
	}
	return out
}

func TestEveryCountIsTheReports(t *testing.T) {
	for name, r := range all() {
		got := sums(t, text(t, r))
		for metric, n := range expected(r) {
			if got[metric] != n {
				t.Errorf("%s: %s is %d, the report says %d", name, metric, got[metric], n)
			}
		}
	}
}

func TestASavedReportHasTheSameMetrics(t *testing.T) { reporttest.Format(Write).ReadsBack(t, all()) }

// One cluster of the name in each of two backups are two series, and two scopes
// that nothing tells apart are one, which is complete only when both are.
func TestSameNames(t *testing.T) {
	cluster := func(backup int, status code.Status, n report.MachineCounts) report.Cluster {
		return report.Cluster{Namespace: "a", Name: "b", Backup: backup, Status: status, Counts: n}
	}
	doc := text(t, &report.Report{
		Clusters: []report.Cluster{
			cluster(0, code.Healthy, report.MachineCounts{Healthy: 2, Total: 2}), cluster(1, code.ManualRemediationRequired, report.MachineCounts{Ghost: 1, Total: 1}),
		},
		Scopes: []report.Scope{{Provider: "vsphere", Endpoint: "vc", State: "complete", Instances: 3}, {Provider: "vsphere", Endpoint: "vc", State: "failed", Instances: 4}},
	})
	for _, want := range []string{
		`drift_detector_machines{backup="1",cluster_namespace="a",cluster="b",status="Healthy"} 2`,
		`drift_detector_machines{backup="2",cluster_namespace="a",cluster="b",status="Ghost"} 1`,
		`drift_detector_cluster_status{backup="1",cluster_namespace="a",cluster="b",status="Healthy"} 1`,
		`drift_detector_cluster_status{backup="2",cluster_namespace="a",cluster="b",status="Healthy"} 0`,
		`drift_detector_cluster_status{backup="2",cluster_namespace="a",cluster="b",status="ManualRemediationRequired"} 1`,
		`drift_detector_scope_complete{provider="vsphere",endpoint="vc",location="",account=""} 0`,
		`drift_detector_scope_instances{provider="vsphere",endpoint="vc",location="",account=""} 7`,
	} {
		if !strings.Contains(doc, want+"\n") {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
}

func TestForeignTextStaysInItsLabel(t *testing.T) {
	r := &report.Report{Backups: []report.Backup{{Path: "a\\b\"} 1\nx_y 1\u202e\xff", WrittenTo: time.Unix(1e9, 0)}}}
	want := `drift_detector_backup_written_timestamp_seconds{backup="1",path="a\\b\"} 1\\x0ax_y 1\\xe2\\x80\\xae` + "\ufffd" + `"} 1000000000` + "\n"
	if doc := text(t, r); !strings.Contains(doc, want) {
		t.Errorf("got\n%swant\n%s", doc, want)
	}
}

// A status that a later release of the schema adds must not leave a cluster
// without any.
func TestAnUnknownStatusIsShown(t *testing.T) {
	doc := text(t, &report.Report{Clusters: []report.Cluster{{Name: "a", Status: "Odd"}}, Summary: report.Summary{Status: "Odd"}})
	for _, want := range []string{`cluster="a",status="Odd"} 1`, `drift_detector_status{status="Odd"} 1`} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
}

// A time that is not known is no time, least of all one of the year 1.
func TestUnknownTimesAreLeftOut(t *testing.T) {
	if doc := text(t, &report.Report{Backups: []report.Backup{{Path: "a"}}}); strings.Contains(doc, "timestamp") {
		t.Error(doc)
	}
}

// What a backup lacks is counted under that backup's number.
func TestMissingObjectsAreOfTheirBackup(t *testing.T) {
	doc := text(t, &report.Report{Backups: []report.Backup{{Missing: make([]report.Missing, 1)}, {}, {Missing: make([]report.Missing, 3)}}})
	for _, want := range []string{`{backup="1"} 1`, `{backup="2"} 0`, `{backup="3"} 3`} {
		if !strings.Contains(doc, "\ndrift_detector_missing_objects"+want+"\n") {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
}

// The number of series is bounded by the clusters, however many machines there are.
func TestSeriesArePerCluster(t *testing.T) {
	few, many := strings.Count(text(t, reporttest.Sized(10, 10)), "\n"), strings.Count(text(t, reporttest.Sized(10, 1000)), "\n")
	if many > few+10 {
		t.Errorf("%d lines for 100 machines, %d for 10,000", few, many)
	}
}

func TestTheErrorOfTheWriterIsReturned(t *testing.T) { reporttest.Format(Write).NamesError(t) }

// Whether it is safe is one series per answer, of which one is 1; of a report without an
// answer it is unknown.
func TestTheAnswerInMetrics(t *testing.T) {
	a := &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{
		{Code: "RolloutDue", Message: "one", Objects: []string{"a", "b"}}, {Code: "RolloutDue", Message: "two", Objects: []string{"c"}}, {Code: "NoForecast", Message: "three"},
	}}
	for _, c := range []struct {
		answer *report.SafeAnswer
		want   []string
	}{
		{a, []string{`safe_to_restore{answer="no"} 1`, `safe_to_restore{answer="yes"} 0`, `answer_reasons{code="RolloutDue"} 3`, `answer_reasons{code="NoForecast"} 1`}},
		{&report.SafeAnswer{Safe: code.Yes, Conditions: []report.Note{{Code: code.OnTheWordOf}, {Code: code.OnTheWordOf}, {Code: code.NewestBackup}}}, []string{`answer_conditions{code="OnTheWordOf"} 2`, `answer_conditions{code="NewestBackup"} 1`}},
		{&report.SafeAnswer{Safe: code.Yes}, []string{`safe_to_restore{answer="yes"} 1`, `safe_to_restore{answer="no"} 0`, `safe_to_restore{answer="withWork"} 0`, `safe_to_restore{answer="unknown"} 0`}},
		{nil, []string{`safe_to_restore{answer="unknown"} 1`, `safe_to_restore{answer="yes"} 0`, `safe_to_restore_by_plan{answer="unknown"} 1`}},
		{&report.SafeAnswer{Safe: "later"}, []string{`safe_to_restore{answer="later"} 1`, `safe_to_restore{answer="yes"} 0`}},
	} {
		got := text(t, &report.Report{Summary: report.Summary{Answer: c.answer}})
		for _, want := range c.want {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
	}
}

// A run that failed is one metric, which a report takes back.
func TestFailed(t *testing.T) {
	var b bytes.Buffer
	if err := Failed(&b); err != nil || !strings.HasSuffix(b.String(), "# TYPE drift_detector_run_failed gauge\ndrift_detector_run_failed 1\n") || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("%v: %s", err, b.String())
	}
	if doc := text(t, &report.Report{}); !strings.Contains(doc, "\ndrift_detector_run_failed 0\n") {
		t.Error(doc)
	}
}

// A backup is stale where a check says that it is old, or that nobody knows, until a rule sets that aside.
func TestStaleBackups(t *testing.T) {
	at := time.Unix(1e9, 0)
	doc := text(t, &report.Report{
		Backups: []report.Backup{{WrittenTo: at}, {WrittenTo: at}, {}, {WrittenTo: at}, {WrittenTo: at}, {}},
		Checks: []report.Check{
			{Backup: 0, Code: "BackupAge"},
			{Backup: 1, Code: "BackupOld"},
			{Backup: 3, Code: "BackupFromFuture"},
			{Backup: 4, Code: "BackupUndated"},
			{Backup: 5, Code: "BackupUndated", Ignored: &report.Ignored{}},
		},
	})
	for i, want := range []string{"0", "1", "1", "1", "1", "0"} {
		if line := fmt.Sprintf("\ndrift_detector_backup_stale{backup=\"%d\"} %s\n", i+1, want); !strings.Contains(doc, line) {
			t.Errorf("no %s in\n%s", line, doc)
		}
	}
	if doc := text(t, &report.Report{Backups: []report.Backup{{Live: true}}}); strings.Contains(doc, "backup_stale") {
		t.Error("a management cluster that runs is no old backup")
	}
}

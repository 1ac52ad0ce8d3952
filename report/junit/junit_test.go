package junit

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/build"
	"drift-detector/report/code"
	"drift-detector/report/junit/document"
	"drift-detector/report/outline"
	"drift-detector/report/reporttest"
)

func written(t *testing.T, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// root is the document as a reader of it sees it.
type root struct {
	Tests    int              `xml:"tests,attr"`
	Failures int              `xml:"failures,attr"`
	Errors   int              `xml:"errors,attr"`
	Suites   []document.Suite `xml:"testsuite"`
}

func read(t *testing.T, doc []byte) root {
	t.Helper()
	var out root
	if err := xml.Unmarshal(doc, &out); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return out
}

func all() map[string]*report.Report {
	out := map[string]*report.Report{"hostile": reporttest.HostileReport(), "empty": build.New(build.Parts{}), "nil": {}, "large": reporttest.Sized(20, 100), "rich": rich()}
	for seed := range uint64(200) {
		out[fmt.Sprint("random-", seed)] = reporttest.Random(seed)
	}
	return out
}

// rich holds what random reports do not: pools, resources, the same names twice.
func rich() *report.Report {
	ghost := report.Machine{
		Name: "twice", Status: code.Ghost, ProviderID: "vsphere://42", Message: "it belongs to the cluster",
		Instance: &report.Instance{ID: "42", Ref: "vm-1", Name: "vm", Path: "/DC0/vm/a/vm", State: "poweredOn", Scope: "vsphere vc"},
	}
	stale := report.Machine{Name: "gone", Status: code.Stale, ProviderID: "vsphere://43", Others: []report.Instance{{ID: "44", Name: "gone", Path: "/DC0/vm/b/gone"}}}
	warned := report.Machine{Name: "warned", Status: code.Healthy, Warnings: []report.Warning{{Reason: "PoweredOff", Message: "[[ATTACHMENT|/etc/passwd]]"}}}
	one := report.Cluster{
		Namespace: "a", Name: "b", Status: code.ManualRemediationRequired, Counts: report.MachineCounts{Total: 6, Ghost: 2, Stale: 1, Healthy: 3},
		ControlPlane: report.ControlPlane{Kind: "KubeadmControlPlane", Name: "b", Machines: []report.Machine{ghost, ghost, stale, warned}},
		Workers: report.Workers{Groups: []report.Group{
			{Kind: "MachinePool", Name: "p0", Pool: &report.Pool{State: code.Present}},
			{Kind: "MachinePool", Name: "p1", Pool: &report.Pool{State: code.Absent, Message: "it was not found"}},
			{Kind: "MachinePool", Name: "p2", Pool: &report.Pool{State: code.Undecided, Message: "AccessDenied"}},
		}},
		Resources: []report.Resource{{Kind: "subnet", Name: "s", State: code.Absent, UsedBy: "AWSCluster a/b", Message: "it is gone"}},
	}
	own := one
	own.Name, own.Self = "mgmt", true
	two := one
	two.Backup = 1
	return &report.Report{
		SchemaVersion: report.SchemaVersion,
		Backups:       []report.Backup{{Path: "a.tar.gz", Missing: []report.Missing{{Kind: "Secret", Namespace: "a", Name: "s", ReferredBy: "Cluster a/b", Why: "why"}}}, {Path: "b.tar.gz"}},
		Options:       report.Options{IgnoreHealthy: true},
		Summary: report.Summary{
			Status: code.ManualRemediationRequired, Machines: report.MachineCounts{Total: 12, Ghost: 4, Stale: 2, Healthy: 6},
			Clusters: report.ClusterCounts{Total: 2, ManualRemediationRequired: 2}, Resources: report.ResourceCounts{Absent: 2}, Errors: 2,
		},
		Clusters: []report.Cluster{one, two, own}, InfraMachines: []report.InfraMachine{},
		Scopes: []report.Scope{{Provider: "vsphere", Endpoint: "vc", State: "failed", Error: &report.Fault{Reason: "Unreachable", Message: "refused"}}, {Provider: "vsphere", Endpoint: "vc2", State: "partial"}},
		Errors: []report.Error{{Scope: "vsphere vc", Message: "refused"}, {Message: "another", Hint: "look"}},
	}
}

// tally counts the tests of a suite by what became of them.
func tally(s *document.Suite) map[string]int {
	out := map[string]int{}
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			out["failure "+c.Failure.Type]++
			out["failures"]++
		case c.Error != nil:
			out["error "+c.Error.Type]++
			out["errors"]++
		case c.Skipped != nil:
			out["skipped "+c.Skipped.Type]++
			out["skipped"]++
		default:
			out["passed"]++
		}
	}
	return out
}

func value(s *document.Suite, name string) string {
	for _, p := range s.Properties.All {
		if p.Name == name {
			return p.Value
		}
	}
	return "(none)"
}

func TestAttributesAgreeWithTheContent(t *testing.T) {
	for name, r := range all() {
		doc := read(t, written(t, r))
		var sum root
		for i := range doc.Suites {
			s := &doc.Suites[i]
			n := tally(s)
			if s.Tests != len(s.Cases) || s.Failures != n["failures"] || s.Errors != n["errors"] || s.Skipped != n["skipped"] {
				t.Errorf("%s: suite %s says %d, %d, %d, %d and holds %d tests: %v", name, s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, len(s.Cases), n)
			}
			sum.Tests += s.Tests
			sum.Failures += s.Failures
			sum.Errors += s.Errors
		}
		if doc.Tests != sum.Tests || doc.Failures != sum.Failures || doc.Errors != sum.Errors {
			t.Errorf("%s: the root says %d, %d, %d, its suites %d, %d, %d", name, doc.Tests, doc.Failures, doc.Errors, sum.Tests, sum.Failures, sum.Errors)
		}
	}
}

// compare complains of each number that is not what the report says.
func compare(t *testing.T, what string, got, want map[string]int) {
	t.Helper()
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%s: %d %s, the report says %d", what, got[k], k, n)
		}
	}
}

func TestTestsAreTheReportsCounts(t *testing.T) {
	for name, r := range all() {
		if name == "rich" {
			continue // it has pools and resources beside machines
		}
		doc := read(t, written(t, r))
		sum := map[string]int{}
		i := -1
		for said := range outline.Clusters(r) {
			c := said.Of
			i++
			got := tally(&doc.Suites[1+i])
			listed := 0
			for _, set := range c.Sets() {
				listed += len(set.Machines)
			}
			if c.Self {
				compare(t, name+" own", got, map[string]int{"skipped": listed, "passed": 0, "failures": 0, "errors": 0})
				continue
			}
			for k, n := range got {
				sum[k] += n
			}
			hidden := value(&doc.Suites[1+i], "machines.Healthy.notListed")
			if want := fmt.Sprint(c.Counts.Total - listed); hidden != want {
				t.Errorf("%s: %s says that %s machines are not listed, of the report %s", name, c.Title(), hidden, want)
			}
			sum["passed"] += c.Counts.Total - listed
		}
		var aside report.MachineCounts
		if r.Summary.IgnoredMachines != nil {
			aside = *r.Summary.IgnoredMachines
		}
		open := r.Open()
		compare(t, name, sum, map[string]int{
			"failure Ghost": open.Ghost, "failure Stale": open.Stale, "error Unknown": open.Unknown, "passed": open.Healthy,
			"skipped Ghost": aside.Ghost, "skipped Stale": aside.Stale, "skipped Unknown": aside.Unknown, "skipped Healthy": aside.Healthy,
		})
		n := len(doc.Suites)
		compare(t, name+" VMs to confirm", tally(&doc.Suites[n-2]), map[string]int{"failures": 0, "skipped Unattributed": r.Summary.InfraMachines})
		compare(t, name+" places", tally(&doc.Suites[n-1]), map[string]int{"errors": len(r.Incomplete()) + len(r.OtherErrors()), "passed": len(r.Scopes) - len(r.Incomplete())})
	}
}

func TestPropertiesAreTheReportsCounts(t *testing.T) {
	for name, r := range all() {
		s, sum := &read(t, written(t, r)).Suites[0], &r.Summary
		for property, want := range map[string]any{
			"status": sum.Status, "complete": sum.Complete, "options.ignoreHealthy": r.Options.IgnoreHealthy,
			"machines.total": sum.Machines.Total, "machines.Ghost": sum.Machines.Ghost, "machines.Unknown": sum.Machines.Unknown,
			"machines.Stale": sum.Machines.Stale, "machines.Healthy": sum.Machines.Healthy,
			"clusters.total": sum.Clusters.Total, "clusters.ManualRemediationRequired": sum.Clusters.ManualRemediationRequired,
			"clusters.NeedFurtherConfirmation":      sum.Clusters.NeedFurtherConfirmation,
			"clusters.ManualRemediationNotRequired": sum.Clusters.ManualRemediationNotRequired, "clusters.Healthy": sum.Clusters.Healthy,
			"infraMachines": sum.InfraMachines, "infraMachines.ignored": sum.IgnoredInfraMachines, "errors": sum.Errors,
			"outOfScope": sum.OutOfScope, "resources.absent": sum.Resources.Absent, "checks": len(r.Checks),
		} {
			if got := value(s, property); got != fmt.Sprint(want) {
				t.Errorf("%s: %s is %s, the report says %v", name, property, got, want)
			}
		}
		if n := sum.IgnoredMachines; n != nil && value(s, "machines.ignored.total") != fmt.Sprint(n.Total) {
			t.Errorf("%s: machines.ignored.total is %s, the report says %d", name, value(s, "machines.ignored.total"), n.Total)
		}
	}
}

// A report is green exactly when it is safe to restore.
func TestTheAnswerIsATest(t *testing.T) {
	healthy := &report.Report{Summary: report.Summary{Status: code.Healthy, Complete: true, Machines: report.MachineCounts{Total: 1, Healthy: 1}, Answer: &report.SafeAnswer{Safe: code.Yes}}}
	nothing := &report.SafeAnswer{Safe: code.Unclear, Reasons: []report.AnswerReason{{Code: code.NothingToCompare}}}
	rollout := &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{{Code: "RolloutDue", Message: "A rollout is due"}}}
	for want, r := range map[string]*report.Report{
		"passed":                            healthy,
		"skipped Healthy":                   {Summary: report.Summary{Status: code.Healthy, Complete: true, Answer: nothing}},
		"failures":                          {Summary: report.Summary{Status: code.Healthy, Complete: true, Answer: rollout}},
		"failure ManualRemediationRequired": rich(),
		"failure NeedFurtherConfirmation":   {Summary: report.Summary{Status: code.NeedFurtherConfirmation}},
		"failure ":                          {},
	} {
		if got := tally(&read(t, written(t, r)).Suites[0]); got[want] != 1 {
			t.Errorf("want %s, got %v", want, got)
		}
	}
}

// The answer, its reasons and its conditions are properties, and the text of its test.
func TestTheAnswerInProperties(t *testing.T) {
	r := &report.Report{Summary: report.Summary{Status: code.Healthy, Answer: &report.SafeAnswer{
		Safe:       code.No,
		Reasons:    []report.AnswerReason{{Code: "RolloutDue", Message: "A rollout is due", Objects: []string{"Machine a/b"}}, {Code: "GhostsLeft", Message: "They run on", Objects: strings.Split("abcdefghijkl", "")}},
		Conditions: []report.Note{{Code: "RestoreOrder", Message: "All objects first"}},
	}, AnswerByPlan: &report.PlanAnswer{Safe: code.WithWork, Reasons: []report.AnswerReason{{Code: "GhostsLeft"}}, Resolved: []report.AnswerReason{{Code: "RolloutDue"}}}}, ToDo: []report.ToDo{
		{Phase: code.Paused, Safe: code.No, Code: "RolloutDue", Message: "replaces them", Objects: []string{"Machine a/b"}, Steps: []int{7, 8}, Decide: true, Resolved: true},
		{Phase: code.After, Safe: code.WithWork, Code: "GhostsLeft", Message: "keep running", Objects: strings.Split("abcdefghijkl", "")},
	}}
	doc := written(t, r)
	s := &read(t, doc).Suites[0]
	for property, want := range map[string]string{"answer": "no", "answer.reasons": "RolloutDue GhostsLeft", "answer.conditions": "RestoreOrder", "answerByPlan": "withWork", "answerByPlan.reasons": "GhostsLeft", "answerByPlan.resolved": "RolloutDue"} {
		if got := value(s, property); got != want {
			t.Errorf("%s is %q, want %q", property, got, want)
		}
	}
	for _, want := range []string{
		"By the plan: NOT WITHOUT MANUAL WORK after 1 decision\n", "While paused: ? decide RolloutDue Machine a/b: replaces them (steps 7-8) A rollout is due.\n",
		"Later: - GhostsLeft a, b, c and 9 more: keep running They run on.\n", "This holds only while: ? RestoreOrder All objects first.",
	} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %q in\n%s", want, doc)
		}
	}
}

func TestRich(t *testing.T) {
	doc := written(t, rich())
	suites := read(t, doc).Suites
	for i, want := range []string{"report", "a/b (backup 1)", "a/b (backup 2)", "a/mgmt (backup 1)", "the backup", "VMs to confirm", "places and errors"} {
		if suites[i].Name != want {
			t.Errorf("suite %d is %s, want %s", i, suites[i].Name, want)
		}
	}
	compare(t, "cluster", tally(&suites[1]), map[string]int{
		"failure Ghost": 2, "failure Stale": 1, "failure PoolAbsent": 1, "error PoolUndecided": 1, "failure ResourceAbsent": 1, "passed": 2,
	})
	compare(t, "own", tally(&suites[3]), map[string]int{"skipped": 8, "passed": 0})
	compare(t, "places", tally(&suites[6]), map[string]int{"error failed": 1, "error partial": 1, "error Error": 1})
	for _, want := range []string{
		`name="twice (2)"`, "VM: /DC0/vm/a/vm  id 42  ref vm-1  poweredOn  in vsphere vc", "recorded as: vsphere://43", "also: /DC0/vm/b/gone  id 44",
		"missing in the backup: Secret a/s, referred to by Cluster a/b: why", `[[ATTACHMENT\x7c/etc/passwd]]`, "named by: AWSCluster a/b",
	} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %s in\n%s", want, doc)
		}
	}
	if strings.Contains(string(doc), "vsphere://42") {
		t.Error("the id of a ghost, which the backup does not know, is said to be recorded")
	}
}

func TestASavedReportGivesTheSame(t *testing.T) { reporttest.Format(Write).ReadsBack(t, all()) }

// What XML cannot hold is shown, not lost.
func TestForbiddenCharacters(t *testing.T) {
	r := &report.Report{InfraMachines: []report.InfraMachine{{Reason: "a\x00\x1b\ufffe\uffff\u202e]]>\n<b>", Instance: report.Instance{Name: "n"}}}}
	doc := written(t, r)
	want := `a\x00\x1b\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae]]>\x0a<b>`
	if got := read(t, doc).Suites[2].Cases[0].Skipped; got.Message != want || got.Text != want {
		t.Errorf("got %q and %q, want %q", got.Message, got.Text, want)
	}
	if bytes.Contains(doc, []byte("<b>\n")) && !bytes.Contains(doc, []byte("&lt;b&gt;")) {
		t.Errorf("markup in\n%s", doc)
	}
}

// TestSchema validates all documents at once with xmllint, of Debian's
// libxml2-utils.
func TestSchema(t *testing.T) {
	xmllint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("xmllint is not installed")
		}
		t.Skip("xmllint is not installed")
	}
	dir := t.TempDir()
	args := []string{"--noout", "--nonet", "--schema", filepath.Join("testdata", "junit.xsd")}
	for name, r := range all() {
		file := filepath.Join(dir, name+".xml")
		if err := os.WriteFile(file, written(t, r), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	if out, err := exec.Command(xmllint, args...).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%.5000s", err, strings.ReplaceAll(string(out), dir, ""))
	}
}

func TestTheErrorOfTheWriterIsReturned(t *testing.T) { reporttest.Format(Write).NamesError(t) }

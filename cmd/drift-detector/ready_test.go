package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/ready"
	"drift-detector/report/schematest"
)

// Of the lab's report: the list says what is open, in 24 rows and as JSON, and the old management
// cluster is recognised.
func TestReadyOfTheLab(t *testing.T) {
	w := fleet(t)
	saved := filepath.Join(w.dir, "ready-report.json")
	o := w.detect()
	if err := os.WriteFile(saved, o.json, 0o600); err != nil {
		t.Fatal(err)
	}
	uid := o.report.Backups[0].KubeSystemUID
	old := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"` + uid + `"}}]}`
	none := `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[]}` + strings.Replace(old, uid, "another", 1)
	valid := schematest.Strict(t, ready.Schema())
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        exitCode
		first, says string
	}{
		{"the old management cluster", old, nil, exitFailOn, "not yet: ", "this is the OLD management cluster: stop"},
		{"nothing", "", nil, exitFailOn, "not yet: ", "not looked at"},
		{"what is open", none, nil, exitFailOn, "not yet: ", "Next: drift-detector plan " + saved + " --step "},
		{"a step that is none", none, []string{"--done", "99"}, exitUsage, "", `--done "99": of this report it takes `},
		{"an empty word", none, []string{"--done="}, exitUsage, "", "--done is empty"},
		{"no file of confirmations", none, []string{"--confirmations", filepath.Join(w.dir, "no.yaml")}, exitUsage, "", "no.yaml"},
	} {
		runs := func(more ...string) (exitCode, string, string) {
			var stdout, stderr bytes.Buffer
			s := &streams{stdin: strings.NewReader(c.stdin), stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }, now: clock}
			args := append(append([]string{"ready", saved}, c.args...), more...)
			code := run(t.Context(), append([]string{"drift-detector"}, args...), s)
			declared(t, args, code)
			return code, stdout.String(), stderr.String()
		}
		got, stdout, stderr := runs()
		if got != c.want || !strings.HasPrefix(stdout, c.first) || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), strings.Join(strings.Fields(c.says), " ")) || strings.Count(stdout, "\n") > 24 {
			t.Errorf("%s: status %d\n%s%s", c.name, got, stdout, stderr)
		}
		if c.want == exitUsage {
			continue
		}
		_, doc, _ := runs("--format", "json")
		var d ready.Document
		if err := valid([]byte(doc)); err != nil || json.Unmarshal([]byte(doc), &d) != nil || d.Result != ready.NotYet || d.Open == 0 {
			t.Errorf("%s: %v\n%s", c.name, err, doc)
		}
	}
}

// A report with nothing left that the plan does not resolve is go once all of the new cluster was
// seen, and no go as long as it was not.
func TestReadyIsGo(t *testing.T) {
	w := fleet(t)
	r := w.detect().report
	r.Summary.AnswerByPlan.Safe, r.Summary.AnswerByPlan.Reasons = code.Yes, nil
	var left []report.ToDo
	for _, d := range r.ToDo {
		if d.Code == code.OldManagementCluster || d.Phase == code.Restoring {
			left = append(left, d)
		}
	}
	r.ToDo = left
	r.Backups[0].Installed = []report.Installed{{Type: "core", Name: "cluster-api", Version: "v1.10.1"}, {Type: "infrastructure", Name: "vsphere", Version: "v1.13.0"}}
	saved := filepath.Join(w.dir, "go.json")
	var doc bytes.Buffer
	if err := report.JSON(&doc, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(saved, doc.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	provider := func(name, kind, release string) string {
		return `{"apiVersion":"clusterctl.cluster.x-k8s.io/v1alpha3","kind":"Provider","metadata":{"name":"p"},"providerName":"` + name + `","type":"` + kind + `","version":"` + release + `"}`
	}
	seen := `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[]}
{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"another"}},` +
		provider("cluster-api", "CoreProvider", "v1.10.1") + "," + provider("vsphere", "InfrastructureProvider", "v1.13.0") + `,
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"velero","namespace":"velero"},"spec":{"template":{"spec":{"containers":[{"image":"velero/velero:v1.17.0"}]}}},"status":{"availableReplicas":1}},
{"apiVersion":"velero.io/v1","kind":"BackupStorageLocation","metadata":{"name":"default","namespace":"velero"},"spec":{"accessMode":"ReadOnly"},"status":{"phase":"Available"}}]}`
	step := fmt.Sprint(r.ToDo[0].Steps[0])
	for _, c := range []struct {
		name, stdin, done string
		code              exitCode
		first             string
	}{
		{"all was seen", seen, step, exitOK, "go: by the plan, paused\n"},
		{"the step is not done", seen, "", exitFailOn, "not yet: 1 of "},
		{"nothing was piped in", "", step, exitIncomplete, "not yet: 5 of "},
	} {
		var stdout, stderr bytes.Buffer
		s := &streams{stdin: strings.NewReader(c.stdin), stdout: &stdout, stderr: &stderr, getenv: func(string) string { return "" }, now: clock}
		args := []string{"ready", saved}
		if c.done != "" {
			args = append(args, "--done", c.done)
		}
		got := run(t.Context(), append([]string{"drift-detector"}, args...), s)
		declared(t, args, got)
		if got != c.code || !strings.HasPrefix(stdout.String(), c.first) {
			t.Errorf("%s: status %d\n%s%s", c.name, got, stdout.String(), stderr.String())
		}
	}
}

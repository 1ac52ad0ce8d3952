package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		code        exitCode
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
		code, stdout, stderr := runs()
		if code != c.code || !strings.HasPrefix(stdout, c.first) || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), strings.Join(strings.Fields(c.says), " ")) || strings.Count(stdout, "\n") > 24 {
			t.Errorf("%s: status %d\n%s%s", c.name, code, stdout, stderr)
		}
		if c.code == exitUsage {
			continue
		}
		_, doc, _ := runs("--format", "json")
		var d ready.Document
		if err := valid([]byte(doc)); err != nil || json.Unmarshal([]byte(doc), &d) != nil || d.Result != ready.NotYet || d.Open == 0 {
			t.Errorf("%s: %v\n%s", c.name, err, doc)
		}
	}
}

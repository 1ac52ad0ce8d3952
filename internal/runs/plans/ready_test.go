package plans_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/ready"
	"drift-detector/report/schematest"
)

// Of the lab's report: the list says what is open, in 24 rows and as JSON, and the old management
// cluster is recognised.
func TestReadyOfTheLab(t *testing.T) {
	w := runs.Fleet(t)
	saved := filepath.Join(w.Dir, "ready-report.json")
	o := w.Detect()
	if err := os.WriteFile(saved, o.JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	uid := o.Report.Backups[0].KubeSystemUID
	old := `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"` + uid + `"}}]}`
	none := `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[]}` + strings.Replace(old, uid, "another", 1)
	valid := schematest.Strict(t, ready.Schema())
	for _, c := range []struct {
		name, stdin string
		args        []string
		want        cli.ExitCode
		first, says string
	}{
		{"the old management cluster", old, nil, cli.ExitFailOn, "not yet: ", "this is the OLD management cluster: stop"},
		{"nothing", "", nil, cli.ExitFailOn, "not yet: ", "not looked at"},
		{"what is open", none, nil, cli.ExitFailOn, "not yet: ", "Next: drift-detector plan " + saved + " --step "},
		{"a step that is none", none, []string{"--done", "99"}, cli.ExitUsage, "", `--done "99": of this report it takes `},
		{"a word that is of no use", "error: You must be logged in", []string{"--done", "releases"}, cli.ExitFailOn, "not yet: ", "(12 not looked at)"},
		{"an empty word", none, []string{"--done="}, cli.ExitUsage, "", "--done is empty"},
		{"no file of confirmations", none, []string{"--confirmations", filepath.Join(w.Dir, "no.yaml")}, cli.ExitUsage, "", "no.yaml"},
	} {
		ask := func(more ...string) (cli.ExitCode, string, string) {
			var stdout, stderr bytes.Buffer
			s := &cli.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
			args := append(append([]string{"ready", saved}, c.args...), more...)
			code := runs.Program(t.Context(), append([]string{"drift-detector"}, args...), s)
			return code, stdout.String(), stderr.String()
		}
		got, stdout, stderr := ask()
		if got != c.want || !strings.HasPrefix(stdout, c.first) || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), strings.Join(strings.Fields(c.says), " ")) || strings.Count(stdout, "\n") > 24 {
			t.Errorf("%s: status %d\n%s%s", c.name, got, stdout, stderr)
		}
		if c.want == cli.ExitUsage {
			continue
		}
		_, doc, _ := ask("--format", "json")
		var d ready.Document
		if err := valid([]byte(doc)); err != nil || json.Unmarshal([]byte(doc), &d) != nil || d.Result != ready.NotYet || d.Open == 0 {
			t.Errorf("%s: %v\n%s", c.name, err, doc)
		}
	}
}

// What help, README and plan ask kubectl for is what ready reads, all of it.
func TestAllThatReadyReadsIsAskedFor(t *testing.T) {
	t.Parallel()
	short := map[string]string{"ns": "namespaces", "no": "nodes", "deploy": "deployments.apps", "bsl": "backupstoragelocations.velero.io", "cm": "configmaps"}
	want := slices.Sorted(slices.Values(slices.Concat(report.LooksAt, report.LooksAtInVelero)))
	_, inReadme, _ := strings.Cut(runs.Readme(t), "{ kubectl get --raw /apis/cluster.x-k8s.io/")
	inReadme, _, _ = strings.Cut(inReadme, "| drift-detector ready")
	_, inHelp, _ := strings.Cut(runs.Run(t, "ready", "--help").Stdout, "{ kubectl get --raw /apis/cluster.x-k8s.io/")
	inHelp, _, _ = strings.Cut(inHelp, "}")
	saved := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(saved, runs.Fleet(t).Detect().JSON, 0o600); err != nil {
		t.Fatal(err)
	}
	inPlan, _, _ := strings.Cut(runs.Run(t, "plan", saved, "--all").Stdout, "| drift-detector ready")
	inPlan = inPlan[strings.LastIndex(inPlan, "/apis/cluster.x-k8s.io/v1beta1/clusters"):]
	for where, text := range map[string]string{"README": inReadme, "help": inHelp, "plan": strings.ReplaceAll(inPlan, "\\\n", " ")} {
		var got []string
		for _, get := range regexp.MustCompile(`\sget\s+([a-z][a-z.,0-9/-]*)\s`).FindAllStringSubmatch(text, -1) {
			for _, what := range strings.Split(get[1], ",") {
				what, _, _ = strings.Cut(what, "/")
				if full := short[what]; full != "" {
					what = full
				}
				got = append(got, what)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s asks for %q, and ready reads %q", where, got, want)
		}
	}
}

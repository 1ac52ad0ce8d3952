package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
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
		want        cli.ExitCode
		first, says string
	}{
		{"the old management cluster", old, nil, cli.ExitFailOn, "not yet: ", "this is the OLD management cluster: stop"},
		{"nothing", "", nil, cli.ExitFailOn, "not yet: ", "not looked at"},
		{"what is open", none, nil, cli.ExitFailOn, "not yet: ", "Next: drift-detector plan " + saved + " --step "},
		{"a step that is none", none, []string{"--done", "99"}, cli.ExitUsage, "", `--done "99": of this report it takes `},
		{"a word that is of no use", "error: You must be logged in", []string{"--done", "releases"}, cli.ExitFailOn, "not yet: ", "(12 not looked at)"},
		{"an empty word", none, []string{"--done="}, cli.ExitUsage, "", "--done is empty"},
		{"no file of confirmations", none, []string{"--confirmations", filepath.Join(w.dir, "no.yaml")}, cli.ExitUsage, "", "no.yaml"},
	} {
		runs := func(more ...string) (cli.ExitCode, string, string) {
			var stdout, stderr bytes.Buffer
			s := &cli.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: clock}
			args := append(append([]string{"ready", saved}, c.args...), more...)
			code := Run(t.Context(), append([]string{"drift-detector"}, args...), s)
			declared(t, args, code)
			return code, stdout.String(), stderr.String()
		}
		got, stdout, stderr := runs()
		if got != c.want || !strings.HasPrefix(stdout, c.first) || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), strings.Join(strings.Fields(c.says), " ")) || strings.Count(stdout, "\n") > 24 {
			t.Errorf("%s: status %d\n%s%s", c.name, got, stdout, stderr)
		}
		if c.want == cli.ExitUsage {
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
	r.Summary.Answer.Reasons = slices.DeleteFunc(r.Summary.Answer.Reasons, func(a report.AnswerReason) bool { return a.Code != code.PoolScaledBack })
	for i := range r.Scopes {
		r.Scopes[i].ListedAt = r.GeneratedAt
	}
	r.ToDo = plan.ToDo(r, describedTools(r))
	r.Backups[0].Installed = []report.Installed{{Type: "core", Name: "cluster-api", Version: "v1.10.1"}, {Type: "infrastructure", Name: "vsphere", Version: "v1.13.0"}}
	var written bytes.Buffer
	err := report.Sealed(&written, r)
	if err == nil {
		r, err = report.Read(&written)
	}
	if err != nil {
		t.Fatal(err)
	}
	changed := *r
	changed.InfraMachines = changed.InfraMachines[1:]
	saved := filepath.Join(w.dir, "go.json")
	for path, r := range map[string]*report.Report{saved: r, saved + ".changed": &changed} {
		var doc bytes.Buffer
		if err := report.JSON(&doc, r); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, doc.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	controllers := ""
	for _, of := range []string{"cluster-api", "bootstrap-kubeadm", "control-plane-kubeadm", "infrastructure-vsphere", "infrastructure-aws"} {
		controllers += `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c","namespace":"` + of + `","labels":{"cluster.x-k8s.io/provider":"` + of + `"}},"status":{"availableReplicas":1}},`
	}
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		controllers += `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"` + kind + `","metadata":{"name":"capi","labels":{"cluster.x-k8s.io/provider":"cluster-api"}}},`
	}
	modifiers, err := json.Marshal(report.Modifiers)
	if err != nil {
		t.Fatal(err)
	}
	provider := func(name, kind, release string) string {
		return `{"apiVersion":"clusterctl.cluster.x-k8s.io/v1alpha3","kind":"Provider","metadata":{"name":"p"},"providerName":"` + name + `","type":"` + kind + `","version":"` + release + `"}`
	}
	seen := `{"kind":"ClusterList","apiVersion":"cluster.x-k8s.io/v1beta2","metadata":{},"items":[]}
{"kind":"RestoreList","apiVersion":"velero.io/v1","metadata":{},"items":[]}
{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"another"}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"new-1"}},
{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"restore-paused","namespace":"velero"},"data":{"modifiers.yaml":` + string(modifiers) + `}},
{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"mgmt-full","namespace":"velero"},"spec":{"storageLocation":"default"},"status":{"phase":"Completed","startTimestamp":"2026-11-21T04:06:20Z","completionTimestamp":"2026-11-21T04:06:32Z","progress":{"itemsBackedUp":565}}},` + controllers +
		provider("cluster-api", "CoreProvider", "v1.10.1") + "," + provider("vsphere", "InfrastructureProvider", "v1.13.0") + `,
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"velero","namespace":"velero"},"spec":{"template":{"spec":{"containers":[{"image":"velero/velero:v1.17.0"}]}}},"status":{"availableReplicas":1}},
{"apiVersion":"velero.io/v1","kind":"BackupStorageLocation","metadata":{"name":"default","namespace":"velero"},"spec":{"accessMode":"ReadOnly"},"status":{"phase":"Available"}}]}`
	var steps []string
	for _, d := range r.ToDo {
		if d.Phase == code.Before && d.Safe == code.No {
			steps = append(steps, fmt.Sprint(d.Steps[0]))
		}
	}
	for _, c := range []struct {
		name, stdin string
		done        []string
		code        cli.ExitCode
		first       string
	}{
		{"all was seen", seen, steps, cli.ExitOK, "go: by the plan, paused\n"},
		{"the step is not done", seen, steps[1:], cli.ExitFailOn, "not yet: 1 of "},
		{"nothing was piped in", "", steps, cli.ExitIncomplete, "not yet: 12 of "},
		{"the report is changed", seen, steps, cli.ExitUsage, ""},
	} {
		var stdout, stderr bytes.Buffer
		s := &cli.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: clock}
		args := []string{"ready", saved}
		if c.code == cli.ExitUsage {
			args[1] += ".changed"
		}
		for _, step := range c.done {
			args = append(args, "--done", step)
		}
		got := Run(t.Context(), append([]string{"drift-detector"}, args...), s)
		declared(t, args, got)
		if got != c.code || !strings.HasPrefix(stdout.String(), c.first) || c.code == cli.ExitUsage && !strings.Contains(stderr.String(), "not as detect wrote it: infraMachines") {
			t.Errorf("%s: status %d\n%s%s", c.name, got, stdout.String(), stderr.String())
		}
	}
}

// What help, README and plan ask kubectl for is what ready reads, all of it.
func TestAllThatReadyReadsIsAskedFor(t *testing.T) {
	t.Parallel()
	short := map[string]string{"ns": "namespaces", "no": "nodes", "deploy": "deployments.apps", "bsl": "backupstoragelocations.velero.io", "cm": "configmaps"}
	want := slices.Sorted(slices.Values(slices.Concat(report.LooksAt, report.LooksAtInVelero)))
	_, inReadme, _ := strings.Cut(readme(t), "{ kubectl get --raw /apis/cluster.x-k8s.io/")
	inReadme, _, _ = strings.Cut(inReadme, "| drift-detector ready")
	_, inHelp, _ := strings.Cut(runProgram(t, "ready", "--help").stdout, "{ kubectl get --raw /apis/cluster.x-k8s.io/")
	inHelp, _, _ = strings.Cut(inHelp, "}")
	saved := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(saved, fleet(t).detect().json, 0o600); err != nil {
		t.Fatal(err)
	}
	inPlan, _, _ := strings.Cut(runProgram(t, "plan", saved, "--all").stdout, "| drift-detector ready")
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

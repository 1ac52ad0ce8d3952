package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
)

// A report with nothing left that the plan does not resolve is go once all of the new cluster was
// seen, and no go as long as it was not.
func TestReadyIsGo(t *testing.T) {
	w := runs.Fleet(t)
	r := w.Detect().Report
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
	saved := filepath.Join(w.Dir, "go.json")
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
		s := &cli.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
		args := []string{"ready", saved}
		if c.code == cli.ExitUsage {
			args[1] += ".changed"
		}
		for _, step := range c.done {
			args = append(args, "--done", step)
		}
		got := runs.Program(t.Context(), append([]string{"drift-detector"}, args...), s)
		if got != c.code || !strings.HasPrefix(stdout.String(), c.first) || c.code == cli.ExitUsage && !strings.Contains(stderr.String(), "not as detect wrote it: infraMachines") {
			t.Errorf("%s: status %d\n%s%s", c.name, got, stdout.String(), stderr.String())
		}
	}
}

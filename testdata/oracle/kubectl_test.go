package oracle

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"k8s.io/client-go/util/jsonpath"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan"
)

var outputs = regexp.MustCompile(`'--output=(jsonpath|go-template)=[^']*'`)

// templates returns the ways in which a plan asks kubectl for parts of objects, as kubectl
// gets them from a shell.
func templates(t *testing.T, r *report.Report) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	note := func(steps []report.Step) {
		for _, s := range steps {
			for _, c := range s.Commands {
				for _, word := range outputs.FindAllString(c, -1) {
					out, err := exec.Command("sh", "-c", "printf %s "+word).Output()
					if err != nil {
						t.Fatalf("%s: %v", word, err)
					}
					all[strings.TrimPrefix(string(out), "--output=")] = true
				}
			}
		}
	}
	for _, s := range plan.New(r, tools).Sections {
		for _, c := range s.Chapters {
			for _, step := range c.Steps {
				note([]report.Step{step.Step})
			}
		}
	}
	plan.Fill(r, tools)
	for i := range r.Clusters {
		for _, set := range r.Clusters[i].Sets() {
			for _, m := range set.Machines {
				note(m.Remediation)
			}
		}
	}
	return all
}

// printed returns what kubectl prints of an object: it reads JSON path expressions with
// client-go's parser, Go templates with the standard library's.
func printed(t *testing.T, form, object string) string {
	t.Helper()
	var data any
	if err := json.Unmarshal([]byte(object), &data); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	kind, text, _ := strings.Cut(form, "=")
	if kind == "go-template" {
		if err := template.Must(template.New("").Parse(text)).Execute(&b, data); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		return b.String()
	}
	j := jsonpath.New("").AllowMissingKeys(true)
	if err := j.Parse(text); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	if err := j.Execute(&b, data); err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return b.String()
}

// TestKubectlPrintsWhatLinesCompare holds each expression that a plan hands to kubectl
// against the code that kubectl reads it with.
func TestKubectlPrintsWhatLinesCompare(t *testing.T) {
	const object = `{"metadata": {"labels": {"velero.io/restore-name": "r-1"}}, "status": {"phase": "Completed"}, "spec": {"providerID": "vsphere://a",
		"template": {"spec": {"containers": [{"command": ["/velero"], "args": ["server", "--restore-resource-priorities=a,b"]}]}},
		"topology": {"workers": {"machineDeployments": [{"name": "md-0", "replicas": 3}, {"name": "md-1"}]}}}}`
	const list = `{"items": [{"metadata": {"namespace": "n", "name": "a"}, "spec": {"paused": true}}, {"metadata": {"namespace": "n", "name": "b"}, "spec": {}}, {"metadata": {"namespace": "n", "name": "c"}, "spec": {"paused": false}}]}`
	want := map[string][2]string{ // by a piece of the expression: an object, and what is printed of it
		"status.phase":           {object, "Completed"},
		"={.spec.replicas}":      {`{"spec": {"replicas": 3}}`, "3"},
		"containers":             {`{"items": [` + object + `]}`, `["/velero"]["server","--restore-resource-priorities=a,b"]`},
		"range .items}}{{.meta":  {list, "n/a n/b n/c "},
		"print .spec.accessMode": {`{"items": [{"metadata": {"name": "a"}, "spec": {"accessMode": "ReadOnly"}}, {"metadata": {"name": "b"}, "spec": {}}, {"metadata": {"name": "c"}, "spec": {"accessMode": "ReadWrite"}}, {"metadata": {"name": "d"}}]}`, "b c d "},
		"$m := .spec.topology":   {object, "0 md-0 3\n1 md-1 <no value>\n"},
	}
	found := templates(t, planned())
	if len(found) != len(want) {
		t.Errorf("%d expressions, want %d: %v", len(found), len(want), found)
	}
	for form := range found {
		known := false
		for piece, w := range want {
			if strings.Contains(form, piece) {
				known = true
				if got := printed(t, form, w[0]); got != w[1] {
					t.Errorf("%s prints %q, want %q", form, got, w[1])
				}
			}
		}
		if !known {
			t.Errorf("nothing holds %s", form)
		}
	}
}

// planned returns a report whose plan has all that kubectl is asked for: a Stale machine of
// a group that a ClusterClass made, of which the Node list was not read.
func planned() *report.Report {
	vm := func(id, ref string) *report.Instance {
		return &report.Instance{Provider: "vsphere", Scope: "vsphere vc", ID: id, Ref: ref, Name: ref}
	}
	two := int64(2)
	const living, gone = "f9e3e854-a71d-56c5-8477-7ef7f5d85166", "65599f85-96e2-5f5e-8b21-b431ece5ed0d"
	return &report.Report{
		Providers: []report.Provider{{Name: "vsphere"}},
		Scopes:    []report.Scope{{Provider: "vsphere", Endpoint: "vc", State: "complete", Identity: "34e42877-2bdc-5d42-8e52-4fe55ea54cf6"}},
		Clusters: []report.Cluster{{
			Namespace: "n", Name: "c", Provider: "vsphere", Nodes: report.Nodes{State: "skipped"}, Counts: report.MachineCounts{Total: 2, Healthy: 1, Stale: 1},
			Workers: report.Workers{Groups: []report.Group{{
				Kind: "MachineDeployment", Name: "md-0", Topology: "md-0", Desired: &two, Counts: report.MachineCounts{Total: 2, Healthy: 1, Stale: 1},
				Machines: []report.Machine{
					{Namespace: "n", Name: "a", Status: code.Healthy, Role: "worker", ProviderID: "vsphere://" + living, Instance: vm(living, "vm-1")},
					{Namespace: "n", Name: "b", Status: code.Stale, Role: "worker", ProviderID: "vsphere://" + gone},
				},
			}}},
		}},
	}
}

package oracle

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// What kustomize, as in kubectl apply -k, makes of deploy/ is whole: each object is in the namespace,
// the alerts are those of the rules file, and the dashboard has the label that Grafana's sidecar asks for.
func TestKustomizeTakesTheManifests(t *testing.T) {
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Clean(deploy))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]any{}
	for _, r := range all.Resources() {
		if r.GetNamespace() != "drift-detector" && r.GetKind() != "Namespace" {
			t.Errorf("%s %s is in namespace %q", r.GetKind(), r.GetName(), r.GetNamespace())
		}
		o, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		found[r.GetKind()] = o
	}
	kinds := slices.Sorted(maps.Keys(found))
	if want := "ConfigMap CronJob Namespace NetworkPolicy PrometheusRule ServiceAccount"; strings.Join(kinds, " ") != want {
		t.Fatalf("%q, want %q", kinds, want)
	}
	text, err := os.ReadFile(deploy + "chart/prometheus-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules map[string]any
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	// Through text, where both have the same types of numbers.
	again, _ := yaml.Marshal(found["PrometheusRule"]["spec"])
	var spec map[string]any
	if err := yaml.Unmarshal(again, &spec); err != nil || !reflect.DeepEqual(spec, rules) {
		t.Errorf("the PrometheusRule has other alerts than chart/prometheus-rules.yaml (%v)", err)
	}
	labels, _ := found["ConfigMap"]["metadata"].(map[string]any)["labels"].(map[string]any)
	if labels["grafana_dashboard"] != "1" {
		t.Errorf("labels of the dashboard: %v", labels)
	}
}

// What deploy/kustomization.yaml says at its top to put into one's own is taken as it is, and does what it says.
func TestKustomizeTakesWhatItsPageSays(t *testing.T) {
	text, err := os.ReadFile(deploy + "kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for line := range strings.Lines(string(text)) {
		if of, is := strings.CutPrefix(line, "#   "); is {
			own = append(own, of)
		}
	}
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "deploy"), os.DirFS(deploy)); err != nil {
		t.Fatal(err)
	}
	page := strings.Replace(strings.Join(own, ""), "github.com/OWNER/drift-detector//deploy?ref=VERSION", "../deploy", 1)
	if err := os.Mkdir(filepath.Join(root, "own"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "own/kustomization.yaml"), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, "own"))
	if err != nil {
		t.Fatalf("%v:\n%s", err, page)
	}
	made, err := all.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]bool{"kind: PrometheusRule": false, "kind: CronJob": true, "value: s3://velero/mgmt": true, "image: registry.example/drift-detector:VERSION": true} {
		if strings.Contains(string(made), what) != want {
			t.Errorf("%s is there: %v", what, !want)
		}
	}
}

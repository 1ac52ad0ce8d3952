package releases_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// derived is the lab's backup with one change.
type derived struct {
	name    string
	drifted bool                                                   // else the manifest is what lives
	record  func(release runs.Object)                              // of Helm's newest record
	edit    func(resource, name string, o runs.Object) (keep bool) // of the other objects
	more    map[string]string                                      // items by path
	args    []string
	row     string   // READY and REASON
	want    []string // in the text
	absent  []string
}

// manifest replaces a part of the manifest, which is there.
func manifest(old, new string) func(runs.Object) {
	return func(r runs.Object) {
		if !strings.Contains(r["manifest"].(string), old) {
			panic("the manifest has no " + old)
		}
		r["manifest"] = strings.Replace(r["manifest"].(string), old, new, 1)
	}
}

func also(docs string) func(runs.Object) {
	return func(r runs.Object) { r["manifest"] = r["manifest"].(string) + "\n---\n" + docs }
}

func helmStatus(s string) func(runs.Object) {
	return func(r runs.Object) { r["info"].(runs.Object)["status"] = s }
}

// edited changes one object.
func edited(of string, change func(o runs.Object)) func(string, string, runs.Object) bool {
	return func(resource, name string, o runs.Object) bool {
		if resource+"/"+name == of {
			change(o)
		}
		return true
	}
}

func without(of ...string) func(string, string, runs.Object) bool {
	return func(resource, name string, _ runs.Object) bool {
		for _, o := range of {
			if resource+"/"+name == o {
				return false
			}
		}
		return true
	}
}

const (
	extraPath        = "resources/configmaps/namespaces/shop/shop-extra.json"
	helmReleasePath  = "resources/helmreleases.helm.toolkit.fluxcd.io/namespaces/shop/shop.json"
	widgetPath       = "resources/widgets.x.io/namespaces/shop/w.json"
	marks            = `"labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":{"meta.helm.sh/release-name":"shop","meta.helm.sh/release-namespace":"shop"}`
	extra            = `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"},"metadata":{"name":"shop-extra","namespace":"shop","annotations":{"meta.helm.sh/release-name":"shop","meta.helm.sh/release-namespace":"shop"},"labels":{"app.kubernetes.io/name":"shop","app.kubernetes.io/instance":"shop","app.kubernetes.io/managed-by":"Helm","helm.sh/chart":"shop-0.1.0"}}}`
	widgets          = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.x.io"},"spec":{"group":"x.io","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","properties":{"id":{"type":"string"},"size":{"type":"integer"}}}}}}}}}}]}}`
	record1, record2 = "secrets/sh.helm.release.v1.shop.v1", "secrets/sh.helm.release.v1.shop.v2"
)

func helmRelease(spec, status string) map[string]string {
	return map[string]string{helmReleasePath: `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":"shop","namespace":"shop"},"spec":` + spec + `,"status":` + status + `}`}
}

func summary(of, more string) map[string]string {
	return map[string]string{"resources/clustersummaries.config.projectsveltos.io/namespaces/mgmt/s.json": `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"mgmt"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{` + more + `"helmCharts":[{"releaseName":"` + of + `","releaseNamespace":"shop"}]}}}`}
}

var derivedBackups = []derived{
	{name: "in sync", row: "True InSync", want: []string{"extra: ConfigMap/shop/shop-orphan", "added: data[hotfix.enabled] = true"}},
	{name: "drifted", drifted: true, row: "False Drifted", want: []string{"drifted: removed: 1, changed: 5, added: 2"}},
	{name: "unreadable", edit: edited(record2, func(o runs.Object) { o["data"].(runs.Object)["release"] = "AAAA" }), row: "Unknown Unreadable"},
	{name: "deleted", edit: without(record1, record2), more: helmRelease(`{}`, `{"history":[{"version":2}]}`), row: "False Deleted", want: []string{"HelmRelease/shop/shop has no release record"}},
	{name: "locked", record: helmStatus("pending-upgrade"), row: "False Locked", want: []string{"helm rollback shop 1 --namespace shop"}},
	{name: "failed", record: helmStatus("failed"), row: "False Failed", want: []string{"helm history shop --namespace shop"}},
	{name: "uninstalled", record: helmStatus("uninstalled"), row: "False Uninstalled"},
	{name: "superseded", record: helmStatus("superseded"), row: "Unknown NoDeployedRevision"},
	{name: "another revision", more: helmRelease(`{}`, `{"history":[{"version":1}]}`), row: "False RevisionMismatch", want: []string{"helm-controller upgrades at once"}},
	{name: "not comparable", edit: edited("deployments.apps/shop-web", func(o runs.Object) { o["apiVersion"] = "apps/v1beta1" }), row: "Unknown Incomplete"},
	{name: "without record", edit: without(record1, record2), want: []string{"release without record: shop/shop", "helm upgrade --install shop CHART --namespace shop"}},
	{name: "ConfigMap storage", drifted: true, edit: without(record1), row: "False Drifted", want: []string{"drifted: removed: 1, changed: 5, added: 2"}},
	{name: "a definition with keyed lists", record: also("apiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\nspec: {parts: [{id: a, size: 1}, {id: b, size: 2}]}\n"), more: map[string]string{
		"resources/customresourcedefinitions.apiextensions.k8s.io/cluster/widgets.x.io.json": widgets,
		widgetPath: `{"apiVersion":"x.io/v1","kind":"Widget","metadata":{"name":"w","namespace":"shop",` + marks + `},"spec":{"parts":[{"id":"b","size":7},{"id":"a","size":1}]}}`,
	}, row: "False Drifted", want: []string{"Widget/shop/w changed (0 additions, 1 changes, 0 removals)", "spec.parts[0].size  2 → 7", "an upgrade leaves it"}},
	{name: "Flux's label", drifted: true, edit: edited("deployments.apps/shop-web", func(o runs.Object) {
		o["metadata"].(runs.Object)["labels"].(runs.Object)["helm.toolkit.fluxcd.io/driftDetection"] = "Disabled"
	}), row: "False Drifted", want: []string{"removed: 1, changed: 4, excluded: 1"}},
	{name: "Sveltos' annotation", drifted: true, edit: edited("deployments.apps/shop-web", func(o runs.Object) {
		o["metadata"].(runs.Object)["annotations"].(runs.Object)["projectsveltos.io/driftDetectionIgnore"] = "ok"
	}), row: "False Drifted", want: []string{"removed: 1, changed: 4, excluded: 1"}},
	{name: "a HelmRelease's rule", drifted: true, more: helmRelease(`{"driftDetection":{"mode":"warn","ignore":[{"paths":["/spec/replicas"],"target":{"kind":"Deploy.*"}},{"paths":["/x"],"target":{"kind":"Deploy"}}]}}`, `{"history":[{"version":2}]}`), row: "False Drifted", want: []string{"shop-web changed (0 additions, 3 changes, 0 removals)", "used 2 times", "not used", "  warn  "}, absent: []string{"spec.replicas  3 → 5"}},
	{name: "Sveltos' rule", drifted: true, more: summary("shop", `"driftExclusions":[{"paths":["/spec/replicas"],"target":{"kind":"Deployment"}}],`), row: "False Drifted", want: []string{"shop-web changed (0 additions, 3 changes, 0 removals)", "used 2 times"}},
	{name: "k0rdent's rule", drifted: true, more: map[string]string{"resources/servicesets.k0rdent.mirantis.com/namespaces/k/s.json": `{"kind":"ServiceSet","metadata":{"name":"s","namespace":"k"},"spec":{"provider":{"selfManagement":true,"config":{"driftIgnore":[{"kind":"Deployment","name":"shop-web"}]}},"services":[{"name":"shop","namespace":"shop"}]}}`}, row: "False Drifted", want: []string{"removed: 1, changed: 4, excluded: 1", "ServiceSet/k/s has syncMode Continuous"}},
	{name: "a file's rule", drifted: true, args: []string{"--ignore-file", "RULES"}, row: "False Drifted", want: []string{"removed: 1, changed: 4, excluded: 1"}},
	{name: "a rule does not hide a refusal", record: manifest("port: 8081,", "port: 80,"), args: []string{"--ignore-file", "ALL"}, row: "True InSync", want: []string{"Service/shop/shop-web excluded: ", "; refused: two ports named http, the next upgrade fails", "kubectl edit service shop-web --namespace shop"}},
	{name: "apply_method: ssa", record: func(r runs.Object) {
		r["apply_method"] = "ssa"
		manifest("replicas: 5", "replicas: 3")(r)
	}, row: "False Drifted", want: []string{"helm 4, ssa", "the next upgrade fails", "--force-conflicts"}},
	{name: "autoscaling/v1", record: manifest("maxReplicas: 12", "maxReplicas: 7"), edit: edited("horizontalpodautoscalers.autoscaling/shop-worker", func(o runs.Object) {
		o["apiVersion"] = "autoscaling/v1"
		delete(o["spec"].(runs.Object), "metrics")
		o["spec"].(runs.Object)["targetCPUUtilizationPercentage"] = 80
	}), row: "False Drifted", want: []string{"spec.maxReplicas  7 → 12"}},
	{name: "a zero value", record: manifest("      containers:\n      - name: web", "      hostNetwork: false\n      containers:\n      - name: web"), edit: edited("deployments.apps/shop-web", func(o runs.Object) {
		backuptest.Inside(o, "spec", "template", "spec")["hostNetwork"] = true
	}), row: "False Drifted", want: []string{"spec.template.spec.hostNetwork  (absent) → true", "Flux does not see it"}},
	{name: "a null", record: manifest("replicas: 5", "replicas: null"), row: "False Drifted", want: []string{"spec.replicas  1 → 5", "Flux does not see it"}},
	{name: "a block scalar before ---", record: manifest("feature.search=false\n", "feature.search=false"), row: "True InSync"},
	{name: "a namespace that is not in the backup", record: also("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far, namespace: other}\n"), row: "Unknown Incomplete", want: []string{"ConfigMap/other/far not in the backup: the backup has nothing of its namespace"}},
}

// The program says of each change of the lab's backup what has to be said.
func TestDerivedReleases(t *testing.T) {
	t.Parallel()
	rules := map[string]string{"RULES": "ignore: [{paths: [''], target: {kind: Deployment, name: shop-web}}]", "ALL": "ignore: [{paths: ['']}]"}
	for _, d := range derivedBackups {
		t.Run(d.name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"releases", "--backup", d.write(t, dir)}
			for _, a := range d.args {
				if rule := rules[a]; rule != "" {
					a = filepath.Join(dir, "rules.yaml")
					if err := os.WriteFile(a, []byte(rule), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				args = append(args, a)
			}
			o := runs.Run(t, args...)
			o.Demand(t, cli.ExitOK)
			if row := strings.Fields(d.row); len(row) > 0 && !regexp.MustCompile(`(?m)^shop +shop +[0-9-]+ +`+row[0]+` +`+row[1]+` `).MatchString(o.Stdout) {
				t.Errorf("not %s", d.row)
			}
			said := strings.Join(strings.Fields(o.Stdout), " ") // without the breaks of lines
			for _, s := range d.want {
				if !strings.Contains(said, strings.Join(strings.Fields(s), " ")) {
					t.Errorf("no %q", s)
				}
			}
			for _, s := range append(d.absent, "czNjcjN0", "s3cr3t", "rotated") {
				if strings.Contains(o.Stdout, s) {
					t.Errorf("%q is there", s)
				}
			}
			if t.Failed() {
				t.Log(o.Stdout)
			}
			if d.row != "" {
				ready, _, _ := strings.Cut(d.row, " ")
				if o := runs.Run(t, append(args, "--format", "json")...); !strings.Contains(o.Stdout, `"ready": "`+ready+`"`) {
					t.Error(o.Stdout)
				}
			}
		})
	}
}

// write makes the backup.
func (d derived) write(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "backup.tar.gz")
	put := func(body []byte) {
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	body, err := os.ReadFile(runs.ShopBackup)
	if err != nil {
		t.Fatal(err)
	}
	var stored []byte
	put(backuptest.Edit(t, body, func(resource string, o runs.Object) bool {
		name, _ := o["metadata"].(runs.Object)["name"].(string)
		if resource+"/"+name == record2 {
			d.repack(t, o)
			stored, _ = json.Marshal(o)
			if d.name == "ConfigMap storage" {
				return false
			}
		}
		return d.edit == nil || d.edit(resource, name, o)
	}, ""))
	more := map[string]string{}
	if !d.drifted {
		more[extraPath] = extra
	}
	for k, v := range d.more {
		more[k] = v
	}
	items := map[string][]byte{}
	for k, v := range more {
		items[k] = []byte(v)
	}
	if d.name == "ConfigMap storage" {
		var o runs.Object
		if err := json.Unmarshal(stored, &o); err != nil {
			t.Fatal(err)
		}
		inner, err := base64.StdEncoding.DecodeString(o["data"].(runs.Object)["release"].(string))
		if err != nil {
			t.Fatal(err)
		}
		delete(o, "type")
		o["kind"], o["data"] = "ConfigMap", runs.Object{"release": string(inner)}
		items["resources/configmaps/namespaces/shop/sh.helm.release.v1.shop.v2.json"], _ = json.Marshal(o)
	}
	put(backuptest.Append(t, path, items))
	return path
}

// repack changes what is inside of a record.
func (d derived) repack(t *testing.T, o runs.Object) {
	t.Helper()
	backuptest.EditRelease(t, o, func(release runs.Object) {
		if !d.drifted {
			release["manifest"] = strings.NewReplacer(
				"stringData: {password: \"s3cr3t\"}", "stringData: {password: rotated}", "log.level: warn", "log.level: debug",
				"port: 80,", "port: 8081,", "replicas: 3", "replicas: 5", "1.27.2\"\n        ports", "1.27.9\"\n        ports",
				"value: \"warn\"", "value: \"trace\"", "memory: 256Mi", "memory: 512Mi", "maxReplicas: 6", "maxReplicas: 12",
			).Replace(release["manifest"].(string))
		}
		if d.record != nil {
			d.record(release)
		}
	})
}

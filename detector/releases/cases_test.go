package releases

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func (w world) get(resource, name string) Object { return w[[3]string{resource, "shop", name}] }

func put(o Object, v any, path ...string) {
	for _, p := range path[:len(path)-1] {
		next, ok := o[p].(Object)
		if !ok {
			next = Object{}
			o[p] = next
		}
		o = next
	}
	o[path[len(path)-1]] = v
}

func decode(t testing.TB, body string) Object {
	t.Helper()
	o, err := parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// repaired returns the shop without its drift.
func repaired(t testing.TB) world {
	w := shop(t)
	w.edit(t, func(r Object) {
		r["manifest"] = strings.NewReplacer(
			"stringData: {password: \"s3cr3t\"}", "stringData: {password: rotated}", "log.level: warn", "log.level: debug",
			"port: 80,", "port: 8081,", "replicas: 3", "replicas: 5", "1.27.2\"\n        ports", "1.27.9\"\n        ports",
			"value: \"warn\"", "value: \"trace\"", "memory: 256Mi", "memory: 512Mi", "maxReplicas: 6", "maxReplicas: 12",
		).Replace(text(r, "manifest"))
	})
	w[[3]string{"configmaps", "shop", "shop-extra"}] = decode(t, `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"},"metadata":{"name":"shop-extra","namespace":"shop",
"annotations":{"meta.helm.sh/release-name":"shop","meta.helm.sh/release-namespace":"shop"},"labels":{"app.kubernetes.io/name":"shop","app.kubernetes.io/instance":"shop","app.kubernetes.io/managed-by":"Helm","helm.sh/chart":"shop-0.1.0"}}}`)
	return w
}

func (w world) helmRelease(name, spec, status string) {
	o, err := parse(fmt.Appendf(nil, `{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{"name":%q,"namespace":"shop"},"spec":%s,"status":%s}`, name, spec, status))
	if err != nil {
		panic(err)
	}
	w[[3]string{"helmreleases.helm.toolkit.fluxcd.io", "shop", name}] = o
}

func status(t testing.TB, w world, s string) {
	put(w[newestRecord], s, "metadata", "labels", "status")
	w.edit(t, func(r Object) { put(r, s, "info", "status") })
}

// Each row of the state, by one change of the lab's backup.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		name          string
		world         func(testing.TB) world
		change        func(testing.TB, world)
		ready, reason string
	}{
		{"in sync", repaired, func(testing.TB, world) {}, "True", InSync},
		{"drifted", shop, func(testing.TB, world) {}, "False", Drifted},
		{"removed alone", repaired, func(_ testing.TB, w world) {
			delete(w, [3]string{"services", "shop", "shop-web"})
			w[[3]string{"services", "shop", "other"}] = Object{}
		}, "False", Drifted},
		{"kind not in the backup", repaired, func(_ testing.TB, w world) { delete(w, [3]string{"services", "shop", "shop-web"}) }, "Unknown", Incomplete},
		{"locked", shop, func(t testing.TB, w world) { status(t, w, "pending-upgrade") }, "False", Locked},
		{"failed", repaired, func(t testing.TB, w world) { status(t, w, "failed") }, "False", Failed},
		{"uninstalled", shop, func(t testing.TB, w world) { status(t, w, "uninstalled") }, "False", Uninstalled},
		{"superseded", repaired, func(t testing.TB, w world) { status(t, w, "superseded") }, "Unknown", NoDeployedRevision},
		{"damaged", shop, func(_ testing.TB, w world) { put(w[newestRecord], "AAAA", "data", "release") }, "Unknown", Unreadable},
		{"another revision", repaired, func(_ testing.TB, w world) { w.helmRelease("shop", `{}`, `{"history":[{"version":1}]}`) }, "False", RevisionMismatch},
		{"the same revision", repaired, func(_ testing.TB, w world) { w.helmRelease("shop", `{}`, `{"history":[{"version":2}]}`) }, "True", InSync},
		{"bad document", repaired, func(t testing.TB, w world) {
			w.edit(t, func(r Object) { r["manifest"] = text(r, "manifest") + "\n---\n{{{\n" })
		}, "Unknown", Unreadable},
		{"added alone", repaired, func(_ testing.TB, w world) {
			d := w.get("configmaps", "shop-config")
			put(d, "x", "data", "more")
			managed := list(d, "metadata", "managedFields")
			put(managed[len(managed)-1].(Object), Object{}, "fieldsV1", "f:data", "f:more")
		}, "True", InSync},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.world(t)
			c.change(t, w)
			if r := w.one(t); r.Ready != c.ready || r.Reason != c.reason {
				t.Errorf("%s %s %q, want %s %s; %s", r.Ready, r.Reason, r.Message, c.ready, c.reason, show(r.Objects))
			}
		})
	}
}

// Helm refuses the next upgrade of a release that was being uninstalled, also where Flux asks for it.
func TestAReleaseThatIsBeingUninstalledCannotBeUpgraded(t *testing.T) {
	w := shop(t)
	status(t, w, "uninstalling")
	if r := w.one(t); r.Reason != Uninstalled || !strings.Contains(r.Message, "has no deployed releases") {
		t.Errorf("%s %q", r.Reason, r.Message)
	}
}

func show(v any) string {
	body, _ := json.MarshalIndent(v, "", " ")
	return string(body)
}

func TestHelmReleaseWithoutRecord(t *testing.T) {
	w := world{}
	w.helmRelease("web", `{"targetNamespace":"prod","storageNamespace":"flux"}`, `{"history":[{"version":4}]}`)
	if r := w.one(t); r.Reason != Incomplete || r.Ready != "Unknown" || r.Stalled {
		t.Errorf("without Secrets in the backup: %+v", r)
	}
	w[[3]string{"secrets", "flux", "other"}] = Object{}
	r := w.one(t)
	if r.Reason != Deleted || r.Name != "prod-web" || r.Namespace != "flux" || !r.Stalled {
		t.Errorf("%+v", r)
	}
}

func TestObjectsWithoutRecord(t *testing.T) {
	w := shop(t)
	delete(w, newestRecord)
	delete(w, [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"})
	r := w.run(t, Options{})
	if len(r.Releases) != 0 || len(r.WithoutRecord) != 1 || r.WithoutRecord[0].Count != 7 {
		t.Errorf("%+v", r.WithoutRecord)
	}
}

func TestConfigMapStorage(t *testing.T) {
	w := shop(t)
	record := w[newestRecord]
	inner, _ := base64.StdEncoding.DecodeString(text(record, "data", "release"))
	delete(w, newestRecord)
	delete(w, [3]string{"secrets", "shop", "sh.helm.release.v1.shop.v1"})
	put(record, string(inner), "data", "release")
	put(record, "ConfigMap", "kind")
	delete(record["metadata"].(Object)["labels"].(Object), "owner")
	put(record, "HELM", "metadata", "labels", "OWNER")
	w[[3]string{"configmaps", "shop", "shop.v2"}] = record
	if r := w.one(t); r.Storage != "ConfigMap" || r.Reason != Drifted {
		t.Errorf("%+v", r)
	}
}

const web, worker = "Deployment/shop/shop-web", "Deployment/shop/shop-worker"

// manifest changes the manifest of the release.
func manifest(old, new string) func(testing.TB, world) {
	return func(t testing.TB, w world) {
		w.edit(t, func(r Object) {
			if !strings.Contains(text(r, "manifest"), old) {
				t.Fatalf("no %q", old)
			}
			r["manifest"] = strings.Replace(text(r, "manifest"), old, new, 1)
		})
	}
}

// fields are changes of the manifest or of a live object, one each, and what is said of them.
var fields = []struct {
	name, object string
	change       func(testing.TB, world)
	want         string // op path upgrade unseen; of all changes
	refused      string
}{
	{"declared zero", web, func(t testing.TB, w world) {
		put(w.get("deployments.apps", "shop-web"), true, "spec", "template", "spec", "hostNetwork")
		manifest("      containers:\n      - name: web", "      hostNetwork: false\n      containers:\n      - name: web")(t, w)
	}, "remove /spec/template/spec/hostNetwork repairs unseen", ""},
	{"quantities", worker, manifest("cpu: 0.25", "cpu: 250m"), "", ""},
	{"value and valueFrom", web, func(_ testing.TB, w world) {
		c := list(w.get("deployments.apps", "shop-web"), "spec", "template", "spec", "containers")[0].(Object)
		c["env"] = []any{Object{"name": "LOG_LEVEL", "valueFrom": Object{"fieldRef": Object{"apiVersion": "v1", "fieldPath": "metadata.name"}}}, Object{"name": "EMPTY"}}
	}, "add /spec/template/spec/containers/0/env/0/value fails", "env LOG_LEVEL has value and valueFrom"},
	{"immutable selector", web, manifest("selector: {matchLabels: {app: shop-web}}", "selector: {matchLabels: {app: other}}"), "replace /spec/selector/matchLabels/app fails", "spec.selector.matchLabels.app is immutable"},
	{"immutable data", "ConfigMap/shop/shop-config", func(t testing.TB, w world) {
		put(w.get("configmaps", "shop-config"), true, "immutable")
		manifest("log.level: debug", "log.level: warn")(t, w)
	}, "replace /data/log.level fails", "the live object is immutable"},
	{"fieldRef's default", worker, func(t testing.TB, w world) {
		c := list(w.get("deployments.apps", "shop-worker"), "spec", "template", "spec", "containers")[0].(Object)
		c["env"] = []any{Object{"name": "POD", "valueFrom": Object{"fieldRef": Object{"apiVersion": "v1", "fieldPath": "metadata.name"}}}}
		manifest("- name: worker\n", "- name: worker\n        env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n")(t, w)
	}, "", ""},
	{"ssa meets another manager", web, func(t testing.TB, w world) {
		w.edit(t, func(r Object) { r["apply_method"] = "ssa" })
		manifest("replicas: 5", "replicas: 3")(t, w)
	}, "replace /spec/replicas fails", ""},
	{"helm 3 repairs", web, manifest("replicas: 5", "replicas: 3"), "replace /spec/replicas repairs", ""},
	{"replicas under an autoscaler", worker, manifest("spec:\n  selector: {matchLabels: {app: shop-worker}}", "spec:\n  replicas: 1\n  selector: {matchLabels: {app: shop-worker}}"), "replace /spec/replicas repairs benign", ""},
	{"replicas beyond what an autoscaler allows", worker, func(t testing.TB, w world) {
		put(w.get("deployments.apps", "shop-worker"), int64(50), "spec", "replicas")
		manifest("spec:\n  selector: {matchLabels: {app: shop-worker}}", "spec:\n  replicas: 1\n  selector: {matchLabels: {app: shop-worker}}")(t, w)
	}, "replace /spec/replicas repairs benign", ""},
	{"autoscaling/v1", "HorizontalPodAutoscaler/shop/shop-worker", func(t testing.TB, w world) {
		o := w.get("horizontalpodautoscalers.autoscaling", "shop-worker")
		put(o, "autoscaling/v1", "apiVersion")
		delete(o["spec"].(Object), "metrics")
		put(o, int64(80), "spec", "targetCPUUtilizationPercentage")
		manifest("maxReplicas: 12", "maxReplicas: 7")(t, w)
	}, "replace /spec/maxReplicas repairs", ""},
	{"what a server adds to claims", "StatefulSet/shop/db", func(t testing.TB, w world) {
		w.edit(t, func(r Object) {
			r["manifest"] = text(r, "manifest") + "\n---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  volumeClaimTemplates: [{metadata: {name: a}, spec: {resources: {requests: {storage: 1024Mi}}}}]\n"
		})
		w[[3]string{"statefulsets.apps", "shop", "db"}] = decode(t, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop","labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":{"meta.helm.sh/release-name":"shop","meta.helm.sh/release-namespace":"shop"}},
"spec":{"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a","creationTimestamp":null},"spec":{"resources":{"requests":{"storage":"1Gi"}},"volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]}}`)
	}, "", ""},
	{"block scalar before ---", "ConfigMap/shop/shop-config", manifest("feature.search=false\n", "feature.search=false"), "", ""},
}

func TestFields(t *testing.T) {
	for _, c := range fields {
		t.Run(c.name, func(t *testing.T) {
			w := repaired(t)
			c.change(t, w)
			r := w.one(t)
			o := r.object(c.object)
			var got []string
			for _, ch := range o.Patch {
				line := ch.Op + " " + ch.Pointer + " " + ch.Upgrade
				if ch.Unseen {
					line += " unseen"
				}
				if ch.Benign != "" {
					line += " benign"
				}
				got = append(got, line)
			}
			if strings.Join(got, ", ") != c.want || o.Refused != c.refused {
				t.Errorf("%q refused %q, want %q refused %q\n%s", got, o.Refused, c.want, c.refused, show(o))
			}
		})
	}
}

const widgetCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
"names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","properties":{"id":{"type":"string"},"size":{"type":"integer"},"note":{"type":"string"}}}},
"steps":{"type":"array","items":{"type":"object","properties":{"run":{"type":"string"},"times":{"type":"integer","default":1}}}},
"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]}}`

// A custom resource is compared by its CustomResourceDefinition, and Helm 3 leaves its drift.
func TestCustomResource(t *testing.T) {
	w := repaired(t)
	w[[3]string{"customresourcedefinitions.apiextensions.k8s.io", "", "widgets.x.io"}] = decode(t, widgetCRD)
	w[[3]string{"widgets.x.io", "shop", "w"}] = decode(t, `{"apiVersion":"x.io/v1","kind":"Widget","metadata":{"name":"w","namespace":"shop","labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":{"meta.helm.sh/release-name":"shop","meta.helm.sh/release-namespace":"shop"}},
"spec":{"parts":[{"id":"b","size":7,"note":"by hand"},{"id":"a","size":1}],"steps":[{"run":"x","times":1}],"free":{"a":{"b":1}}}}`)
	w.edit(t, func(r Object) {
		r["manifest"] = text(r, "manifest") + "\n---\napiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  unknown: 1\n  parts: [{id: a, size: 1}, {id: b, size: 2}]\n  steps: [{run: x}]\n  free: {a: {b: 1}}\n"
	})
	o := w.one(t).object("Widget/shop/w")
	if len(o.Patch) != 1 || o.Patch[0].Pointer != "/spec/parts/0/size" || o.Patch[0].Upgrade != Leaves {
		t.Error(show(o))
	}
}

func TestIgnoreRules(t *testing.T) {
	web := "Deployment/shop/shop-web"
	for _, c := range []struct {
		name   string
		change func(testing.TB, world, *Options)
		want   string
	}{
		{"Flux's label, in any case", func(_ testing.TB, w world, _ *Options) {
			put(w.get("deployments.apps", "shop-web"), "Disabled", "metadata", "labels", fluxMark)
		}, Excluded},
		{"Sveltos' annotation", func(_ testing.TB, w world, _ *Options) {
			put(w.get("deployments.apps", "shop-web"), "ok", "metadata", "annotations", sveltosMark)
		}, Excluded},
		{"Flux's annotation, in the manifest", func(t testing.TB, w world, _ *Options) {
			w.edit(t, func(r Object) {
				r["manifest"] = strings.Replace(text(r, "manifest"), "kind: Deployment\nmetadata:\n", "kind: Deployment\nmetadata:\n  annotations: {"+fluxMark+": disabled}\n", 1)
			})
		}, Excluded},
		{"HelmRelease, whole", func(_ testing.TB, w world, _ *Options) {
			w.helmRelease("shop", `{"driftDetection":{"mode":"warn","ignore":[{"paths":[""],"target":{"kind":"Deploy.*","name":"shop-web"}}]}}`, `{"history":[{"version":2}]}`)
		}, Excluded},
		{"HelmRelease, anchored", func(_ testing.TB, w world, _ *Options) {
			w.helmRelease("shop", `{"driftDetection":{"ignore":[{"paths":[""],"target":{"kind":"Deploy"}}]}}`, `{"history":[{"version":2}]}`)
		}, Changed},
		{"file, paths", func(t testing.TB, _ world, o *Options) {
			rules, err := ReadRules("f", []byte("ignore:\n- paths: [/spec/replicas, /spec/template/spec/containers]\n  target: {kind: Deployment, labelSelector: 'helm.sh/chart'}\n"))
			if err != nil {
				t.Fatal(err)
			}
			o.Rules = rules
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, o := shop(t), Options{}
			c.change(t, w, &o)
			r := w.run(t, o)
			if got := r.Releases[0].object(web); got.Verdict != c.want {
				t.Errorf("%q, want %q: %s", got.Verdict, c.want, show(got))
			}
			for _, rule := range r.Rules {
				if (rule.Used > 0) != (c.want != Changed) {
					t.Errorf("rule %+v", rule)
				}
			}
		})
	}
}

// Nothing that is a secret leaves the package.
func TestNoSecretInResult(t *testing.T) {
	w := shop(t)
	db := w.get("secrets", "shop-db")
	put(db, `{"stringData":{"password":"canary"}}`, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	put(db, base64.StdEncoding.EncodeToString([]byte("canary")), "data", "more")
	managed := list(db, "metadata", "managedFields")
	last := managed[len(managed)-1].(Object)
	put(last, Object{}, "fieldsV1", "f:data", "f:more")
	put(last, Object{}, "fieldsV1", "f:metadata", "f:annotations", "f:kubectl.kubernetes.io/last-applied-configuration")
	w.edit(t, func(r Object) { put(r, "canary", "config", "password") })
	body := show(w.run(t, Options{}))
	secrets := []string{"canary", "s3cr3t", "rotated"}
	for _, s := range secrets {
		secrets = append(secrets, base64.StdEncoding.EncodeToString([]byte(s)))
	}
	for _, s := range secrets {
		if strings.Contains(body, s) {
			t.Errorf("%q is in the result", s)
		}
	}
	if !strings.Contains(body, "*** (before)") || !strings.Contains(body, "more") {
		t.Error(body)
	}
}

package releases

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// spoiled returns a value of which one node is something else.
func spoiled(v any, r *rand.Rand) any {
	if r.IntN(6) == 0 {
		return []any{nil, "x", int64(-1), 1.5, true, []any{}, []any{nil, Object{}}, Object{}, Object{"a": nil}, "\x1b[31m"}[r.IntN(10)]
	}
	switch v := v.(type) {
	case map[string]any:
		keys := sortedKeys(v)
		if len(keys) == 0 {
			return nil
		}
		k := keys[r.IntN(len(keys))]
		out := Object{}
		for n, e := range v {
			out[n] = e
		}
		out[k] = spoiled(v[k], r)
		return out
	case []any:
		if len(v) == 0 {
			return Object{}
		}
		out := slices.Clone(v)
		i := r.IntN(len(v))
		out[i] = spoiled(v[i], r)
		return out
	}
	return Object{"x": v}
}

// controllers of which each field is looked at.
var someControllers = map[[3]string]string{
	{"helmreleases.helm.toolkit.fluxcd.io", "shop", "shop"}:                `{"kind":"HelmRelease","metadata":{"name":"shop","namespace":"shop"},"spec":{"driftDetection":{"mode":"warn","ignore":[{"paths":["/spec/replicas"],"target":{"kind":"Deployment"}}]}},"status":{"history":[{"version":2}]}}`,
	{"clustersummaries.config.projectsveltos.io", "m", "s"}:                `{"kind":"ClusterSummary","metadata":{"name":"s","namespace":"m"},"spec":{"clusterName":"mgmt","clusterNamespace":"mgmt","clusterProfileSpec":{"helmCharts":[{"releaseName":"shop","releaseNamespace":"shop"}],"driftExclusions":[{"paths":["/a"]}]}},"status":{"featureSummaries":[{"featureID":"Helm","status":"Provisioning"}]}}`,
	{"resourcesummaries.lib.projectsveltos.io", "m", "r"}:                  `{"kind":"ResourceSummary","metadata":{"name":"r","namespace":"m"},"status":{"driftedHelmCharts":[{"releaseName":"a","releaseNamespace":"b"}]}}`,
	{"servicesets.k0rdent.mirantis.com", "m", "k"}:                         `{"kind":"ServiceSet","metadata":{"name":"k","namespace":"m"},"spec":{"provider":{"selfManagement":true,"config":{"driftIgnore":[{"kind":"A"}]}},"services":[{"name":"shop","namespace":"shop"}]}}`,
	{"customresourcedefinitions.apiextensions.k8s.io", "", "widgets.x.io"}: widgetCRD,
	{"widgets.x.io", "shop", "w"}:                                          `{"apiVersion":"x.io/v1","kind":"Widget","metadata":{"name":"w","namespace":"shop","annotations":{"meta.helm.sh/release-name":"shop"}},"spec":{"parts":[{"id":"a","size":1}],"steps":[{"run":"x"}]}}`,
}

// No object of a backup, spoiled in one place, stops the others from being compared.
func TestSpoiledObjects(t *testing.T) {
	base := shop(t)
	for k, body := range someControllers {
		base[k] = decode(t, body)
	}
	base.edit(t, func(r Object) {
		r["manifest"] = text(r, "manifest") + "\n---\napiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\nspec: {parts: [{id: a, size: 2}], steps: [{run: x}]}\n" + kindsManifest(t)
	})
	keys := make([][3]string, 0, len(base))
	for k := range base {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [3]string) int { return slices.Compare(a[:], b[:]) })
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		w := world{}
		for _, k := range keys {
			w[k] = base[k]
			for range r.IntN(3) {
				if o, ok := spoiled(w[k], r).(Object); ok && k != newestRecord {
					w[k] = o
				}
			}
		}
		result := w.run(t, Options{})
		if _, err := json.Marshal(result); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if len(result.Releases) == 0 {
			t.Errorf("seed %d: no release", seed)
		}
	}
}

// A spoiled manifest, too.
func TestSpoiledManifests(t *testing.T) {
	base := shop(t)
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := world{}
		for k, o := range base {
			w[k] = o
		}
		w[newestRecord] = reparsed(t, base[newestRecord])
		w.edit(t, func(release Object) {
			out := ""
			for _, o := range objectsOf(text(release, "manifest"), func(string) {}) {
				body, _ := json.Marshal(spoiled(o, r))
				out += fmt.Sprintf("---\n%s\n", body)
			}
			release["manifest"] = out
		})
		if result := w.run(t, Options{}); len(result.Releases) != 1 {
			t.Errorf("seed %d: %d releases", seed, len(result.Releases))
		}
	}
}

// A document that is larger than any object is not parsed: YAML takes 400 bytes for two.
func TestHugeDocuments(t *testing.T) {
	const one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, c := range map[string]struct {
		doc  string
		want int
	}{
		"a dashboard of 2 MiB":  {one + "data: {a: '" + strings.Repeat("{\"refId\":  \"A dashboard\"}", 80_000) + "'}", 1},
		"a text of 5 MiB":       {one + "data: {a: '" + strings.Repeat("x", 5<<20) + "'}", 0},
		"a list of a million":   {one + "data: {a: [" + strings.Repeat("a,", 1_000_000) + "a]}", 0},
		"lists without items":   {one + "data: {a: [" + strings.Repeat("[]", 1_000_000) + "]}", 0},
		"lines":                 {one + "data:\n" + strings.Repeat("- a\n", 500_000), 0},
		"a million of nothings": {one + "data:\n" + strings.Repeat(" ? \n", 500_000), 0},
	} {
		said := ""
		got := objectsOf(c.doc, func(why string) { said = why })
		if len(got) != c.want || (c.want == 0) != (said == "document 1 of its manifest is larger than any object") {
			t.Errorf("%s: %d objects; %s", name, len(got), said)
		}
	}
}

// Lists of thousands of items are compared, and who wrote these is not looked for. Longer
// ones are not compared.
func TestLongLists(t *testing.T) {
	for _, c := range []struct {
		items   int
		verdict string
	}{{maxItems, Changed}, {maxItems + 1, NotComparable}} {
		var live, manifest, fields strings.Builder
		for i := range c.items {
			fmt.Fprintf(&live, `{"name":"k%d","value":"v"},`, c.items-i)
			fmt.Fprintf(&manifest, `{name: k%d, value: v},`, i+1)
			fmt.Fprintf(&fields, `"k:{\"name\":\"k%d\"}":{"f:value":{}},`, i)
		}
		w := repaired(t)
		w.edit(t, func(r Object) { r["manifest"] = "" })
		w.more(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, image: i, env: ["+strings.TrimSuffix(manifest.String(), ",")+"]}]}}}}")
		o := w.lives(t, "deployments.apps", "shop", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"j","env":[`+strings.TrimSuffix(live.String(), ",")+`]}]}}}}`)
		put(o, []any{decode(t, `{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:env":{`+strings.TrimSuffix(fields.String(), ",")+`}}}}}}}}`)}, "metadata", "managedFields")
		got := w.one(t).object("Deployment/shop/a")
		if got.Verdict != c.verdict || c.verdict == Changed && (len(got.Patch) != 1 || len(got.Patch[0].Owners) != 0) {
			t.Errorf("%d items: %s, %d changes", c.items, got.Verdict, len(got.Patch))
		}
	}
}

package releases

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// declaredObjects are the desired objects of the lab's release, with its marks.
func declaredObjects(t testing.TB) []Object {
	t.Helper()
	var manifest string
	shop(t).edit(t, func(r Object) { manifest = text(r, "manifest") })
	var out []Object
	for _, o := range objectsOf(manifest+richManifest, func(why string) { t.Fatal(why) }) {
		o = bare(o)
		if text(o, "kind") == "Secret" {
			folded(o)
		}
		o["metadata"].(Object)["namespace"] = "shop"
		marked(o, "shop", "shop")
		out = append(out, reparsed(t, o))
	}
	return out
}

// richManifest has what the lab's lacks: more kinds, sets, atomic lists, int-or-strings.
const richManifest = `
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      tolerations: [{key: a, operator: Exists, effect: NoSchedule}]
      volumes: [{name: conf, configMap: {name: shop-config, items: [{key: a, path: b}]}}]
      containers:
      - name: db
        image: db:1
        command: [run, "--fast"]
        livenessProbe: {httpGet: {path: /live, port: 8080}, periodSeconds: 7}
        ports: [{name: a, containerPort: 1}, {name: b, containerPort: 2, protocol: UDP}]
        volumeMounts: [{name: conf, mountPath: /etc/a}, {name: data, mountPath: /data}]
        resources: {limits: {memory: 1.5Gi}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {a: b}}
spec:
  ingressClassName: nginx
  rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop-web, port: {number: 80}}}}]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 50%, selector: {matchLabels: {app: shop-web}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa}
automountServiceAccountToken: false
imagePullSecrets: [{name: a}, {name: b}]
`

func reparsed(t testing.TB, o any) Object {
	t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(body))
}

// leaves are the pointers of the scalars below a value.
func leaves(v any, at string, out map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			leaves(e, at+"/"+strings.ReplaceAll(strings.ReplaceAll(k, "~", "~0"), "/", "~1"), out)
		}
	case []any:
		for i, e := range v {
			leaves(e, fmt.Sprintf("%s/%d", at, i), out)
		}
	default:
		out[at] = v
	}
}

// replaced sets the value at a pointer.
func replaced(v any, segments []string, to any) any {
	if len(segments) == 0 {
		return to
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		out[segments[0]] = replaced(v[segments[0]], segments[1:], to)
		return out
	case []any:
		out := slices.Clone(v)
		var i int
		_, _ = fmt.Sscan(segments[0], &i)
		out[i] = replaced(v[i], segments[1:], to)
		return out
	}
	return v
}

// Every declared leaf that lives as something else is found, and what makes a server
// of it again is nothing: the changes, made, leave no change.
func TestEveryLeafIsFound(t *testing.T) {
	c := New(Options{})
	n := 0
	for _, o := range declaredObjects(t) {
		same, err := c.compare(o, served(t, c, o), nil, nil)
		if err != nil || len(same.changes) > 0 || same.refused != "" {
			t.Errorf("%s against itself: %v %s", describe(o), err, show(same.changes))
		}
		all := map[string]any{}
		leaves(o, "", all)
		for pointer, v := range all {
			if pointer == "/apiVersion" || pointer == "/kind" || pointer == "/metadata/name" || pointer == "/metadata/namespace" {
				continue
			}
			to := mutated(pointer, v)
			live := replaced(o, segmentsOf(pointer), to).(Object)
			out, err := c.compare(o, live, nil, nil)
			if err != nil {
				if err.Error() == "the live object is none of its type" {
					continue // no server would have it
				}
				t.Errorf("%s %s: %v", describe(o), pointer, err)
				continue
			}
			if n++; len(out.changes) == 0 && out.refused == "" {
				t.Errorf("%s %s: %v lives as %v, and is not found", describe(o), pointer, v, to)
			}
			if out.refused != "" {
				continue
			}
			again, err := c.compare(o, out.merged, nil, nil)
			if err != nil || len(again.changes) > 0 {
				t.Errorf("%s %s: changes made, and again: %v %s", describe(o), pointer, err, show(again.changes))
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d leaves", n)
	}
}

func mutated(pointer string, v any) any {
	switch v := v.(type) {
	case string:
		switch {
		case strings.Contains(pointer, "/resources/") && !strings.Contains(pointer, "rules"):
			return "77M"
		case strings.HasPrefix(pointer, "/data/") && len(v) == 8:
			return base64.StdEncoding.EncodeToString([]byte("other"))
		}
		return v + "x"
	case int64:
		return v + 1
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return v
}

// served is an object as a server that has it answers.
func served(t testing.TB, c *Collector, o Object) Object {
	t.Helper()
	form, known, err := c.typeFor(text(o, "apiVersion"), text(o, "kind"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.form(o, form, known)
	if err != nil {
		t.Fatal(err)
	}
	defaulted(text(o, "kind"), out)
	return out
}

// What a server or a person writes in other words is no drift.
func TestOtherWordsAreNoDrift(t *testing.T) {
	c := New(Options{})
	for _, o := range declaredObjects(t) {
		for seed := range uint64(5) {
			live := shuffled(served(t, c, o), "", rand.New(rand.NewPCG(seed, 1))).(Object)
			live["status"] = Object{"phase": "x"}
			put(live, "uid", "metadata", "uid")
			if out, err := c.compare(o, live, nil, nil); err != nil || len(out.changes) > 0 {
				t.Errorf("%s: %v %s", describe(o), err, show(out.changes))
			}
		}
	}
}

// keyed are the lists whose order means nothing.
var keyed = []string{"containers", "ports", "env", "volumes", "volumeMounts"}

// shuffled is a value with its keyed lists in another order and quantities rewritten.
func shuffled(v any, name string, r *rand.Rand) any {
	switch v := v.(type) {
	case map[string]any:
		out := Object{}
		for k, e := range v {
			out[k] = shuffled(e, k, r)
			if k == "memory" && e == "1Gi" {
				out[k] = "1024Mi"
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = shuffled(e, "", r)
		}
		if slices.Contains(keyed, name) {
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		return out
	}
	return v
}

// Documents end at lines "---", and what is no object costs itself.
func TestDocuments(t *testing.T) {
	got := documents("a: |\n  x\n---\nb\n--- # c\nd\n----\n---x\n")
	if want := []string{"a: |\n  x\n", "b\n", "d\n----\n---x\n"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	for name, doc := range map[string]string{"bomb": bomb, "no YAML": "{{", "a list": "[1]", "no name": "kind: A\napiVersion: v1\n", "deep": strings.Repeat("[", 20000)} {
		var why []string
		objects := objectsOf("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n"+doc, func(w string) { why = append(why, w) })
		if len(objects) != 1 || len(why) != 1 || strings.Contains(why[0], "{{") {
			t.Errorf("%s: %d objects, %q", name, len(objects), why)
		}
	}
	var why []string
	many := strings.Repeat("---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n", maxDocuments+5)
	if objects := objectsOf(many, func(w string) { why = append(why, w) }); len(objects) != maxDocuments || len(why) != 1 {
		t.Errorf("%d objects, %q", len(objects), why)
	}
	list := objectsOf("kind: List\napiVersion: v1\nitems: [{kind: A, apiVersion: v1, metadata: {name: a}}, {kind: B, apiVersion: v1, metadata: {name: b}}]", func(w string) { t.Error(w) })
	if len(list) != 2 {
		t.Errorf("%d of a List", len(list))
	}
}

// A record that unpacks to more than its bound costs itself.
func TestGzipBomb(t *testing.T) {
	w := shop(t)
	var packed bytes.Buffer
	zeros(t, &packed, maxRecord+1)
	inner := base64.StdEncoding.EncodeToString(packed.Bytes())
	put(w[newestRecord], base64.StdEncoding.EncodeToString([]byte(inner)), "data", "release")
	if r := w.one(t); r.Reason != Unreadable || !strings.Contains(r.Message, "64 MiB") {
		t.Errorf("%+v", r)
	}
}

func zeros(t testing.TB, to io.Writer, n int64) {
	t.Helper()
	z := gzip.NewWriter(to)
	if _, err := io.CopyN(z, zero{}, n); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

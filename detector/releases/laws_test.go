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
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// kindsManifest declares an object of each built-in kind.
func kindsManifest(t testing.TB) string {
	t.Helper()
	body, err := os.ReadFile("testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return "\n---\n" + string(body)
}

// declaredObjects returns the desired objects of the lab's release and one of each kind, with its marks.
func declaredObjects(t testing.TB) []Object {
	t.Helper()
	var manifest string
	shop(t).edit(t, func(r Object) { manifest = text(r, "manifest") })
	var out []Object
	missing := maps.Clone(builtin)
	for _, o := range objectsOf(manifest+kindsManifest(t), func(why string) { t.Fatal(why) }) {
		id := text(o, "apiVersion") + " " + text(o, "kind")
		delete(missing, id)
		o = bare(o)
		if text(o, "kind") == "Secret" {
			folded(o)
		}
		if !builtin[id].cluster {
			o["metadata"].(Object)["namespace"] = "shop"
		}
		marked(o, "shop", "shop")
		out = append(out, reparsed(t, o))
	}
	if len(missing) > 0 {
		t.Errorf("no object of the kinds %q", sortedKeys(missing))
	}
	return out
}

func reparsed(t testing.TB, o any) Object {
	t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(body))
}

// leaves collects the pointers of the scalars below a value.
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
	if n < 500 {
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

// served returns an object as a server that has it answers.
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
			form, _, err := c.typeFor(text(o, "apiVersion"), text(o, "kind"))
			if err != nil {
				t.Fatal(err)
			}
			live := shuffled(served(t, c, o), form.TypeRef, form.Schema, rand.New(rand.NewPCG(seed, 1))).(Object)
			live["status"] = Object{"phase": "x"}
			put(live, "uid", "metadata", "uid")
			if out, err := c.compare(o, live, nil, nil); err != nil || len(out.changes) > 0 {
				t.Errorf("%s: %v %s", describe(o), err, show(out.changes))
			}
		}
	}
}

// others are quantities in other words.
var others = map[any]string{"1Gi": "1024Mi", "512Mi": "0.5Gi", "1536Mi": "1.5Gi", "1": "1000m", "250m": "0.25", "500m": "0.5"}

// shuffled returns a value with the lists whose order means nothing in another order, quantities
// rewritten, and what a server adds to pods and Services.
func shuffled(v any, of schema.TypeRef, s *schema.Schema, r *rand.Rand) any {
	a, _ := s.Resolve(of)
	switch v := v.(type) {
	case map[string]any:
		out := Object{}
		for k, e := range v {
			f, known := a.Map.FindField(k)
			if !known {
				f.Type = a.Map.ElementType
			}
			if out[k] = shuffled(e, f.Type, s, r); k == "memory" || k == "cpu" || k == "storage" {
				if other := others[e]; other != "" {
					out[k] = other
				}
			}
		}
		switch {
		case out["containers"] != nil:
			set(out, "dnsPolicy", "ClusterFirst")
			set(out, "terminationGracePeriodSeconds", int64(30))
		case out["image"] != nil:
			set(out, "terminationMessagePath", "/dev/termination-log")
			set(out, "imagePullPolicy", "IfNotPresent")
		case out["targetPort"] != nil:
			set(out, "nodePort", int64(30000))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = shuffled(e, a.List.ElementType, s, r)
		}
		if a.List.ElementRelationship == schema.Associative {
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

package oracle

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"drift-detector/detector/releases"
)

// applyingServer is a server whose dry runs are none: a dry run of controller-runtime's answers
// with the object as it was. Each object is applied once.
type applyingServer struct{ client.Client }

func (s applyingServer) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return s.Client.Patch(ctx, o, p, slices.DeleteFunc(slices.Clone(opts), func(opt client.PatchOption) bool { return opt == client.DryRunAll })...)
}

// generated is one object: what a manifest declares, and what lives after somebody's edit.
type generated struct {
	desired *unstructured.Unstructured
	live    *unstructured.Unstructured
	edit    string
}

// The server here has no defaults. The API server has these, inside of lists that an apply
// replaces as a whole; we have them, too.
var defaults = map[string]string{
	"/protocol": "TCP", "/scope": "*", "/fieldRef/apiVersion": "v1", "/serviceAccountToken/expirationSeconds": "3600",
	"/subjects/0/apiGroup": "rbac.authorization.k8s.io", "/subjects/1/apiGroup": "rbac.authorization.k8s.io", "/roleRef/apiGroup": "rbac.authorization.k8s.io",
	"/volumeClaimTemplates/0/apiVersion": "v1", "/volumeClaimTemplates/0/kind": "PersistentVolumeClaim", "/volumeClaimTemplates/0/spec/volumeMode": "Filesystem",
	"/divisor": "0", "/status": "True",
}

// explained are what else may differ: part of a kind, of the edit, from whom, and why.
var explained = []struct{ kind, edit, from, reason string }{
	{"ValidatingAdmissionPolicyBinding", "spec.validationActions", "helm", "an apply merges sets: what was added stays beside; Helm replaces such a list"},
	{"Service", "spec.ports", "flux", "an API server refuses two ports of one name, so we compare them by their names"},
	{"StatefulSet", "spec.volumeClaimTemplates", "flux", "with the defaults beside a change, one replacement is shorter"},
	{"", "s.0.name", "helm", "another name is another item: Helm puts its own before it, an apply behind"},
	{"Endpoints", "ports.0.name", "flux", "with the default beside the name, one replacement is shorter than two additions"},
	{"Job", "onPodConditions.0.status", "flux", "the type writes an empty status, which the API server makes True"},
}

const objectsOfTheOracle = 200

// Against 200 objects: helm-controller's library, which asks a server for a dry run, and
// the merge of Helm 3's upgrade. The server is controller-runtime's, which merges with the
// API server's code, and neither defaults nor validates.
func TestReleasesAsFluxAndHelmSeeThem(t *testing.T) {
	server := applyingServer{fake.NewClientBuilder().WithScheme(scheme.Scheme).WithReturnManagedFields().Build()}
	all := generate(t, server)
	ours := compared(t, all)
	used := map[int]bool{}
	same := 0
	differs := func(g generated, from, what string) {
		for i, e := range explained {
			if e.from == from && strings.Contains(g.desired.GetKind(), e.kind) && strings.Contains(g.edit, e.edit) {
				used[i] = true
				return
			}
		}
		t.Errorf("%s/%s, %s: %s", g.desired.GetKind(), g.desired.GetName(), g.edit, what)
	}
	for _, g := range all {
		o := ours[g.desired.GetKind()+"/"+g.desired.GetName()]
		masked := g.desired.GetKind() == "Secret"
		if flux, us := fluxPatch(t, server, g, masked), ourPatch(o, masked); flux != us {
			differs(g, "flux", "\nFlux "+flux+"\nwe   "+us)
			continue
		}
		if masked {
			continue // values of our patch are masked, so it can't be made
		}
		if helm, us := helmRepairs(t, g), weRepair(t, g, o); helm != us {
			i := 0
			for i < min(len(helm), len(us)) && helm[i] == us[i] {
				i++
			}
			differs(g, "helm", "\nHelm …"+helm[max(0, i-80):]+"\nwe   …"+us[max(0, i-80):])
			continue
		}
		same++
	}
	for i, e := range explained {
		if !used[i] {
			t.Errorf("no object of kind %q and edit %q differs", e.kind, e.edit)
		}
	}
	if t.Logf("%d of %d objects are seen the same", same, len(all)); same < 180 {
		t.Error("too few objects are compared")
	}
}

// generate makes objects of all built-in kinds; of five, four are edited.
func generate(t *testing.T, server client.Client) []generated {
	t.Helper()
	manifest, err := os.ReadFile("../../detector/releases/testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Split(string(manifest), "\n---\n")
	var all []generated
	for i := range objectsOfTheOracle {
		r := rand.New(rand.NewPCG(uint64(i), 14))
		desired := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(docs[i%len(docs)]), &desired.Object); err != nil {
			t.Fatal(err)
		}
		desired.SetName(fmt.Sprintf("%s-%d", desired.GetName(), i))
		if namespaced(desired) {
			desired.SetNamespace("shop")
		}
		born := desired.DeepCopy()
		marked(t, born)
		if err := server.Create(t.Context(), born, client.FieldOwner("helm")); err != nil {
			t.Fatal(err)
		}
		g := generated{desired: desired, edit: "untouched"}
		for tries := 0; i%5 > 0 && tries < 50; tries++ {
			edited := read(t, server, desired)
			edit := mutate(edited.Object, r)
			if edit != "" && possible(edited.Object) && server.Update(t.Context(), edited, client.FieldOwner("kubectl-edit")) == nil {
				g.edit = edit
				break
			}
		}
		g.live = read(t, server, desired)
		all = append(all, g)
	}
	return all
}

// possible reports whether an API server would have an object: it requires what is empty here.
func possible(o map[string]any) bool {
	typed, err := scheme.Scheme.New((&unstructured.Unstructured{Object: o}).GroupVersionKind())
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(o, typed) != nil {
		return false
	}
	body, err := json.Marshal(typed)
	return err == nil && !bytes.Contains(body, []byte(`":null`)) && strings.Count(string(body), `:""`) == strings.Count(string(body), `"empty":""`)
}

func read(t *testing.T, server client.Client, like *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(like.GroupVersionKind())
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(like), o); err != nil {
		t.Fatal(err)
	}
	return o
}

var global = []string{"PersistentVolume", "Namespace", "ClusterRole", "ClusterRoleBinding", "IngressClass", "PriorityClass", "StorageClass", "CSIDriver", "VolumeAttributesClass", "RuntimeClass", "FlowSchema", "PriorityLevelConfiguration", "CertificateSigningRequest"}

func namespaced(o *unstructured.Unstructured) bool {
	return !slices.Contains(global, o.GetKind()) && !strings.HasPrefix(o.GetAPIVersion(), "admissionregistration")
}

// marked adds what Helm adds, and helm-controller for its comparison, and the form that it compares.
func marked(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if err := normalize.UnstructuredList([]*unstructured.Unstructured{o}); err != nil {
		t.Fatal(err)
	}
	with := func(m map[string]string, more ...string) map[string]string {
		if m = maps.Clone(m); m == nil {
			m = map[string]string{}
		}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	o.SetLabels(with(o.GetLabels(), "app.kubernetes.io/managed-by", "Helm"))
	o.SetAnnotations(with(o.GetAnnotations(), "meta.helm.sh/release-name", "shop", "meta.helm.sh/release-namespace", "shop"))
}

// mutate changes one thing of a live object, and says what; or returns "".
func mutate(o map[string]any, r *rand.Rand) string {
	path := "metadata.labels"
	var at any = o["metadata"].(map[string]any)["labels"]
	if r.IntN(5) > 0 {
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(o)), func(k string) bool {
			return k == "metadata" || k == "apiVersion" || k == "kind" || k == "status"
		})
		if len(keys) == 0 {
			return ""
		}
		path = keys[r.IntN(len(keys))]
		at = o[path]
		if !container(at) {
			o[path] = other(at)
			return "change " + path
		}
	}
	for {
		switch v := at.(type) {
		case map[string]any:
			keys := slices.Sorted(maps.Keys(v))
			if len(keys) == 0 {
				return ""
			}
			k := keys[r.IntN(len(keys))]
			switch {
			case container(v[k]) && r.IntN(6) > 0:
				path, at = path+"."+k, v[k]
			case r.IntN(4) == 0:
				delete(v, k)
				return "delete " + path + "." + k
			case r.IntN(4) == 0 && allStrings(v):
				v["by-hand"] = "x"
				return "add " + path + ".by-hand"
			case container(v[k]):
				return ""
			default:
				v[k] = other(v[k])
				return "change " + path + "." + k
			}
		case []any:
			if len(v) == 0 {
				return ""
			}
			i := r.IntN(len(v))
			if !container(v[i]) {
				v[i] = other(v[i])
				return fmt.Sprintf("change %s.%d", path, i)
			}
			path, at = fmt.Sprintf("%s.%d", path, i), v[i]
		default:
			return ""
		}
	}
}

func container(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

func allStrings(m map[string]any) bool {
	for _, v := range m {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

func other(v any) any {
	switch v := v.(type) {
	case string:
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

// compared returns what drift-detector finds, by kind and name.
func compared(t *testing.T, all []generated) map[string]*releases.Compared {
	t.Helper()
	var manifest bytes.Buffer
	for _, g := range all {
		body, err := json.Marshal(g.desired)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&manifest, "---\n%s\n", body)
	}
	record, err := json.Marshal(map[string]any{"name": "shop", "version": 1, "info": map[string]any{"status": "deployed"}, "manifest": manifest.String()})
	if err != nil {
		t.Fatal(err)
	}
	data := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(record)))
	secret := fmt.Sprintf(`{"kind":"Secret","type":"helm.sh/release.v1","metadata":{"name":"sh.helm.release.v1.shop.v1","namespace":"shop","labels":{"owner":"helm"}},"data":{"release":%q}}`, data)
	c := releases.New(releases.Options{})
	c.First("secrets", "shop")
	c.Read("secrets", []byte(secret))
	c.Plan(nil)
	for _, g := range all {
		body, err := json.Marshal(g.live)
		if err != nil {
			t.Fatal(err)
		}
		resource, _ := meta.UnsafeGuessKindToResource(g.live.GroupVersionKind())
		c.See(resource.GroupResource().String(), "", g.live.GetNamespace(), g.live.GetName(), body)
	}
	found := c.Result()
	if len(found.Releases) != 1 || len(found.Problems) > 0 {
		t.Fatalf("%+v", found)
	}
	out := map[string]*releases.Compared{}
	for _, o := range found.Releases[0].Objects {
		if o.Verdict != releases.Changed && o.Verdict != releases.Unchanged {
			t.Errorf("%s: %s %s", o.Subject(), o.Verdict, o.Message)
		}
		out[o.Kind+"/"+o.Name] = o
	}
	return out
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
	Old   any    `json:"old,omitempty"`
}

func printedPatch(ops []operation, masked bool) string {
	slices.SortStableFunc(ops, func(a, b operation) int { return strings.Compare(a.Path+a.Op, b.Path+b.Op) })
	for i := range ops {
		ops[i].Value, ops[i].Old = withoutDefaults(ops[i].Value, ops[i].Path), withoutDefaults(ops[i].Old, ops[i].Path)
		if masked {
			ops[i].Value, ops[i].Old = nil, nil
		}
	}
	body, _ := json.Marshal(ops)
	return string(body)
}

func fluxPatch(t *testing.T, server client.Client, g generated, masked bool) string {
	t.Helper()
	desired := g.desired.DeepCopy()
	marked(t, desired)
	diff, err := jsondiff.Unstructured(t.Context(), server, desired, jsondiff.FieldOwner("helm-controller"), jsondiff.Rationalize(true))
	if err != nil {
		return err.Error()
	}
	var ops []operation
	for _, o := range diff.Patch {
		ops = append(ops, operation{o.Type, o.Path, o.Value, o.OldValue})
	}
	return printedPatch(ops, masked)
}

func ourPatch(o *releases.Compared, masked bool) string {
	var ops []operation
	if o != nil {
		for _, c := range o.Patch {
			if !c.Unseen && !isDefault(c) {
				ops = append(ops, operation{c.Op, c.Pointer, c.Desired, c.Live})
			}
		}
	}
	return printedPatch(ops, masked)
}

// isDefault reports whether a change is one that the server here does not make.
func isDefault(c releases.Change) bool {
	for suffix, v := range defaults {
		if c.Op == "add" && strings.HasSuffix(c.Pointer, suffix) && (fmt.Sprint(c.Desired) == v || suffix == "/status" && c.Desired == "") { // Go's type writes ""
			return true
		}
	}
	return false
}

// withoutDefaults takes the server's defaults out of a value.
func withoutDefaults(v any, at string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if isDefault(releases.Change{Op: "add", Pointer: at + "/" + k, Desired: e}) {
				delete(v, k)
				continue
			}
			withoutDefaults(e, at+"/"+k)
		}
	case []any:
		for i, e := range v {
			withoutDefaults(e, fmt.Sprintf("%s/%d", at, i))
		}
	}
	return v
}

// helmRepairs returns the live object after Helm 3's upgrade with the same chart and values
// (pkg/kube/client.go: createPatch), as the API server would write it.
func helmRepairs(t *testing.T, g generated) string {
	t.Helper()
	desired := g.desired.DeepCopy()
	raw := desired.DeepCopy()
	marked(t, desired)
	raw.SetLabels(desired.GetLabels())
	raw.SetAnnotations(desired.GetAnnotations())
	declared, _ := json.Marshal(raw)
	live, _ := json.Marshal(g.live)
	typed, err := scheme.Scheme.New(g.desired.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	lists, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(declared, declared, live, lists, true)
	if err != nil {
		return err.Error()
	}
	after, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, lists)
	if err != nil {
		return err.Error()
	}
	return canonical(t, g, after)
}

// weRepair returns the live object with our patch made.
func weRepair(t *testing.T, g generated, o *releases.Compared) string {
	t.Helper()
	live, _ := json.Marshal(g.live)
	if o == nil || len(o.Patch) == 0 {
		return canonical(t, g, live)
	}
	var ops []operation
	for _, c := range o.Patch {
		ops = append(ops, operation{Op: c.Op, Path: c.Pointer, Value: c.Desired})
	}
	body, _ := json.Marshal(ops)
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(live)
	if err != nil {
		return err.Error()
	}
	return canonical(t, g, after)
}

func canonical(t *testing.T, g generated, body []byte) string {
	t.Helper()
	typed, err := scheme.Scheme.New(g.desired.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, typed); err != nil {
		return err.Error()
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return err.Error()
	}
	delete(out["metadata"].(map[string]any), "managedFields")
	withoutDefaults(out, "")
	body, _ = json.Marshal(out)
	return string(body)
}

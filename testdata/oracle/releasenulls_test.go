package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// filled are the fields that the API server gives a default where a merge takes them away: the
// merge here leaves them empty, and we do not. In a selector, which is replaced as a whole, a
// null is an empty string here, and nothing with us.
var filled = []string{
	".replicas", ".minReplicas", ".revisionHistoryLimit", ".backoffLimit", ".restartPolicy", ".concurrencyPolicy", ".suspend", ".podManagementPolicy",
	".strategy.type", ".updateStrategy.type", ".rollingUpdate", ".maxSurge", ".maxUnavailable", ".sessionAffinity", "spec.type", ".policyTypes",
	".persistentVolumeReclaimPolicy", ".reclaimPolicy", ".volumeBindingMode", ".preemptionPolicy", ".podInfoOnMount", ".attachRequired",
	".failurePolicy", ".timeoutSeconds", ".reinvocationPolicy", ".matchPolicy", ".objectSelector", ".roleRef.apiGroup",
	".matchingPrecedence", ".nominalConcurrencyShares", ".handSize", ".targetCPUUtilizationPercentage", ".parameters.scope", ".lendablePercent", ".default", ".defaultRequest", ".cpu", ".memory", ".matchLabels.app",
}

// Helm 3's merge takes away what a manifest has as null: so do our patches, field by field,
// of objects of all built-in kinds.
func TestNullsAsHelmSeesThem(t *testing.T) {
	manifest, err := os.ReadFile("../../detector/releases/testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Split(string(manifest), "\n---\n")
	var all []generated
	for i := range 3 * objectsOfTheOracle {
		if strings.Contains(docs[i%len(docs)], "kind: Secret") {
			continue // our patch has no values
		}
		g := generated{desired: &unstructured.Unstructured{}}
		if err := yaml.Unmarshal([]byte(docs[i%len(docs)]), &g.desired.Object); err != nil {
			t.Fatal(err)
		}
		g.desired.SetName(fmt.Sprintf("%s-%d", g.desired.GetName(), i))
		if namespaced(g.desired) {
			g.desired.SetNamespace("shop")
		}
		g.live = g.desired.DeepCopy()
		marked(t, g.live)
		if g.edit = nullify(g.desired.Object, rand.New(rand.NewPCG(uint64(i), 15))); g.edit != "" {
			all = append(all, g)
		}
	}
	ours := compared(t, all)
	same, used := 0, map[string]bool{}
	for _, g := range all {
		o := ours[g.desired.GetKind()+"/"+g.desired.GetName()]
		helm, us := helmRepairs(t, g), weRepair(t, g, o)
		if helm == us {
			same++
			continue
		}
		at := slices.IndexFunc(filled, func(f string) bool { return strings.HasSuffix(g.edit, f) })
		if at < 0 {
			i := 0
			for i < min(len(helm), len(us)) && helm[i] == us[i] {
				i++
			}
			t.Errorf("%s, %s:\nHelm …%s\nwe   …%s", g.desired.GetKind(), g.edit, helm[max(0, i-60):min(len(helm), i+200)], us[max(0, i-60):min(len(us), i+200)])
			continue
		}
		used[filled[at]] = true
	}
	for _, f := range filled {
		if !used[f] {
			t.Errorf("%s is not filled", f)
		}
	}
	if t.Logf("%d of %d nulls are seen the same", same, len(all)); same < 300 {
		t.Error("too few")
	}
}

// nullify makes null of one thing that an object declares, and says of which; or returns "".
func nullify(o map[string]any, r *rand.Rand) string {
	path, at := "", any(o)
	for {
		switch v := at.(type) {
		case map[string]any:
			keys := slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(k string) bool {
				return path == "" && (k == "metadata" || k == "apiVersion" || k == "kind") || k == "name" || k == "containerPort" || k == "port"
			})
			if len(keys) == 0 {
				return ""
			}
			k := keys[r.IntN(len(keys))]
			if path += "." + k; container(v[k]) && (path == ".spec" || r.IntN(4) > 0) {
				at = v[k]
				continue
			}
			v[k] = nil
			return path
		case []any:
			if len(v) == 0 || !container(v[0]) {
				return ""
			}
			at = v[r.IntN(len(v))]
		default:
			return ""
		}
	}
}

package oracle

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The selector with which a plan leaves clusters out is one that Velero's own command line takes,
// also in rows, and what has no label of a cluster is restored (pkg/cmd/util/flag/labelselector.go
// and pkg/restore/restore.go v1.18.3 parse and match with these functions).
func TestVeleroTakesTheSelector(t *testing.T) {
	for _, text := range []string{
		"cluster.x-k8s.io/cluster-name notin (alpha-dev)",
		"cluster.x-k8s.io/cluster-name notin (" + strings.Repeat("other,\n    ", 20) + "alpha-dev)",
	} {
		parsed, err := metav1.ParseToLabelSelector(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		selector, err := metav1.LabelSelectorAsSelector(parsed)
		if err != nil {
			t.Fatal(err)
		}
		for set, want := range map[string]bool{"": true, "alpha-dev": false, "alpha-prod": true, "other": !strings.Contains(text, "other")} {
			all := labels.Set{"app": "x"}
			if set != "" {
				all["cluster.x-k8s.io/cluster-name"] = set
			}
			if selector.Matches(all) != want {
				t.Errorf("%q: cluster %q is restored: %v", text, set, !want)
			}
		}
	}
}

package match

import (
	"testing"
	"time"

	"drift-detector/infra"
)

// A Node runs on the instance whose key it has. An empty key, which an inventory may hold, says
// nothing of either.
func TestNodesOnInstances(t *testing.T) {
	for k, want := range map[infra.Key]int{key("a", "1"): 1, {}: 0} {
		n := indexNodes([]infra.Listing{{Nodes: []infra.Node{{Name: "n", Keys: []infra.Key{k}}}}}, time.Time{})
		if got := n.on(&VM{Instance: &infra.Instance{Keys: []infra.Key{k}}}); len(got) != want {
			t.Errorf("of key %q %d Nodes are on the instance, want %d", k, len(got), want)
		}
	}
}

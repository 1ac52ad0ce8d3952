package rehearsal

import (
	"fmt"
	"testing"
)

// Velero adds labels to all objects, and clusterctl to none; the uid is another after both.
func TestPatchesOfAMovedCluster(t *testing.T) {
	const text = `[{"name": "p", "definitions": [{"jsonPatches": [{"valueFrom": {"variable": "builtin.cluster.%s"}}]}]}]`
	for member, want := range map[string][2]bool{"metadata.labels": {true, false}, "uid": {true, true}, "name": {false, false}} {
		for i, moved := range []bool{false, true} {
			if got := patchesIn(fmt.Sprintf(text, member), moved).reads != ""; got != want[i] {
				t.Errorf("builtin.cluster.%s, moved %t: changed by a restore %t, want %t", member, moved, got, want[i])
			}
		}
	}
}

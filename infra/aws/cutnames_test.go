package aws

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
)

// Of a name of 63 characters Cluster API cuts the MachineSet's suffix, too: it is
// still one that the MachineDeployment gives, as on vSphere.
func TestAMachineSetsSuffixThatIsCut(t *testing.T) {
	long := strings.Repeat("a", 55)
	keys := markedKeys("prod", roleNode, "vpc-1", "ns/"+long+"-bc24567", "")
	want := infra.Key{Kind: keyOwnedNSStem2, Value: infra.Join("prod", roleNode, "vpc-1", "ns", long)}
	if !slices.Contains(keys, want) {
		t.Errorf("%v lacks %v", keys, want)
	}
}

package vsphere

import (
	"strings"
	"testing"
)

func TestPermissionsNamePrivilegesAndReasons(t *testing.T) {
	for _, want := range []string{"System.View", "System.Read", "System.Anonymous", "Propagate", "VisibilityUnproven", "InstanceUnreadable"} {
		if !strings.Contains(role, want) {
			t.Errorf("the document does not speak of %s", want)
		}
	}
}

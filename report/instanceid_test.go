package report

import "testing"

// Ids of instances are told from each other: in Azure a name is none.
func TestInstanceID(t *testing.T) {
	for id, want := range map[string]string{
		"": "", "i-1": "i-1", "aws:///us-east-1a/i-0Ab": "i-0ab", "vsphere://42-A": "42-a",
		"azure:///subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/N": "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachines/n",
		"/subscriptions/s/resourcegroups/g/x/virtualmachinescalesets/p/virtualmachines/0":         "/subscriptions/s/resourcegroups/g/x/virtualmachinescalesets/p/virtualmachines/0",
	} {
		if got := InstanceID(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

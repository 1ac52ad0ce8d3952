package vsphere

import (
	"slices"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
)

// A machine of the backup is found by keys that its VM has, and tied to its cluster by
// those that the VM's own metadata adds.
func TestAVMHasTheKeysOfItsMachine(t *testing.T) {
	const folder, endpoint = "vc1.example:443/DC0/vm/prod", "10.0.0.9:6443"
	m := expectedMachine(t, vspheretest.NewBackup())
	vm := VM{
		UUID: vspheretest.UUID1, InstanceUUID: vspheretest.VMUID, Ref: "vm-136", Name: "prod-vm-1",
		Files: []string{"prod-vm-1"}, Datacenters: []string{"DC0"}, Folders: []string{folder},
	}
	i := infra.Instance{Name: vm.Name, Keys: vm.Keys()}
	found := slices.Concat([]infra.Key{m.Strong, m.Identity, m.Ref, m.Home.Within}, m.Weak, m.Names, m.Witness)
	for _, k := range append(found, infra.Key{Kind: keyVMX, Value: vm.Name}, infra.Key{Kind: KeyFolder, Value: folder}) {
		if !i.HasKey(k) {
			t.Errorf("the VM lacks %s of its machine: %s", k, keyTexts(i.Keys))
		}
	}
	Guest{Metadata: true, Host: "PROD-VM-1.example", Endpoint: endpoint}.AddTo(&i)
	joins := expectedJoins(endpoint, nil)[0]
	for _, k := range append(slices.Clone(m.Hosts), ownName, joins, endpointKey(folder, joins)) {
		if !i.HasKey(k) {
			t.Errorf("metadata does not give it %s: %s", k, keyTexts(i.Keys))
		}
	}
	other := infra.Instance{Name: vm.Name, Keys: vm.Keys()}
	Guest{Metadata: true, Host: "another", Endpoint: endpoint}.AddTo(&other)
	if other.HasKey(ownName) || other.HasKey(endpointKey(folder, joins)) || !other.HasKey(hostKey("another")) {
		t.Errorf("metadata of another name ties it: %s", keyTexts(other.Keys))
	}
}

// One of which nothing was read may be any machine's.
func TestAVMThatWasNotReadIsNameless(t *testing.T) {
	if keys := (VM{Unreadable: true}).Keys(); !slices.Equal(keys, []infra.Key{nameless}) {
		t.Errorf("it has %v", keys)
	}
	above := VM{Name: "web", Unreadable: true, Above: []string{"f"}}.Keys()
	if slices.Contains(above, nameless) || !slices.Contains(above, infra.Key{Kind: keyBelow, Value: "f"}) {
		t.Errorf("one with a name has %v", above)
	}
}

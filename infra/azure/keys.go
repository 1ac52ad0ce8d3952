package azure

import (
	"slices"
	"time"

	"drift-detector/infra"
)

// Kinds of keys, see the package documentation.
var (
	keyInstance = infra.KeyKindOf("instance")
	keyHardware = infra.KeyKindOf("vmId")
	keyVM       = infra.KeyKindOf("vm")
	keyName     = infra.KeyKindOf("name")
	keyPlace    = infra.KeyKindOf("group+name")
	keyMade     = infra.KeyKindOf("cluster+name")
	keyGroup    = infra.KeyKindOf("group")
	KeyPool     = infra.KeyKindOf("scaleSet")
	keyLostPool = infra.KeyKindOf("lostPool")
	keyRole     = infra.KeyKindOf("cluster+role")
	keyStem1    = infra.KeyKindOf("cluster+stem1")
	keyStem2    = infra.KeyKindOf("cluster+stem2")
	keyNear1    = infra.KeyKindOf("group+near1")
	keyNear2    = infra.KeyKindOf("group+near2")
	keyLike1    = infra.KeyKindOf("like1")
	keyLike2    = infra.KeyKindOf("like2")
	keyMark     = infra.KeyKindOf("mark")
	// Probes.
	keyAnswered = infra.KeyKindOf("groupAnswer")
	KeyResource = infra.KeyKindOf("resource")
)

// instanceKey returns the key of one VM: an ARM id is made of names, and a VM that was deleted and
// created again has the same. VMs have vmId, which Azure gives once and their firmware shows
// (properties.vmId in armcompute v7.3.0 models.go: "encoded and stored in all Azure IaaS VMs
// SMBIOS"), so that a kubelet reports it as systemUUID.
func instanceKey(vm, vmID string) infra.Key {
	if vm == "" {
		return infra.Key{}
	}
	if vmID != "" {
		vm += "#" + vmID
	}
	return infra.Key{Kind: keyInstance, Value: vm}
}

// KeysOf returns those keys of a VM that any list of VMs shows: of its id, its name and its tags, and
// of the scale sets that it is a member of.
func KeysOf(id ID, name string, tags map[string]string, sets []string) []infra.Key {
	keys := []infra.Key{{Kind: keyVM, Value: id.Text}, {Kind: keyGroup, Value: id.GroupID()}}
	keys = append(keys, ownerKeys(id.GroupID(), name, tags)...)
	if id.Kind == KindVM {
		keys = append(keys, infra.Key{Kind: keyName, Value: id.Name}, infra.Key{Kind: keyPlace, Value: within(id.GroupID(), id.Name)})
	}
	sets = slices.Sorted(slices.Values(sets))
	for _, set := range slices.Compact(sets) {
		keys = append(keys, infra.Key{Kind: KeyPool, Value: set})
	}
	return keys
}

// OwnKeys returns those of the VM itself. The ARM id alone is one only of a VM that was there
// when the backup was written which records it.
func (s *Seek) OwnKeys(vm, vmID string, created time.Time) []infra.Key {
	keys := []infra.Key{instanceKey(vm, vmID), {Kind: keyHardware, Value: vmID}}
	if other := swapped(vmID); other != vmID {
		keys = append(keys, instanceKey(vm, other), infra.Key{Kind: keyHardware, Value: other})
	}
	if written, known := s.VMs[vm]; known && !written.IsZero() && !created.After(written.Add(ClockSkew)) {
		keys = append(keys, instanceKey(vm, ""))
	}
	return keys
}

// ClockSkew is how far the clocks of Azure and of who wrote the backup may be apart.
const ClockSkew = 5 * time.Minute

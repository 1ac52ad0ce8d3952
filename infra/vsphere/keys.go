package vsphere

import (
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/vsphere/govc"
)

// Kinds of keys that a listing is asked for, see the package documentation.
var (
	KeyFolder    = infra.KeyKindOf("folder")
	KeyPool      = infra.KeyKindOf("resourcePool")
	KeyDatastore = infra.KeyKindOf("datastore")
	KeyNetwork   = infra.KeyKindOf("network")
	KeyTemplate  = infra.KeyKindOf("template")
	KeyInhabited = infra.KeyKindOf("vmInFolder")
	KeyRead      = infra.KeyKindOf("metadataInFolder")
	keyKnown     = infra.KeyKindOf("vmOfBackup")
)

// Kinds of keys that VMs have.
var (
	keyBIOS       = infra.KeyKindOf("biosUUID")
	keyInstance   = infra.KeyKindOf("instanceUUID")
	keyRef        = infra.KeyKindOf("vmRef")
	keyName       = infra.KeyKindOf("name")
	keyVMX        = infra.KeyKindOf("vmxFolder")
	keyDatacenter = infra.KeyKindOf("datacenter")
	keyPath       = infra.KeyKindOf("path")
	keyPathRef    = infra.KeyKindOf("path+vmRef")
	keyStem1      = infra.KeyKindOf("stem1")
	keyStem2      = infra.KeyKindOf("stem2")
	keyEndpoint   = infra.KeyKindOf("endpoint+ownhost")
	keyHost       = infra.KeyKindOf("host")
	keyNamed      = infra.KeyKindOf("namedInMetadata") // whether CAPV's metadata on a VM gives it its name
	keyAlias      = infra.KeyKindOf("alias")
	keyWitness    = infra.KeyKindOf("folder+name")
	keyWithin     = infra.KeyKindOf("folder+withinName")
	keyOrdinal    = infra.KeyKindOf("ordinal")
	keyNamedAfter = infra.KeyKindOf("namedAfter")
	keyBelow      = infra.KeyKindOf("belowFolder")
	keyUnreadable = infra.KeyKindOf("unreadable")
)

// ownName is a key of VMs whose own metadata gives them the name that they have.
var ownName = infra.Key{Kind: keyNamed, Value: "itself"}

// MetadataUnread is a key of VMs whose own metadata could not be read.
var MetadataUnread = infra.Key{Kind: keyNamed, Value: "unread"}

// nameless is a key of VMs of which not even the name could be read.
var nameless = infra.Key{Kind: keyUnreadable, Value: "nameless"}

// VM is what its keys are made of, in the forms of the backup. What a listing does not know
// is empty.
type VM struct {
	UUID, InstanceUUID string
	Ref                string // managed object id
	Name               string
	Files              []string // file name and last folder of its vmx path
	Datacenters        []string // names, paths and managed object ids of its datacenter, or of those that it may be in
	Folders            []string // forms of its folder
	Above              []string // forms of the backup's folders that it is below
	Unreadable         bool
}

// Keys returns what machines of the backup are found by, see the package documentation.
func (v VM) Keys() []infra.Key {
	var keys []infra.Key
	add := func(kind infra.KeyKind, values ...string) {
		for _, value := range values {
			if value != "" {
				keys = append(keys, infra.Key{Kind: kind, Value: value})
			}
		}
	}
	add(keyBIOS, v.UUID)
	add(keyInstance, v.InstanceUUID)
	add(keyRef, v.Ref)
	add(keyName, v.Name)
	add(keyVMX, v.Files...)
	add(keyDatacenter, v.Datacenters...)
	for _, f := range v.Folders {
		keys = append(keys, FolderKeys(f, v.Name, v.Ref)...)
	}
	add(keyBelow, v.Above...)
	if v.Name != "" {
		keys = append(keys, nameKeys(v.Name)...)
	}
	if v.Unreadable && v.Name == "" {
		keys = append(keys, nameless)
	}
	return keys
}

// UUID returns the UUID in lower case, or empty when s is none. CAPV's own pattern
// ignores case (pkg/util/machines.go v1.16.1).
func UUID(s string) string {
	if s = strings.TrimSpace(s); !govc.IsUUID(s) {
		return ""
	}
	return strings.ToLower(s)
}

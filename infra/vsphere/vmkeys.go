package vsphere

import "drift-detector/infra"

// VM is what the keys of one are made of, in the forms of the backup. What a listing
// does not know is empty.
type VM struct {
	uuid, instanceUUID string
	ref                string // managed object id
	name               string
	files              []string // file name and last folder of its vmx path
	datacenters        []string // names, paths and managed object ids of its datacenter, or of those that it may be in
	folders            []string // forms of its folder
	above              []string // forms of the backup's folders that it is below
	unreadable         bool
}

// keys returns what machines of the backup are found by, see the package documentation.
func (v VM) keys() []infra.Key {
	var keys []infra.Key
	add := func(kind infra.KeyKind, values ...string) {
		for _, value := range values {
			if value != "" {
				keys = append(keys, infra.Key{Kind: kind, Value: value})
			}
		}
	}
	add(keyBIOS, v.uuid)
	add(keyInstance, v.instanceUUID)
	add(keyRef, v.ref)
	add(keyName, v.name)
	add(keyVMX, v.files...)
	add(keyDatacenter, v.datacenters...)
	for _, f := range v.folders {
		keys = append(keys, folderKeys(f, v.name, v.ref)...)
	}
	add(keyBelow, v.above...)
	if v.name != "" {
		keys = append(keys, nameKeys(v.name)...)
	}
	if v.unreadable && v.name == "" {
		keys = append(keys, nameless)
	}
	return keys
}

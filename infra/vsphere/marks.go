package vsphere

import (
	"slices"
	"strconv"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
)

// This file is how a VM shows that it has a name of the backup, in its own name or in
// the host name of its metadata, in any case, with a domain behind it, in any folder.

// anywhere stands for the folder in keys of names that count wherever a VM is.
const anywhere = "*"

// aliases returns the forms in which a name is compared: in lower case, with its domain
// and without.
func aliases(name string) []string {
	name = strings.ToLower(name)
	if label, _, ok := strings.Cut(name, "."); ok && label != "" {
		return []string{name, label}
	}
	return []string{name}
}

func aliasKey(name string) infra.Key {
	return infra.Key{Kind: keyAlias, Value: strings.ToLower(name)}
}

func hostKey(name string) infra.Key {
	return infra.Key{Kind: keyHost, Value: strings.ToLower(name)}
}

// witnessKey returns a key of VMs that are in the folder and have the name, by themselves
// or by their metadata.
func witnessKey(folder, name string) infra.Key {
	return infra.Key{Kind: keyWitness, Value: folder + "/" + strings.ToLower(Component(name))}
}

// withinKey returns a key of VMs that are in the folder, could not be read, and have the
// name within their own: their metadata may give it to them.
func withinKey(folder, name string) infra.Key {
	return infra.Key{Kind: keyWithin, Value: folder + "/" + strings.ToLower(Component(name))}
}

// named returns the keys of a name that count in a folder, or anywhere.
func named(folder, name string) []infra.Key {
	keys := stems(folder, name)
	if at := ordinal.FindStringIndex(name); at != nil && at[0] > 0 {
		keys = append(keys, infra.Key{Kind: keyOrdinal, Value: folder + "/" + name[:at[0]]})
	}
	return keys
}

// ordinal ends the name of a machine that a K0sControlPlane made: NAME-0, NAME-1 …
// (k0smotron internal/controller/controlplane v1.5).
var ordinal = lazyregexp.New(`-[0-9]{1,3}$`)

// nameKeys returns the keys of a VM's own name that do not depend on its folder.
func nameKeys(name string) []infra.Key {
	var keys []infra.Key
	for _, a := range aliases(name) {
		keys = append(keys, aliasKey(a))
		keys = append(keys, named(anywhere, a)...)
	}
	return keys
}

// hostKeys returns the keys of the host name in a VM's metadata.
func hostKeys(i *infra.Instance, host string) []infra.Key {
	var keys []infra.Key
	for _, a := range aliases(host) {
		keys = append(keys, hostKey(a))
		keys = append(keys, named(anywhere, a)...)
		for _, k := range i.Keys {
			if k.Kind == KeyFolder {
				keys = append(keys, witnessKey(k.Value, a))
			}
		}
	}
	return slices.DeleteFunc(keys, i.HasKey)
}

// FolderKeys returns the keys of a VM that is in a folder of a form.
func FolderKeys(folder, name, ref string) []infra.Key {
	keys := []infra.Key{{Kind: KeyFolder, Value: folder}}
	if name == "" {
		return keys
	}
	keys = append(keys, pathKey(folder, name), pathRefKey(folder, name, ref))
	for _, a := range aliases(name) {
		keys = append(keys, witnessKey(folder, a))
	}
	return append(keys, named(folder, name)...)
}

// marks are what makes the own metadata of a VM worth a look, wherever it is: the
// names of the backup's machines, and what the names of their owners' VMs look like.
type marks struct {
	keys     map[infra.Key]bool
	patterns infra.Patterns
	// machines are the clusters of machines by the names of their VMs in lower case.
	machines map[string]backup.ClusterID
}

// minName is how long a machine's name must be to be looked for within other names.
const minName = 8

func (objs *objects) marks() *marks {
	m := &marks{keys: map[infra.Key]bool{}, machines: map[string]backup.ClusterID{}}
	for _, t := range objs.ownershipHints() {
		switch {
		case t.Grade != infra.NameOnly:
		case t.Pattern != nil:
			m.patterns.Add(t.Pattern.Name)
		default:
			m.keys[t.Key] = true
		}
	}
	for i := range objs.members {
		name := strings.ToLower(objs.members[i].name)
		if _, taken := m.machines[name]; !taken && len(name) >= minName {
			m.machines[name] = objs.members[i].cluster
		}
	}
	return m
}

// Note adds to a VM that a machine's name is part of its own, and reports whether it
// has a name of the backup.
func (r *RecordedMachines) Note(i *infra.Instance) bool {
	m := r.marks
	if m == nil {
		return false
	}
	marked := slices.ContainsFunc(i.Keys, func(k infra.Key) bool { return m.keys[k] })
	for _, name := range m.within(strings.ToLower(i.Name)) {
		keys := []infra.Key{namedAfterKey(m.machines[name])}
		for _, k := range i.Keys {
			if i.Unreadable && k.Kind == KeyFolder {
				keys = append(keys, withinKey(k.Value, name))
			}
		}
		i.Keys = append(i.Keys, slices.DeleteFunc(keys, i.HasKey)...)
		marked = true
	}
	return marked || len(m.patterns.Matching(i.Name)) > 0
}

// within returns the machines' names that are whole words of a name.
func (m *marks) within(name string) []string {
	starts, ends := []int{0}, []int{}
	for at, c := range name {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			starts, ends = append(starts, at+1), append(ends, at)
		}
	}
	ends = append(ends, len(name))
	var found []string
	for _, from := range starts {
		for _, to := range ends {
			if to-from < minName {
				continue
			}
			if _, known := m.machines[name[from:to]]; known && !slices.Contains(found, name[from:to]) {
				found = append(found, name[from:to])
			}
		}
	}
	return found
}

func namedAfterKey(id backup.ClusterID) infra.Key {
	return infra.Key{Kind: keyNamedAfter, Value: id.Namespace + "/" + id.Name + "#" + strconv.Itoa(id.Backup)}
}

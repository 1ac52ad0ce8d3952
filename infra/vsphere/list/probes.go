package list

import (
	"slices"

	"drift-detector/infra/vsphere"

	"drift-detector/infra"
)

// readProbes lists the folders among a target's probes that exist, and what
// shows that the account sees VMs in them, those of the backup: a role without
// propagation shows a folder and none of its VMs, and so does another vCenter
// with the same folders.
//
// A folder is inhabited when a VM directly in it could be read: of those below,
// and of templates, an account may have permissions of their own. Where it may not
// read the folder itself, what it sees there it sees by way of a resource pool or host,
// of which VMs inherit permissions as well (vSphere Security 8.0, "Hierarchical
// Inheritance of Permissions"): VMs of others are hidden. An empty folder
// counts as well once every machine of the backup that belongs there was seen
// elsewhere, as nothing is missing from it then, or when its permissions say that the
// account would see VMs in it, as seesInto tells. unread are the candidates whose
// metadata could not be read.
func (g *gathering) readProbes(unread []string, seesInto func(folder string) bool) []infra.Key {
	t := g.target
	known := false
	for id := range g.found {
		known = known || g.known.Servers[id] == t.Endpoint
	}
	here := map[string][]string{} // ids of the folders by the forms in which they are asked for
	for id, forms := range g.in.asked {
		for _, f := range forms {
			here[f] = append(here[f], id)
		}
	}
	dark := map[string]bool{} // folders with VMs whose metadata was not read
	for _, ref := range unread {
		dark[g.folders[ref]] = true
	}
	sees := func(id string) bool {
		n := g.in.folders.tree.nodes[id]
		return g.inhabited[id] && !n.blind || !g.inhabited[id] && n.reads && seesInto(id)
	}
	keys := slices.Clone(g.resolved)
	for _, k := range ofKind(t.Probes, vsphere.KeyInhabited) {
		if ids := here[k.Value]; len(ids) > 0 && (g.allElsewhere(k.Value) || !slices.ContainsFunc(ids, func(id string) bool { return !sees(id) })) {
			keys = append(keys, k)
		}
	}
	for _, k := range ofKind(t.Probes, vsphere.KeyRead) {
		if !slices.ContainsFunc(here[k.Value], func(id string) bool { return dark[id] }) {
			keys = append(keys, k)
		}
	}
	if known {
		keys = append(keys, vsphere.KnownKey(t.Endpoint))
	}
	return keys
}

// allElsewhere reports whether each machine of a folder was seen, wherever.
func (g *gathering) allElsewhere(folder string) bool {
	return !slices.ContainsFunc(g.known.Folders[folder], func(id string) bool { return len(g.found[id]) == 0 })
}

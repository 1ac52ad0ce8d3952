package vsphere

import (
	"slices"

	"drift-detector/infra"
)

func inhabitedKey(folder string) infra.Key { return infra.Key{Kind: keyInhabited, Value: folder} }

func knownKey(server string) infra.Key { return infra.Key{Kind: keyKnown, Value: server} }

// landmarks lists the folders among a target's landmarks that exist, and what
// shows that the account sees VMs in them, those of the backup: a role without
// propagation shows a folder and none of its VMs, and so does another vCenter
// with the same folders.
//
// A folder is inhabited when a VM directly in it could be read: of those below,
// and of templates, an account may have permissions of their own. An empty folder
// counts as well once every machine of the backup that belongs there was seen
// elsewhere: then nothing is missing from it.
func (g *gathering) landmarks() []infra.Key {
	t := g.target
	known := false
	for id := range g.found {
		known = known || g.known.servers[id] == t.Endpoint
	}
	here := map[string]bool{} // forms of folders that were resolved: whether all of the folders are inhabited
	for id, forms := range g.in.asked {
		for _, f := range forms {
			others, found := here[f]
			here[f] = g.inhabited[id] && (others || !found)
		}
	}
	keys := foundAmong(t.Landmarks, g.in.asked)
	for _, k := range ofKind(t.Landmarks, keyInhabited) {
		inhabited, resolved := here[k.Value]
		if inhabited || resolved && !slices.ContainsFunc(g.known.folders[k.Value], func(id string) bool { return !g.found[id] }) {
			keys = append(keys, k)
		}
	}
	if known {
		keys = append(keys, knownKey(t.Endpoint))
	}
	return keys
}

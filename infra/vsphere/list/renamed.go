package list

import (
	"maps"
	"slices"
	"strings"

	"drift-detector/infra/vsphere"

	"drift-detector/infra"
)

// followRenamed finds folders of the backup that exist no more and whose machines all
// are in one other folder: that is the folder now, under another name. VMs in it get
// the keys that they would have there.
//
// A folder that the account may not see looks the same when some of its machines were
// moved, so that more than half of all that are recorded there must be in the other.
func (g *gathering) followRenamed() {
	for _, form := range slices.Sorted(maps.Keys(g.known.Folders)) {
		ids := g.known.Folders[form]
		if !strings.HasPrefix(form, g.in.endpoint+"/") || slices.Contains(g.resolved, infra.Key{Kind: vsphere.KeyFolder, Value: form}) {
			continue
		}
		if folder, is := g.onlyFolder(ids); is && g.in.folders.paths[folder].path != "" && !slices.Contains(g.in.asked[folder], form) {
			g.rename(folder, form)
		}
	}
}

// onlyFolder returns the folder in which each of the machines that were seen is, if they
// are two at least and more than half of them. Copies may be elsewhere.
func (g *gathering) onlyFolder(ids []string) (folder string, is bool) {
	var common []string
	n := 0
	for _, id := range ids {
		at, seen := g.found[id]
		if !seen {
			continue
		}
		if n++; n == 1 {
			common = slices.Clone(at)
		}
		common = slices.DeleteFunc(common, func(f string) bool { return !slices.Contains(at, f) })
	}
	if len(common) != 1 || n < 2 || 2*n <= len(ids) {
		return "", false
	}
	return common[0], true
}

// rename gives VMs in a folder the keys of the name that the backup has for it.
func (g *gathering) rename(folder, form string) {
	g.in.asked[folder] = append(g.in.asked[folder], form)
	path := infra.Key{Kind: vsphere.KeyFolder, Value: g.in.endpoint + g.in.folders.paths[folder].path}
	l := g.listing
	l.Instances = append(l.Instances, l.Unrelated.Take(func(i *infra.Instance) bool { return i.HasKey(path) })...)
	for n := range l.Instances {
		i := &l.Instances[n]
		if !i.HasKey(path) {
			continue
		}
		i.Keys = append(i.Keys, vsphere.FolderKeys(form, i.Name, i.Ref)...)
		if _, is := g.candidates[i.Ref]; !is && g.in.candidate(folder, i, g.known) {
			g.candidates[i.Ref], g.folders[i.Ref] = n, folder
		}
	}
}

package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// minAnchor is how many characters of its owner's own name a naming template
// must leave in a VM's name. Fewer would tie the VMs of whoever else uses the
// same template.
const minAnchor = 4

// ownershipHints returns what connects VMs that no machine explains with the clusters of the
// backup. It holds only in folders where the cluster's own VMs are, except hints
// that only show that a VM has a name of the cluster. Their order says nothing.
func (objs *objects) ownershipHints() []infra.OwnershipHint {
	folders, owners, planes := objs.foldersOf(), objs.ownersOf(), objs.planeAddresses()
	room := 0
	for id, in := range folders {
		room += (min(len(in), manyFolders)+1)*len(owners[id]) + 4*len(in) + 1
	}
	hints := make([]infra.OwnershipHint, 0, room) // they are many, and large
	for _, id := range objs.clusterIDs() {
		endpoint := ""
		if c := objs.known[id]; c != nil {
			endpoint = strings.ToLower(c.Endpoint)
		}
		joins := expectedJoins(endpoint, planes[id])
		hints = objs.nameHints(hints, owners[id], folders[id], joins)
		if len(folders[id]) > 0 {
			hints = objs.locationHints(hints, id, folders[id], endpoint, joins)
		}
	}
	return hints
}

// folder is where VMs of a cluster are, and in words.
type folder struct {
	location
	place string
}

// manyFolders are more than the machines of one cluster are in. With more of them the name
// of an owner counts where its own machines are, and not in all folders of its cluster:
// owners times folders would be the work, and the memory.
const manyFolders = 64

// nameHints appends the hints that the names of the owners of one cluster give.
func (objs *objects) nameHints(hints []infra.OwnershipHint, owners []*owner, folders []folder, joins []infra.Key) []infra.OwnershipHint {
	first, patterns := len(hints), map[patternKey]*infra.OwnershipHint{}
	elsewhere := folder{location{Folder: anywhere}, where(anywhere)}
	named := map[string]*folder{}
	if len(folders) > manyFolders {
		for i := range folders {
			named[folders[i].Folder] = &folders[i]
		}
	}
	var shapes []shape
	for _, o := range owners {
		shapes = o.shapes(shapes[:0])
		add := func(f *folder) {
			for _, shape := range shapes {
				if shape.plain {
					hints = append(hints, o.stem(f.Folder, f.place))
				} else {
					o.addPatterns(patterns, f.Folder, shape)
				}
			}
		}
		add(&elsewhere)
		if len(folders) <= manyFolders {
			for i := range folders {
				add(&folders[i])
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(objs.foldersOfOwner(o))) {
			if f := named[name]; f != nil {
				add(f)
			}
		}
	}
	for _, t := range patterns {
		hints = append(hints, *t)
	}
	own := append([]infra.Key{ownName}, joins...)
	for i := range hints[first:] {
		t := &hints[first+i]
		if t.ByName, t.Expect = true, own[1:]; t.Grade == infra.Medium {
			t.Expect = own
		}
	}
	return hints
}

// foldersOfOwner returns the folders where the machines of an owner are, and where its templates put
// new ones.
func (objs *objects) foldersOfOwner(o *owner) map[string]bool {
	own := map[string]bool{}
	for _, m := range o.members {
		if m.vm != nil || m.machine != nil {
			own[m.at.Folder] = true
		}
	}
	objs.eachTemplate(o, func(p location) { own[p.Folder] = true })
	return own
}

// planeAddresses returns the addresses of the control-plane machines of each cluster.
func (objs *objects) planeAddresses() map[backup.ClusterID][]string {
	planes := map[backup.ClusterID][]string{}
	for i := range objs.members {
		if m := &objs.members[i]; m.vm != nil && m.vm.Data.ControlPlane {
			planes[m.cluster] = append(planes[m.cluster], m.vm.Data.Addresses...)
		}
	}
	return planes
}

// foldersOf returns the folders where each cluster's VMs are, or where its owners'
// templates put new ones, each once, in order.
func (objs *objects) foldersOf() map[backup.ClusterID][]folder {
	of := make(map[backup.ClusterID][]folder, len(objs.known))
	add := func(id backup.ClusterID, p location) {
		if n := len(of[id]); n == 0 || of[id][n-1].location != p {
			of[id] = append(of[id], folder{location: p})
		}
	}
	for _, p := range objs.places {
		if !p.unknown {
			add(p.cluster, p.at)
		}
	}
	for i := range objs.owners() {
		o := &objs.owning[i]
		objs.eachTemplate(o, func(p location) { add(o.id.Cluster, p) })
	}
	for id, all := range of {
		slices.Reverse(all) // the last of a folder counts
		sorting.StableBy(all, func(a, b folder) int { return cmp.Compare(a.Folder, b.Folder) })
		of[id] = slices.CompactFunc(all, func(a, b folder) bool { return a.Folder == b.Folder })
		for i := range of[id] {
			of[id][i].place = where(of[id][i].Folder)
		}
	}
	return of
}

// eachTemplate visits where an owner's templates put new VMs.
func (objs *objects) eachTemplate(o *owner, visit func(location)) {
	for _, t := range o.templates {
		visit(objs.locationOf(objs.merge(o.infra, o.id.Cluster.Backup, "", t.Data.Spec)))
	}
}

// shape is one way in which an owner's VMs come to their names.
type shape struct {
	plain      bool // machine and VM have Cluster API's default names
	os, naming string
}

// shapes appends those of an owner to an empty list: nearly always one.
func (o *owner) shapes(seen []shape) []shape {
	add := func(os, naming string) {
		if isWindows(os) {
			os = "windows"
		} else {
			os = ""
		}
		if s := (shape{plain: o.naming == "" && os == "" && naming == "", os: os, naming: naming}); !slices.Contains(seen, s) {
			seen = append(seen, s)
		}
	}
	for _, m := range o.members {
		if m.machine != nil {
			add(m.machine.Data.OS, m.machine.Data.Naming)
		}
	}
	for _, t := range o.templates {
		add(t.Data.OS, t.Data.Naming)
	}
	if len(seen) == 0 {
		add("", "")
	}
	slices.SortFunc(seen, func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.os, b.os), cmp.Compare(a.naming, b.naming))
	})
	return seen
}

// What a name shows that an owner gives.
var (
	setDetail        = fmt.Sprintf("its name is {owner} + %d characters, in {place}", naming.SuffixLen)
	deploymentDetail = fmt.Sprintf("its name is {owner} + a MachineSet's suffix + %d characters, in {place}", naming.SuffixLen)
)

// stem ties by the default names, which keys can express.
func (o *owner) stem(folder, place string) infra.OwnershipHint {
	name := naming.Stem(o.id.Name)
	t := infra.OwnershipHint{
		Grade: gradeIn(folder), Owner: o.id, ControlPlane: o.controlPlane,
		// Of owners whose names are cut to the same stem none is the more likely one.
		Specificity: min(len(o.id.Name), len(name)),
		Key:         infra.Key{Kind: keyStem1},
		Detail:      setDetail,
		Place:       place,
	}
	switch o.id.Kind {
	case "MachineDeployment":
		if len(o.id.Name) >= naming.MaxName-naming.SuffixLen-1 {
			// Nothing is left of its MachineSets' suffixes in the names of machines.
			t.Detail = fmt.Sprintf("its name is that of {owner}, cut to %d characters, + %d characters, in {place}", len(name), naming.SuffixLen)
			break
		}
		name, t.Key.Kind, t.Detail = o.id.Name, keyStem2, deploymentDetail
	case "K0sControlPlane":
		name, t.Key.Kind, t.Detail = o.id.Name, keyOrdinal, "its name is {owner} + a number, in {place}"
	}
	if folder == anywhere { // where the case of a name and its domain do not count
		name = strings.ToLower(name)
	}
	t.Key.Value = folder + "/" + name
	return t
}

// gradeIn returns what a name proves in a folder of the cluster, and anywhere else.
func gradeIn(folder string) infra.Grade {
	if folder == anywhere {
		return infra.NameOnly
	}
	return infra.Medium
}

func where(folder string) string {
	if folder == anywhere {
		return "no folder of the cluster"
	}
	return "folder " + folder
}

// stems returns the keys of a VM for its own name: the other side of stem.
func stems(folder, name string) (keys []infra.Key) {
	set, deployment := naming.Stems(name)
	if set != "" {
		keys = append(keys, infra.Key{Kind: keyStem1, Value: folder + "/" + set})
	}
	if deployment != "" {
		keys = append(keys, infra.Key{Kind: keyStem2, Value: folder + "/" + deployment})
	}
	return keys
}

// patternKey is what makes two patterns one: owners of one cluster may have
// names that look alike once a template has cut them.
type patternKey struct {
	cluster         backup.ClusterID
	pattern, folder string
}

func (o *owner) addPatterns(all map[patternKey]*infra.OwnershipHint, folder string, s shape) {
	for _, machine := range o.machineNames() {
		// Of a name that is cut to 15 characters any other may begin likewise.
		if isWindows(s.os) && folder != anywhere {
			continue
		}
		name, ok := vmName(machine, s.os, s.naming)
		anchor := anchored(name, o.id.Name, o.id.Cluster.Name)
		if !ok || len(name)-name.literals() < naming.SuffixLen || anchor < minAnchor {
			continue
		}
		k := patternKey{o.id.Cluster, name.pattern(), folder}
		if have := all[k]; have != nil {
			if *have.Owner != *o.id {
				have.Owner = &infra.OwnerID{Cluster: o.id.Cluster}
				have.ControlPlane = have.ControlPlane && o.controlPlane
				have.Detail = fmt.Sprintf("its name is what a naming template makes of several owners of cluster %s, in %s", o.id.Cluster.Name, where(folder))
			}
			continue
		}
		t := &infra.OwnershipHint{
			Grade: gradeIn(folder), Owner: o.id, ControlPlane: o.controlPlane, Specificity: anchor,
			Pattern: &infra.NamePattern{Name: k.pattern},
			Detail:  fmt.Sprintf("its name is what the naming template or OS of %s %s makes of a machine's name, in %s", o.id.Kind, o.id.Name, where(folder)),
		}
		if folder != anywhere {
			t.Pattern.Within = infra.Key{Kind: KeyFolder, Value: folder}
		}
		all[k] = t
	}
}

// machineNames returns the names that Machines of the owner can have.
func (o *owner) machineNames() []text {
	bases := []text{literal(o.id.Name)}
	if o.id.Kind == "MachineDeployment" {
		bases = nil
		for n := naming.SuffixLen; n <= naming.MaxSetSuffix; n++ {
			bases = append(bases, join(literal(o.id.Name+"-"), random(n)))
		}
	}
	var names []text
	for _, base := range bases {
		if o.naming == "" {
			names = append(names, generated(join(base, literal("-"))))
			continue
		}
		fields := map[string]text{
			".cluster.name": literal(o.id.Cluster.Name),
			".random":       random(naming.SuffixLen),
		}
		if o.controlPlane {
			fields[".kubeadmControlPlane.name"] = base
		} else {
			fields[".machineSet.name"] = base
		}
		if t, ok := expand(o.naming, fields); ok && len(t) <= naming.MaxName {
			names = append(names, t)
		}
	}
	return names
}

// anchored returns the length of the longest run of literal characters in the name
// that also begins one of the anchors.
func anchored(name text, anchors ...string) (longest int) {
	for _, a := range anchors {
		for at := range name {
			n := 0
			for _, r := range a {
				if at+n >= len(name) || name[at+n] != r {
					break
				}
				n++
			}
			longest = max(longest, n)
		}
	}
	return longest
}

// locationHints appends those that only show that a VM is where the cluster's VMs are, or
// that its own bootstrap data calls the cluster's API.
func (objs *objects) locationHints(hints []infra.OwnershipHint, id backup.ClusterID, folders []folder, endpoint string, joins []infra.Key) []infra.OwnershipHint {
	whole := &infra.OwnerID{Cluster: id}
	for i := range folders {
		f := &folders[i]
		if !f.Root {
			hints = append(hints, infra.OwnershipHint{
				Grade: infra.LocationOnly, Key: f.folderKey(), Owner: whole,
				Detail: "it is in {place}, as machines of cluster {cluster} are", Place: f.place,
			}, infra.OwnershipHint{
				Grade: infra.LocationOnly, Key: infra.Key{Kind: keyBelow, Value: f.Folder}, Owner: whole,
				Detail: "it is below {place}, which machines of cluster {cluster} are in", Place: f.place,
			})
		}
		calls := "its bootstrap data names the cluster's API endpoint " + endpoint + " and its metadata its own name, in " + f.place
		for _, k := range joins[:min(len(joins), 2)] { // of the cluster's own endpoint
			hints = append(hints, infra.OwnershipHint{
				Grade: infra.Medium, Key: endpointKey(f.Folder, k), Owner: whole, ByName: true, Detail: calls,
			})
		}
	}
	return append(hints, infra.OwnershipHint{
		Grade: infra.NameOnly, Key: namedAfterKey(id), Owner: whole, ByName: true,
		Detail: "its name holds that of a machine of cluster " + id.Namespace + "/" + id.Name,
	})
}

func endpointKey(folder string, joins infra.Key) infra.Key {
	return infra.Key{Kind: keyEndpoint, Value: folder + " " + joins.Value}
}

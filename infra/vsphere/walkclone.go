package vsphere

import (
	"fmt"
	"iter"

	"drift-detector/infra"
	"drift-detector/infra/walk"
)

// cloneRow returns a row of the clone, of a kind of thing that it needs. What its answers do to
// machines that are to be made, Recipe and Need say.
func cloneRow(id, asks, source string) *walk.Row {
	return &walk.Row{
		ID: "vsphere." + id, Of: vmKind, Asks: asks,
		None:    walk.Retries.Says("where a machine is to be created, CAPV clones no VM"),
		Several: walk.Retries.Says("CAPV takes none of several: where a machine is to be created, it clones no VM"),
		Source:  source + ": pkg/services/govmomi/vcenter/clone.go v1.5.8 to v1.16.1; govmomi find/finder.go v0.53.0",
	}
}

// Rows of the clone.
var (
	rowL2     = cloneRow("L2", "the one template, by instance UUID or by name", "FindTemplate")
	rowL4     = cloneRow("L4", "the one folder", "FolderOrDefault")
	rowL5     = cloneRow("L5", "the one resource pool of the name; without a name, the only default one", "ResourcePoolOrDefault")
	rowL7     = cloneRow("L7", "the one network of each device", "getNetworkSpecs")
	rowL8     = cloneRow("L8", "the one datastore of the name; without a name and a storage policy, the only one", "Clone")
	cloneRows = []*walk.Row{rowL2, rowL4, rowL5, rowL7, rowL8}
	ofThing   = map[infra.KeyKind]*walk.Row{KeyTemplate: rowL2, KeyFolder: rowL4, KeyPool: rowL5, KeyNetwork: rowL7, KeyDatastore: rowL8}
)

// askThings asks for what machines are made with.
func (q *questions) askThings(needed []infra.Resource) {
	q.Steps = append(q.Steps, infra.Step{Each: func(inv *infra.Inventory) iter.Seq[walk.Step] {
		return func(yield func(walk.Step) bool) {
			for i := range needed {
				r := &needed[i]
				l := inv.Named(r.Target)
				if l == nil || len(r.Keys) != 1 || ofThing[r.Keys[0].Kind] == nil {
					continue
				}
				s := walk.Step{Row: ofThing[r.Keys[0].Kind], Cluster: r.Cluster, Machine: -1, Answer: thingAnswer(inv.Lookup(l), r)}
				if s.Found != walk.Passed {
					s.Subject = clusterTitle(r.Cluster)
				}
				if !yield(s) {
					return
				}
			}
		}
	}})
}

func thingAnswer(l *infra.Lookup, r *infra.Resource) walk.Answer {
	k, several := r.Keys[0], l.FindsSeveral(r.Keys[0])
	if !several && l.Finds(k) { // as nearly all
		return pass
	}
	object := r.Kind + " " + r.Name
	switch {
	case several:
		return answer(walk.Several, object, fmt.Sprintf("several in vCenter %s answer to %s of %s", l.Endpoint, object, r.UsedBy), "names one alone")
	case l.IsSilent(k):
		return walk.Answer{}
	}
	return answer(walk.None, object, fmt.Sprintf("vCenter %s has no %s of %s", l.Endpoint, object, r.UsedBy), "exists")
}

// rowR3 is of a VM whose id CAPV does not have any more.
var rowR3 = &walk.Row{
	ID: "vsphere.R3", Of: vmKind,
	Asks:    "the one folder of a VM that it looks for by its name, because spec.biosUUID does not name it",
	None:    walk.Waits.Says("CAPV fails on the folder, and neither finds nor clones the VM"),
	Several: walk.Waits.Says("CAPV takes none of several folders, and neither finds nor clones the VM"),
	Source:  "findVM: pkg/services/govmomi/util.go v1.5.8 to v1.16.1; FolderOrDefault: govmomi find/finder.go v0.53.0",
}

// askFolder asks R3.
func (q *questions) askFolder(m *member) {
	if m.source == readsID || m.unplaced != "" || m.at.Root {
		return
	}
	folder := infra.Resource{Kind: "folder", Name: m.at.Folder, Keys: []infra.Key{m.at.folderKey()}, UsedBy: q.objs.titleOf(m)}
	q.Steps = append(q.Steps, infra.Step{
		Step: walk.Step{Row: rowR3, Cluster: m.cluster, Subject: folder.UsedBy, Machine: m.index},
		Look: func(inv *infra.Inventory) walk.Answer {
			l := inv.Named(m.target)
			if l == nil {
				return walk.Answer{}
			}
			return thingAnswer(inv.Lookup(l), &folder)
		},
	})
}

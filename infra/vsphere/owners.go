package vsphere

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// owner is what may create VMs for a vSphere cluster: a control plane, a
// MachineSet or a MachineDeployment, with the VSphereMachineTemplates that it
// uses or used.
type owner struct {
	id           *infra.OwnerID                 // may be held without the rest
	infra        *backup.Record[vsphereCluster] // of its cluster; nil when the backup lacks it
	controlPlane bool
	retired      bool   // a MachineSet that a rollout scaled to nothing
	naming       string // template of the Machines' names
	templates    []*backup.Record[vsphereTemplate]
	members      []*member
}

// owners returns all of them; they must not be changed.
func (objs *objects) owners() []owner {
	if objs.owning == nil {
		objs.owning = objs.findOwners()
	}
	return objs.owning
}

// ownersOf returns them by cluster.
func (objs *objects) ownersOf() map[backup.ClusterID][]*owner {
	if objs.owned == nil {
		all := objs.owners()
		objs.owned = make(map[backup.ClusterID][]*owner, len(objs.known))
		for i := range all {
			id := all[i].id.Cluster
			objs.owned[id] = append(objs.owned[id], &all[i])
		}
	}
	return objs.owned
}

func (objs *objects) findOwners() []owner {
	ours, room := objs.providers(), len(objs.snapshot.ControlPlanes)+len(objs.snapshot.Groups)
	list, ids, current := make([]owner, 0, room), make([]infra.OwnerID, 0, room), make([]string, 0, room)
	add := func(id infra.OwnerID, o owner, template string) {
		ids = append(ids, id)
		o.id = &ids[len(ids)-1]
		if n := len(list); n > 0 && list[n-1].id.Cluster == o.id.Cluster {
			o.infra = list[n-1].infra
		} else if ours[o.id.Cluster] == "" {
			return
		} else {
			o.infra = objs.vsphereCluster(o.id.Cluster)
		}
		list, current = append(list, o), append(current, template)
	}
	for i := range objs.snapshot.ControlPlanes {
		c := &objs.snapshot.ControlPlanes[i]
		add(infra.OwnerID{Cluster: c.Cluster, Kind: c.Kind, Name: c.Name}, owner{controlPlane: true, naming: c.NamingTemplate}, "")
	}
	for i := range objs.snapshot.Groups {
		g := &objs.snapshot.Groups[i]
		if g.Kind == "MachineSet" || g.Kind == "MachineDeployment" {
			template := ""
			if g.Infrastructure.Group == group && g.Infrastructure.Kind == templateKind {
				template = g.Infrastructure.Name
			}
			add(infra.OwnerID{Cluster: g.Cluster, Kind: g.Kind, Name: g.Name}, owner{
				naming:  g.NamingTemplate,
				retired: g.Kind == "MachineSet" && g.Deployment != "" && g.Desired.Known && g.Desired.N == 0,
			}, template)
		}
	}
	byID := make([]int32, len(list))
	for i := range byID {
		byID[i] = int32(i)
	}
	// The last of an id counts.
	slices.SortFunc(byID, func(a, b int32) int {
		if c := compareOwners(list[a].id, list[b].id); c != 0 {
			return c
		}
		return cmp.Compare(b, a)
	})
	// The owners of the member before are mostly this one's, too.
	var last [3]int
	for i := range objs.members {
		m, n := &objs.members[i], 0
		objs.eachOwner(m, func(id infra.OwnerID) {
			o := last[n]
			if o >= len(list) || *list[o].id != id {
				at, known := sort.Find(len(byID), func(i int) int { return compareOwners(&id, list[byID[i]].id) })
				if !known {
					return
				}
				o = int(byID[at])
				last[n] = o
			}
			n++
			list[o].members = append(list[o].members, m)
		})
	}
	var names []string
	for i := range list {
		names = list[i].templateNames(append(names[:0], current[i]))
		list[i].templates = objs.templatesNamed(&list[i], names)
	}
	return list
}

// compareOwners compares names first: those of most differ.
func compareOwners(a, b *infra.OwnerID) int {
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(a.Kind, b.Kind), capi.CompareClusters(a.Cluster, b.Cluster))
}

// eachOwner visits the control plane, MachineSet and MachineDeployment of a member.
func (objs *objects) eachOwner(m *member, visit func(infra.OwnerID)) {
	add := func(kind, name string) {
		if name != "" {
			visit(infra.OwnerID{Cluster: m.cluster, Kind: kind, Name: name})
		}
	}
	if m.index >= 0 {
		machine := &objs.snapshot.Machines[m.index]
		if machine.Owner.Kind != "MachineSet" {
			add(machine.Owner.Kind, machine.Owner.Name)
		}
		add("MachineSet", machine.Set)
		add("MachineDeployment", machine.Deployment)
	}
}

// templateNames appends the names of the templates that the members were made from, and
// returns all in order, each once. Nearly all members have the same.
func (o *owner) templateNames(names []string) []string {
	for _, m := range o.members {
		if m.machine != nil && m.machine.Data.Template != names[len(names)-1] {
			names = append(names, m.machine.Data.Template)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (objs *objects) templatesNamed(o *owner, names []string) (found []*backup.Record[vsphereTemplate]) {
	for _, name := range names {
		if t := templates.In(objs.snapshot).Named(o.id.Cluster.Backup, o.id.Cluster.Namespace, name); t != nil {
			found = append(found, t)
		}
	}
	return found
}

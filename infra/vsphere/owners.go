package vsphere

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// owner is what may create VMs for a vSphere cluster: a control plane, a
// MachineSet or a MachineDeployment, with the VSphereMachineTemplates that it
// uses or used.
type owner struct {
	id           infra.OwnerID
	controlPlane bool
	naming       string // template of the Machines' names
	retired      bool   // a MachineSet that a rollout scaled to nothing
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

func (objs *objects) findOwners() []owner {
	byOwner := make(map[infra.OwnerID][]*member, len(objs.snapshot.ControlPlanes)+len(objs.snapshot.Groups))
	for i := range objs.members {
		m := &objs.members[i]
		for _, id := range objs.ownersOf(m) {
			byOwner[id] = append(byOwner[id], m)
		}
	}
	ours := objs.providers()
	list := make([]owner, 0, len(objs.snapshot.ControlPlanes)+len(objs.snapshot.Groups))
	add := func(o owner, template string) {
		if ours[o.id.Cluster] == "" {
			return
		}
		o.members = byOwner[o.id]
		o.templates = objs.templatesOf(o, template)
		list = append(list, o)
	}
	for i := range objs.snapshot.ControlPlanes {
		c := &objs.snapshot.ControlPlanes[i]
		add(owner{id: infra.OwnerID{Cluster: c.Cluster, Kind: c.Kind, Name: c.Name}, controlPlane: true, naming: c.NamingTemplate}, "")
	}
	for i := range objs.snapshot.Groups {
		g := &objs.snapshot.Groups[i]
		if g.Kind == "MachineSet" || g.Kind == "MachineDeployment" {
			template := ""
			if g.Infrastructure.Group == group && g.Infrastructure.Kind == templateKind {
				template = g.Infrastructure.Name
			}
			add(owner{
				id: infra.OwnerID{Cluster: g.Cluster, Kind: g.Kind, Name: g.Name}, naming: g.NamingTemplate,
				retired: g.Kind == "MachineSet" && g.Deployment != "" && g.Desired.Known && g.Desired.N == 0,
			}, template)
		}
	}
	return list
}

// ownersOf are the control plane, MachineSet and MachineDeployment of a member.
func (objs *objects) ownersOf(m *member) []infra.OwnerID {
	ids := make([]infra.OwnerID, 0, 3)
	add := func(kind, name string) {
		if name != "" {
			ids = append(ids, infra.OwnerID{Cluster: m.cluster, Kind: kind, Name: name})
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
	return ids
}

func (objs *objects) templatesOf(o owner, current string) []*backup.Record[vsphereTemplate] {
	names := []string{}
	if current != "" {
		names = append(names, current)
	}
	for _, m := range o.members {
		if m.machine != nil && m.machine.Data.Template != "" {
			names = append(names, m.machine.Data.Template)
		}
	}
	slices.Sort(names)
	var found []*backup.Record[vsphereTemplate]
	for _, name := range slices.Compact(names) {
		if t := objs.templates[capi.Object{Backup: o.id.Cluster.Backup, Namespace: o.id.Cluster.Namespace, Name: name}]; t != nil {
			found = append(found, t)
		}
	}
	return found
}

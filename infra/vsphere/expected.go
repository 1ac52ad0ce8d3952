package vsphere

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Expected returns which VMs the backup expects, and what ties others to its clusters.
func (p *Provider) Expected(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	p.read.Store(objs)
	c := infra.Expected{Providers: objs.providers()}
	c.Machines = make([]infra.ExpectedMachine, len(objs.members))
	for i := range objs.members {
		objs.expectedMachine(&objs.members[i], &c.Machines[i])
	}
	c.Resources, c.Recipes = objs.needed()
	c.OwnershipHints = objs.ownershipHints()
	c.Proofs = objs.proofs()
	c.Absent = objs.absent()
	c.Steps, c.OnInstance = objs.steps(c.Resources), map[string]func(int, infra.Sight) []walk.Step{Name: objs.onInstance()}
	return c
}

// Survey returns what checks need of Expected.
func (p *Provider) Survey(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	p.read.Store(objs)
	return infra.Expected{Providers: objs.providers(), Absent: objs.absent(), Machines: capi.Orphans(objs.members, objs.orphan)}
}

// expectedMachine fills in that of a member, where it is: it is large.
func (objs *objects) expectedMachine(m *member, c *infra.ExpectedMachine) {
	all := make([]infra.Key, 0, 8) // the lists of most machines, in one
	list := func(keys ...infra.Key) []infra.Key {
		all = append(all, keys...)
		return slices.Clip(all[len(all)-len(keys):])
	}
	own := infra.Key{Kind: keyName, Value: m.name}
	c.Machine, c.Provider, c.Home.Target = m.index, Name, m.target
	c.InfraMissing, c.Unnamed = m.machine == nil, m.unnamed
	c.Strong, c.Source, c.Conflict, c.Doubted = m.strong, m.source, m.conflict, m.doubted
	c.Orphan, c.Restore = objs.orphan(m), objs.restore(m)
	c.Hosts = list(hostKey(m.name))
	c.Expect = append(make([]infra.Expectation, 0, 2), infra.Expectation{Key: own, Warning: code.Renamed})
	if m.unplaced == "" {
		c.Home.Within, c.Home.Folder = m.at.within(), m.at.Folder
		c.Expect = append(c.Expect, infra.Expectation{Key: m.at.folderKey(), Warning: code.Moved})
	}
	if m.vm != nil {
		if id := UUID(m.vm.UID); id != "" {
			c.Identity = infra.Key{Kind: keyInstance, Value: id}
		}
		if ref := refOf(m.vm.Data.VMRef); ref != "" {
			c.Ref = infra.Key{Kind: keyRef, Value: ref}
		}
	}
	weak, witness := placeKeys(m.at.Folder, m.name, c.Ref.Value)
	blind := append(make([]infra.Key, 0, 5), own, aliasKey(m.name), infra.Key{Kind: keyVMX, Value: m.name})
	switch {
	case !c.Ref.IsZero():
		blind = append(blind, c.Ref)
	case !c.Strong.IsZero():
		// One of which nothing can be read may be this VM. With a recorded vmRef,
		// or without a VM on record, it cannot.
		blind = append(blind, nameless)
	}
	if c.Unnamed == "" {
		c.Weak = list(weak)
		if m.unplaced == "" {
			c.Witness = list(witness)
			blind = append(blind, infra.Key{Kind: keyWithin, Value: witness.Value})
		}
	}
	c.Blind = list(blind...)
	c.Names = c.Blind[:2:2]
	if c.Strong.IsZero() && !c.Ref.IsZero() {
		// Whatever its name is by now, a VM was made for the machine.
		c.Names = append(c.Names, c.Ref)
	}
	m.search(c)
}

// search adds how CAPV finds the VM after a restore: by VSphereVM.spec.biosUUID, else
// by the VSphereVM's uid, which a restore makes new, else by name and folder
// (pkg/services/govmomi/util.go findVM v1.16.1). Where name or folder are not known,
// it adds nothing.
func (m *member) search(c *infra.ExpectedMachine) {
	switch {
	case m.source == readsID: // it comes first of those that record the id
		c.Reads, c.ReadsID = readsID, true
	case m.unplaced == "" && c.Unnamed == "":
		c.Reads, c.Searches = readsID, []infra.Key{pathKey(m.at.Folder, m.name)}
	}
}

// refOf returns the managed object id in "VirtualMachine:vm-136".
func refOf(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndex(s, ":")+1:]
}

// identify fills in the BIOS UUID that the backup records. CAPV writes it in three
// places; if two of them differ, which VM is meant is not known.
func (objs *objects) identify(m *member) {
	all := make([]infra.Recorded, 0, 3)
	if m.vm != nil {
		all = append(all, infra.Recorded{Source: readsID, Raw: m.vm.Data.BIOSUUID})
	}
	if m.machine != nil {
		all = append(all, infra.Recorded{Source: "VSphereMachine.spec.providerID", Raw: m.machine.Data.ProviderID})
	}
	if m.index >= 0 {
		all = append(all, infra.Recorded{Source: "Machine.spec.providerID", Raw: objs.snapshot.Machines[m.index].ProviderID})
	}
	m.strong, m.source, m.conflict, m.doubted = infra.Agreed(keyBIOS, "BIOS UUID", all, func(raw string) string {
		return cmp.Or(providerUUID(raw), UUID(raw))
	})
}

// orphan describes a member without Machine; of one that has it, it returns nil.
func (objs *objects) orphan(m *member) *infra.Orphan {
	if m.index >= 0 {
		return nil
	}
	if m.machine != nil {
		o := capi.Orphan(machineKind, &m.machine.Meta, &m.machine.Data.Labels, objs.controlPlanes)
		o.ProviderID = m.machine.Data.ProviderID
		return o
	}
	v := m.vm
	o := capi.Orphan(vmKind, &v.Meta, &capi.Labels{ControlPlane: v.Data.ControlPlane}, objs.controlPlanes)
	if id := UUID(v.Data.BIOSUUID); id != "" {
		o.ProviderID = providerIDPrefix + id
	}
	// A VSphereVM has no label of its MachineSet, but the name that this gave it.
	if stem, _ := naming.Stems(v.Name); stem != "" && !o.ControlPlane {
		if set := strings.Trim(stem, "/-"); objs.isSet(capi.Object{Backup: v.Backup, Namespace: v.Namespace, Name: set}) {
			o.Owner.Kind, o.Owner.Name = "MachineSet", set
		}
	}
	return o
}

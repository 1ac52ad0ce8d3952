package azure

import (
	"fmt"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
)

// Expected returns which VMs the backup expects, and what ties others to its clusters.
func (p *Provider) Expected(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	c := infra.Expected{Providers: capi.Providers(objs.locations, Name)}
	c.Machines = make([]infra.ExpectedMachine, len(objs.members))
	for i := range objs.members {
		c.Machines[i] = objs.expectedMachine(&objs.members[i])
	}
	c.OwnershipHints = objs.ownershipHints()
	c.Proofs = objs.proofs()
	c.Pools = objs.expectedPools()
	c.Resources = objs.resources()
	c.LoadBalancers = objs.loadBalancers()
	c.Absent = objs.absent()
	c.Halts = objs.halts()
	c.Steps = objs.steps()
	if len(objs.members) > 0 {
		c.OnInstance = map[string]func(int, infra.Sight) []walk.Step{Name: objs.onInstance()}
	}
	for _, id := range objs.order() {
		c.OwnerTags = append(c.OwnerTags, ownerTag(objs.locations[id].groupID(), id.Name))
	}
	return c
}

// Survey returns what checks need of Expected.
func (p *Provider) Survey(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	return infra.Expected{Providers: capi.Providers(objs.locations, Name), Absent: objs.absent(), Machines: capi.Orphans(objs.members, objs.orphan)}
}

// expectedMachine says how a machine's VM is found. CAPZ takes the VM of its name in the
// cluster's resource group, whoever made it (azure/services/virtualmachines/spec.go
// v1.26.0): the machine's own is only the one that has its vmId, too.
func (objs *objects) expectedMachine(m *member) infra.ExpectedMachine {
	l := objs.locations[m.cluster]
	c := infra.ExpectedMachine{
		Machine: m.index, Provider: Name, Home: infra.HomeScope{Target: l.target},
		InfraMissing: m.index >= 0 && m.record == nil,
		Orphan:       objs.orphan(m), Pool: objs.poolOf(m), Restore: objs.restore(m),
	}
	if g := l.groupID(); g != "" && m.kind == machineKind {
		c.Home.Within = infra.Key{Kind: keyGroup, Value: g}
	}
	vm, source, conflict, others := objs.arm(m)
	c.Source, c.Conflict = source, conflict
	for _, o := range others {
		c.Doubted = append(c.Doubted, infra.Key{Kind: keyVM, Value: o})
	}
	name := m.vmName()
	if vm != "" {
		if id, _ := ParseID(vm); name == "" || m.record.Data.ProviderID != "" {
			name = id.Name
		}
		c.Strong = objs.strong(m, vm)
		// One that was created again under its name.
		c.Witness = []infra.Key{{Kind: keyVM, Value: vm}}
		c.Blind = []infra.Key{{Kind: keyVM, Value: vm}}
		c.Identity = objs.hardware(m)
	}
	if m.kind == machineKind {
		if name != "" {
			c.Names = append(c.Names, infra.Key{Kind: keyName, Value: name})
		}
		if g := l.groupID(); g != "" && name != "" {
			c.Searches = []infra.Key{{Kind: keyPlace, Value: within(g, name)}}
			c.Weak = []infra.Key{{Kind: keyMade, Value: within(g, strings.ToLower(m.cluster.Name), name)}}
			c.Blind = append(c.Blind, infra.Key{Kind: keyPlace, Value: within(g, name)})
		}
	} else {
		c.LeavesPool = leavesPool
	}
	if name == "" && vm == "" {
		c.Unnamed = "the object that says what it is called " + objs.snapshot.Lacks(m.cluster.Backup, m.kind)
	}
	return c
}

// leavesPool is what became of a member whose instance was gone (testdata/azure/outcomes.json).
const leavesPool = "after the restore CAPZ deletes its AzureMachinePoolMachine, and the Machine stays without one: delete it by hand"

// arm returns the ARM id that the backup records for a machine's VM. CAPZ looks in the
// subscription and resource group of the cluster, whatever else the id says
// (azure/scope/machine.go v1.26.0): an id of another place contradicts the cluster.
func (objs *objects) arm(m *member) (vm, source, conflict string, others []string) {
	key, source, conflict, differing := infra.Agreed(keyVM, "id of a VM in Azure", objs.recorded(m), vmOf)
	for _, k := range differing {
		others = append(others, k.Value)
	}
	l := objs.locations[m.cluster]
	if id, ok := ParseID(key.Value); ok && conflict == "" && m.kind == machineKind {
		switch g := l.groupID(); {
		case id.Kind != KindVM:
			conflict = fmt.Sprintf("%s says member %s of a scale set, and CAPZ takes VM %s", source, id.Text, id.Name)
		case m.record != nil && m.record.Data.ProviderID == "" && id.Name != m.vmName():
			conflict = fmt.Sprintf("%s says VM %s, and its %s, which CAPZ goes by, is called %s", source, id.Name, machineKind, m.record.Name)
		case l.stated && g != "" && id.GroupID() != g:
			conflict = fmt.Sprintf("%s says resource group %s, and the %s of its cluster %s", source, id.GroupID(), l.kind, g)
		}
	}
	return key.Value, source, conflict, others
}

// strong returns the key of the machine's own VM: its ARM id with the vmId that its kubelet
// reported, in whichever order of bytes; without a report the ARM id alone, which a VM that
// is younger than the backup does not have.
func (objs *objects) strong(m *member, vm string) infra.Key {
	return instanceKey(vm, objs.hardware(m).Value)
}

// hardware returns the key of the vmId that the machine's kubelet reported: a VM that was moved to
// another resource group keeps it. It is zero without a report.
func (objs *objects) hardware(m *member) (k infra.Key) {
	if m.index < 0 {
		return k
	}
	if id := UUIDOf(objs.snapshot.Machines[m.index].SystemUUID); id != "" {
		k = infra.Key{Kind: keyHardware, Value: id}
	}
	return k
}

// orphan describes what is left of a machine without its Machine; of one that has it, it
// returns nil.
func (objs *objects) orphan(m *member) *infra.Orphan {
	if m.index >= 0 {
		return nil
	}
	o := capi.Orphan(m.kind, &m.record.Meta, &m.record.Data.Labels, objs.controlPlanes)
	o.ProviderID = m.record.Data.ProviderID
	return o
}

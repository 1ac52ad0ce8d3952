package vsphere

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
)

// Rows of VSphereMachine.
var (
	rowM4 = &walk.Row{
		ID: "vsphere.M4", Of: machineKind,
		Asks:   "spec.bootstrap.dataSecretName of its Machine, which Cluster API writes again where there is a KubeadmConfig",
		None:   walk.Waits.Says("CAPV waits for the bootstrap data, although the VM runs"),
		Source: "reconcileNormal: controllers/vspheremachine_controller.go v1.5.8 to v1.16.1",
	}
	rowM5 = &walk.Row{
		ID: "vsphere.M5", Of: machineKind,
		Asks:    "the VSphereVM of the name that its Machine's name and naming template give",
		Differs: walk.Doubles.Says("CAPV creates another VSphereVM, without the id, finds no VM of its name and clones one beside the one that runs"),
		Source:  "findVSphereVM, generateVMObjectName: pkg/services/vimmachine.go v1.5.8 to v1.16.1",
	}
	rowM6 = &walk.Row{
		ID: "vsphere.M6", Of: machineKind,
		Asks:    "leave to write its whole clone spec, with what the failure domain says, into its VSphereVM",
		Differs: walk.Waits.Says("CAPV's webhook refuses to change it"),
		Source:  "createOrPatchVSphereVM: pkg/services/vimmachine.go; ValidateUpdate: internal/webhooks/vspherevm.go v1.8.10 to v1.16.1",
	}
	machineRows = []*walk.Row{rowM4, rowM5, rowM6}
)

// Rows of VSphereVM that the backup answers.
var (
	rowVM4 = &walk.Row{
		ID: "vsphere.VM4", Of: vmKind,
		Asks:   "the VSphereDeploymentZone that its Machine names, and the VSphereFailureDomain of that",
		None:   walk.Waits.Says("CAPV touches no machine of a failure domain that it cannot read"),
		Source: "Reconcile: controllers/vspherevm_controller.go v1.5.8 to v1.16.1",
	}
	rowVM5 = &walk.Row{
		ID: "vsphere.VM5", Of: vmKind,
		Asks:   "an address, a pool or DHCP for every network device that does not skip it",
		None:   walk.Waits.Says("CAPV waits for a static address that nobody writes"),
		Source: "isWaitingForStaticIPAllocation: controllers/vspherevm_controller.go v1.5.8 to v1.16.1",
	}
)

// Rows of VSphereVM that follow from the backup, whatever VM there is.
var (
	rowVM4b = &walk.Row{
		ID: "vsphere.VM4b", Of: vmKind,
		Asks:    "the failure domain of its Machine, which Cluster API takes from spec.failureDomain of the VSphereMachine as soon as that is ready",
		Differs: walk.Waits.Says("Cluster API writes another failure domain into the Machine, with which CAPV's webhook refuses to change the VSphereVM, or which CAPV cannot read"),
		Source:  "reconcileInfrastructure: internal/controllers/machine/machine_controller_phases.go of Cluster API v1.5.8 to v1.13.6; Reconcile: controllers/vspherevm_controller.go v1.5.8 to v1.16.1",
	}
	rowR2 = &walk.Row{
		ID: "vsphere.R2", Of: vmKind,
		Asks:    "the VM of spec.biosUUID, as it is written: vCenter writes it in lower case",
		Differs: walk.Waits.Says("CAPV finds no VM of that id, or its webhook refuses the one that vCenter writes"),
		Source:  "findVM: pkg/services/govmomi/util.go v1.5.8 to v1.16.1; ValidateUpdate: internal/webhooks/vspherevm.go v1.8.10 to v1.16.1",
	}
)

// askMachine asks what the backup says of a machine.
func (q *questions) askMachine(m *member) {
	machine := &q.objs.snapshot.Machines[m.index]
	if m.machine.Paused || m.vm == nil && !q.objs.madeAgain(m) {
		return // nobody acts, or its verdict says what becomes of it
	}
	if !m.strong.IsZero() {
		a := pass
		if !machine.Bootstrapped {
			a = answer(walk.None, q.objs.titleOf(m), "it names no bootstrap data", "names it")
		}
		q.noteMachine(rowM4, m, a)
	}
	if m.vm != nil {
		q.noteMachine(rowM5, m, q.objs.computedName(m))
	}
	if lacks := q.objs.lacks(m); lacks != nil {
		q.noteMachine(rowVM4, m, answer(walk.None, lacks[0], lacks[0]+" is not in the backup", "exists"))
		return
	}
	if machine.FailureDomain != "" {
		q.noteMachine(rowVM4, m, pass)
	}
	if m.vm != nil {
		q.noteMachine(rowM6, m, q.objs.written(m))
		q.askSession(m)
		q.noteMachine(rowR2, m, q.objs.writtenLower(m))
	}
	q.askFolder(m)
	q.noteMachine(rowVM3, m, q.objs.modular(m))
	q.noteMachine(rowVM4b, m, q.objs.placedAgain(m))
	q.noteMachine(rowVM5, m, q.objs.addressed(m))
	q.noteMachine(rowVM6b, m, q.objs.ofPools(m))
	q.noteMachine(rowR8, m, q.objs.claimed(m))
}

// placedAgain asks VM4b.
func (objs *objects) placedAgain(m *member) walk.Answer {
	machine := &objs.snapshot.Machines[m.index]
	switch own := m.machine.Data.FailureDomain; own {
	case "":
		return walk.Answer{}
	case machine.FailureDomain:
		return pass
	default:
		object := machineKind + " " + m.machine.Namespace + "/" + m.machine.Name
		return answer(walk.Differs, object, fmt.Sprintf("spec.failureDomain of %s is %s, and of its Machine %q", object, own, machine.FailureDomain), "says the same")
	}
}

// writtenLower asks R2.
func (objs *objects) writtenLower(m *member) walk.Answer {
	switch id := m.vm.Data.BIOSUUID; {
	case id == "":
		return walk.Answer{}
	case id == m.strong.Value, id == strings.ToLower(id): // that is in lower case
		return pass
	}
	object := vmKind + " " + m.vm.Namespace + "/" + m.vm.Name
	return answer(walk.Differs, object, "spec.biosUUID of "+object+" has capital letters", "has it in lower case")
}

// computedName asks M5.
func (objs *objects) computedName(m *member) walk.Answer {
	name, known := concreteName(objs.snapshot.Machines[m.index].Name, m.machine.Data.OS, m.machine.Data.Naming)
	if !known {
		return walk.Answer{}
	}
	if name != m.vm.Name {
		object := vmKind + " " + m.vm.Namespace + "/" + m.vm.Name
		return answer(walk.Differs, object, fmt.Sprintf("%s is to be called %s", object, name), "has the name that its VSphereMachine gives it")
	}
	return pass
}

// written asks M6: what CAPV writes into a VSphereVM each time, beside the members that its
// webhook lets it change.
func (objs *objects) written(m *member) walk.Answer {
	differ := append(objs.placementDiffers(m), objs.restDiffers(m)...)
	if differ == nil {
		return pass
	}
	object := vmKind + " " + m.vm.Namespace + "/" + m.vm.Name
	return answer(walk.Differs, object, fmt.Sprintf("spec.%s of VSphereVM %s differs from what VSphereMachine %s and its failure domain say",
		strings.Join(differ, ", spec."), m.vm.Name, m.machine.Name), "says the same")
}

// placementDiffers returns the members of the clone spec that the failure domain may set.
func (objs *objects) placementDiffers(m *member) (differ []string) {
	want, needs := m.machine.Data.Spec, m.machine.Data.Needs
	if _, zone := objs.zoneOfMachine(m); zone != nil {
		domain := objs.domains[capi.Object{Backup: zone.Backup, Name: zone.Data.Domain}]
		want.Server, want.Datacenter = zone.Data.Server, domain.Data.Datacenter
		want.Folder = cmp.Or(zone.Data.Folder, want.Folder)
		needs.Pool = cmp.Or(zone.Data.Pool, needs.Pool)
		needs.Datastore = cmp.Or(domain.Data.Datastore, needs.Datastore)
	}
	if want.Server == "" {
		if m.infra == nil {
			return nil // the cluster as a whole is not reconciled
		}
		want.Server = m.infra.Data.Server
	}
	have := &m.vm.Data
	for _, f := range [...]struct{ name, have, want string }{
		{"server", have.Spec.Server, want.Server},
		{"datacenter", have.Spec.Datacenter, want.Datacenter},
		{"folder", have.Spec.Folder, want.Folder},
		{"resourcePool", have.Needs.Pool, needs.Pool},
		{"datastore", have.Needs.Datastore, needs.Datastore},
		{"template", have.Needs.Template, needs.Template},
	} {
		if f.have != f.want {
			differ = append(differ, f.name)
		}
	}
	return differ
}

// restDiffers returns the other fixed members. Texts are compared first: those of most machines
// are equal to the letter.
func (objs *objects) restDiffers(m *member) (differ []string) {
	if m.vm.Data.Rest == m.machine.Data.Rest {
		return nil
	}
	have, want := membersOf(m.vm.Data.Rest), membersOf(m.machine.Data.Rest)
	switch {
	case have["os"] == "":
		delete(want, "os") // CAPV may set it once
	case want["os"] == "":
		want["os"] = said("Linux") // its webhook makes that of none, in a VSphereVM alone (Default: internal/webhooks/vspherevm.go)
	}
	all := maps.Clone(have)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if have[name] != want[name] {
			differ = append(differ, name)
		}
	}
	return differ
}

// addressed asks VM5.
func (objs *objects) addressed(m *member) walk.Answer {
	for i, d := range objs.devices(m) {
		if !d.Skip && !d.DHCP4 && !d.DHCP6 && len(d.Addrs) == 0 && len(d.Pools) == 0 {
			object := machineKind + " " + m.machine.Namespace + "/" + m.machine.Name
			return answer(walk.None, object, fmt.Sprintf("network device %d of %s has neither an address nor a pool nor DHCP", i, object), "has one of these")
		}
	}
	return pass
}

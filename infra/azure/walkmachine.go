package azure

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of AzureMachine. It takes the VM of its name in the resource group of the cluster, whatever
// its vmId, tags, power state and provisioningState, and starts none: which one that is, is
// its verdict. Where there is none and spec.providerID is set it fails (VMDeletedError).
var (
	rowM1 = &walk.Row{
		ID: "azure.M1", Of: machineKind,
		Asks:   "spec.bootstrap.dataSecretName of its Machine, which Cluster API writes again where there is a KubeadmConfig",
		None:   walk.Waits.Says("CAPZ waits for the bootstrap data, although the VM runs"),
		Source: "reconcileNormal: controllers/azuremachine_controller.go v1.13.0 to v1.26.0",
	}
	rowM2 = &walk.Row{
		ID: "azure.M2", Of: machineKind,
		Asks:      "spec.vmSize, of a pool too, among the sizes that the location offers to the subscription, for a VM that runs as well: of one that is not offered any more it fails before it looks for the VM",
		Condition: code.SizesOffered,
		Source:    "InitMachineCache: azure/scope/machine.go; Get: azure/services/resourceskus/cache.go v1.13.0 to v1.26.0",
	}
	rowM3 = &walk.Row{
		ID: "azure.M3", Of: machineKind,
		Asks:      "what no call shows, for a VM that runs as well: whether its network interfaces and its public address are there, which it makes again, interfaces in state Failed, which it writes again as specified, and in which resource group their public addresses are; the extensions of spec.vmExtensions, which it installs again, and the role assignment of an identity of the system; where spec.image is empty, up to v1.17, an image in the marketplace",
		Condition: code.InfrastructureUnasked,
		Source:    "Parameters: azure/services/networkinterfaces/spec.go, publicips/spec.go, vmextensions/spec.go, roleassignments/spec.go; getAddresses: virtualmachines/virtualmachines.go; GetVMImage: azure/scope/machine.go v1.13.0 to v1.26.0",
	}
	rowM4 = &walk.Row{
		ID: "azure.M4", Of: machineKind,
		Asks: "its public address, inbound NAT rule and network interfaces, by names, before it looks for the VM",
		None: walk.Does{
			Effect: walk.Writes, Code: code.ResourceMade,
			What: "CAPZ creates network interface, public address and inbound NAT rule again where they are gone, then sees that the VM is, and creates none (VMDeletedError): they stay until the Machine is deleted",
		},
		Source: "newAzureMachineService: controllers/azuremachine_reconciler.go; Parameters: azure/services/virtualmachines/spec.go v1.13.0 to v1.26.0; seen with v1.26.0",
	}
	rowM7 = &walk.Row{
		ID: "azure.M7", Of: machineKind,
		Asks:      "each network interface that the VM has, by its name in the resource group of the cluster",
		Differs:   walk.Waits.Says("CAPZ finds no interface of the name, fails, and does not call the machine ready"),
		Condition: code.InfrastructureUnasked,
		Source:    "getAddresses: azure/services/virtualmachines/virtualmachines.go v1.13.0 to v1.26.0",
	}
	rowM8 = &walk.Row{
		ID: "azure.M8", Of: machineKind,
		Asks:      "the identities of spec.userAssignedIdentities, which the VM is to have",
		Differs:   walk.Waits.Says("CAPZ calls the machine failed (VM identities are not ready), and does not look at it again"),
		Condition: code.InfrastructureUnasked,
		Source:    "checkUserAssignedIdentities: azure/services/virtualmachines/virtualmachines.go; reconcileNormal: controllers/azuremachine_controller.go v1.13.0 to v1.26.0",
	}
	machineRows = []*walk.Row{rowM1, rowM2, rowM3, rowM4, rowM7, rowM8}
)

// askSizes asks M2 and M3 of each cluster with an AzureMachine or AzureMachinePool that is not paused.
// Nobody answers M2: the list of sizes has thousands, for each location. Of a pool M3 is the role
// assignment alone.
func (q *questions) askSizes() {
	sized, made := map[backup.ClusterID]bool{}, map[backup.ClusterID]bool{}
	for i := range q.objs.members {
		m := &q.objs.members[i]
		if m.kind == machineKind && m.index >= 0 && m.record != nil {
			sized[m.cluster] = sized[m.cluster] || !m.record.Paused
			made[m.cluster] = sized[m.cluster]
		}
	}
	for i := range q.objs.pools {
		if p := &q.objs.pools[i]; p.kind == poolKind && p.record != nil {
			sized[p.cluster] = sized[p.cluster] || !p.record.Paused
			made[p.cluster] = made[p.cluster] || !p.record.Paused && p.record.Data.Identity == "SystemAssigned"
		}
	}
	for _, id := range q.objs.order() {
		q.noteUnseen(rowM2, id, sized[id])
		q.noteUnseen(rowM3, id, made[id])
	}
}

// askMember asks what the backup says of a machine, or a listing of one that has no VM.
func (q *questions) askMember(m *member) {
	if m.index < 0 || m.record == nil && m.kind == machineKind || m.record != nil && m.record.Paused {
		return
	}
	machine := &q.objs.snapshot.Machines[m.index]
	subject := fmt.Sprintf("Machine %s/%s", machine.Namespace, machine.Name)
	step := func(r *walk.Row) walk.Step {
		return walk.Step{Row: r, Cluster: m.cluster, Subject: subject, Machine: m.index}
	}
	if m.kind == memberKind {
		q.askPoolMember(m, step)
		return
	}
	note := func(r *walk.Row, a walk.Answer) {
		s := step(r)
		s.Answer = a
		q.Keep(s)
	}
	if m.record.Data.ProviderID != "" {
		if machine.Bootstrapped {
			note(rowM1, pass)
		} else {
			note(rowM1, answer(walk.None, subject, "it names no bootstrap data", "names it"))
		}
	}
	g, name := q.objs.locations[m.cluster].groupID(), m.vmName()
	if m.record.Data.ProviderID == "" || g == "" || name == "" {
		return
	}
	object := subject
	q.look(step(rowM4), func(l *infra.Lookup) walk.Answer {
		if l.State != code.ScopeComplete || !l.Finds(Answered(g)) {
			return walk.Answer{}
		}
		if l.Holds(infra.Key{Kind: keyPlace, Value: within(g, name)}) {
			return pass
		}
		return walk.Answer{Found: walk.None, Why: "the VM is gone", Objects: []string{object}}
	})
}

// onInstance asks the rows that look at the VM that CAPZ takes for a machine.
func (objs *objects) onInstance() func(int, infra.Sight) []walk.Step {
	by := make([]*member, len(objs.snapshot.Machines))
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 && m.kind == machineKind && m.record != nil && !m.record.Paused {
			by[m.index] = m
		}
	}
	passed := []walk.Step{{Row: rowM7, Answer: pass}, {Row: rowM8, Answer: pass}, {Row: rowM9, Answer: pass}}
	return func(machine int, at infra.Sight) []walk.Step {
		m := by[machine]
		if m == nil || at.Listing == nil {
			return nil
		}
		nics, ids, tags := objs.interfaces(m, at), objs.identified(m, at), objs.tagged(m, at)
		if nics.Found == walk.Passed && ids.Found == walk.Passed && tags.Found == walk.Passed {
			return passed
		}
		return []walk.Step{{Row: rowM7, Answer: nics}, {Row: rowM8, Answer: ids}, {Row: rowM9, Answer: tags}}
	}
}

// interfaces asks M7.
func (objs *objects) interfaces(m *member, at infra.Sight) walk.Answer {
	text, seen := at.Instance.Facts.Get(factInterfaces)
	g, object := objs.locations[m.cluster].groupID(), "VM "+at.Instance.Name
	if !seen || g == "" {
		return unseen(infra.ClusterTitle(m.cluster))
	}
	for _, id := range listOf(text) {
		if !inGroup(strings.ToLower(id), g) {
			return answer(walk.Differs, object, fmt.Sprintf("%s has network interface %s, which is in another resource group", object, infra.Brief(id)), "has it no more")
		}
	}
	return pass
}

// identified asks M8.
func (objs *objects) identified(m *member, at infra.Sight) walk.Answer {
	if len(m.record.Data.Identities) == 0 {
		return pass
	}
	text, seen := at.Instance.Facts.Get(factIdentities)
	if !seen {
		return unseen(infra.ClusterTitle(m.cluster))
	}
	have, object, folded := listOf(text), "VM "+at.Instance.Name, false
	for _, want := range m.record.Data.Identities {
		id := strings.TrimPrefix(want, providerIDPrefix)
		switch {
		case slices.Contains(have, id):
		case slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, id) }):
			folded = true // CAPZ compares letter by letter, and lists may differ from what it reads
		default:
			return answer(walk.Differs, object, object+" lacks identity "+infra.Brief(id), "has it")
		}
	}
	if folded {
		return unseen(infra.ClusterTitle(m.cluster))
	}
	return pass
}

package vsphere

import (
	"fmt"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// restore returns what the objects behind a machine say of the restore beside its id.
func (objs *objects) restore(m *member) *infra.Restore {
	if m.index < 0 || m.machine == nil {
		return nil
	}
	template, paused := "", ""
	if m.machine.Data.ControlPlane {
		template = m.machine.Data.Template
	}
	switch {
	case m.machine.Paused:
		paused = machineKind + " " + m.machine.Name
	case m.vm != nil && m.vm.Paused:
		paused = vmKind + " " + m.vm.Name
	}
	lacks := objs.lacks(m)
	unclaimed := ""
	switch lost, claim := objs.unclaimed(m); lost {
	case addressClaims:
		unclaimed = claimKind + " " + claim
	case addresses:
		unclaimed = "the IPAddress of " + claimKind + " " + claim
	}
	if template == "" && lacks == nil && paused == "" && unclaimed == "" {
		return nil
	}
	if last := objs.lastRestore; lacks != nil || last == nil || last.Lacks != nil || last.Template != template || last.Paused != paused || last.Unclaimed != unclaimed {
		objs.lastRestore = &infra.Restore{Template: template, Lacks: lacks, Paused: paused, Unclaimed: unclaimed}
	}
	return objs.lastRestore
}

// claims returns the IPAddressClaims of the backup, and whether each has its IPAddress, which the in-cluster
// provider looks for by the claim's name among those of its pool (Reconcile: pkg/ipamutil/reconciler.go;
// EnsureAddress: internal/controllers of cluster-api-ipam-provider-in-cluster v1.0.0 to v1.1.0-rc.2).
func claims(s *backup.Snapshot) map[capi.Object]bool {
	all := map[capi.Object]bool{}
	for c := range addressClaims.In(s).All() {
		all[capi.Object{Backup: c.Backup, Namespace: c.Namespace, Name: c.Name}] = false
	}
	for a := range addresses.In(s).All() {
		c := addressClaims.In(s).Named(a.Backup, a.Namespace, a.Data.Claim)
		if c != nil && a.Data.Pool == c.Data.Name && (a.Name == c.Name || !strings.HasSuffix(c.Data.Kind, "InClusterIPPool")) {
			all[capi.Object{Backup: c.Backup, Namespace: c.Namespace, Name: c.Name}] = true
		}
	}
	return all
}

// unclaimed returns the kind of the first object for an address of the machine that the backup
// lacks, nil when it lacks none, and the name of the IPAddressClaim. CAPV
// makes an IPAddressClaim again, waits until it has an address, and writes that into the VM's
// metadata, whatever the VM has (controllers/vspherevm_ipaddress_reconciler.go and ReconcileVM
// in pkg/services/govmomi/service.go v1.6.0 to v1.16.1). A claim without its IPAddress is given
// the first that is free (cluster-api-ipam-provider-in-cluster FindFreeAddress).
func (objs *objects) unclaimed(m *member) (lost backup.AnyKind, claim string) {
	var devices []device
	switch {
	case m.vm != nil:
		devices = objs.devicesIn(m.vm.Data.Devices)
	case objs.madeAgain(m):
		devices = objs.devices(m)
	}
	at := m.vmAt()
	for device, d := range devices {
		for pool := range d.Pools {
			name := fmt.Sprintf("%s-%d-%d", at.Name, device, pool)
			switch whole, claimed := objs.claims[capi.Object{Backup: at.Backup, Namespace: at.Namespace, Name: name}]; {
			case !claimed:
				return addressClaims, name
			case !whole:
				return addresses, name
			}
		}
	}
	return nil, ""
}

// madeAgain reports whether CAPV makes a VSphereVM for a machine that had one, and of which name.
func (objs *objects) madeAgain(m *member) bool {
	return m.vm == nil && m.index >= 0 && m.machine != nil && m.unnamed == "" && !m.strong.IsZero() &&
		objs.lacks(m) == nil && !objs.snapshot.IsUnread(m.machine.Backup, vmKind)
}

// vmAt returns which VSphereVM a machine has, or which one CAPV makes for it.
func (m *member) vmAt() capi.Object {
	switch {
	case m.vm != nil:
		return capi.ObjectOf(&m.vm.Meta)
	case m.machine != nil:
		return capi.Object{Backup: m.machine.Backup, Namespace: m.machine.Namespace, Name: m.name}
	}
	return capi.Object{}
}

// zoneOfMachine returns the VSphereDeploymentZone that a Machine names. CAPV follows the
// Machine alone, not the VSphereMachine (pkg/services/vimmachine.go v1.16.1).
func (objs *objects) zoneOfMachine(m *member) (name string, zone *backup.Record[vsphereZone]) {
	if name = objs.snapshot.Machines[m.index].FailureDomain; name == "" {
		return "", nil
	}
	return name, objs.zones[capi.Object{Backup: m.cluster.Backup, Name: name}]
}

// domainOf returns the VSphereFailureDomain of a zone, or nil.
func (objs *objects) domainOf(z *backup.Record[vsphereZone]) *backup.Record[vsphereDomain] {
	return objs.domains[capi.Object{Backup: z.Backup, Name: z.Data.Domain}]
}

// lacks returns the cluster-scoped objects of the machine's placement that the backup
// lacks. CAPV reads both before it looks for the VM, and stops without them
// (controllers/vspherevm_controller.go v1.16.1).
func (objs *objects) lacks(m *member) []string {
	name, zone := objs.zoneOfMachine(m)
	switch {
	case name == "":
		return nil
	case zone == nil:
		return []string{zoneKind + " " + name}
	case objs.domains[capi.Object{Backup: zone.Backup, Name: zone.Data.Domain}] == nil:
		return []string{domainKind + " " + zone.Data.Domain}
	}
	return nil
}

package vsphere

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// restore is what the objects behind a machine say of the restore beside its id.
func (objs *objects) restore(m *member) *infra.Restore {
	if m.index < 0 || m.machine == nil {
		return nil
	}
	template, paused, refused := "", "", ""
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
	if lacks == nil && paused == "" {
		refused = objs.refused(m)
	}
	unclaimed := ""
	switch lost, claim := objs.unclaimed(m); lost {
	case addressClaims:
		unclaimed = claimKind + " " + claim
	case addresses:
		unclaimed = "the IPAddress of " + claimKind + " " + claim
	}
	if template == "" && lacks == nil && refused == "" && paused == "" && unclaimed == "" {
		return nil
	}
	return &infra.Restore{Template: template, Lacks: lacks, Refused: refused, Paused: paused, Unclaimed: unclaimed}
}

// claims are the IPAddressClaims of the backup.
func claims(s *backup.Snapshot) map[capi.Object]bool {
	all := map[capi.Object]bool{}
	for c := range addressClaims.In(s).All() {
		all[capi.Object{Backup: c.Backup, Namespace: c.Namespace, Name: c.Name}] = false
	}
	for a := range addresses.In(s).All() {
		k := capi.Object{Backup: a.Backup, Namespace: a.Namespace, Name: a.Data.Claim}
		if _, claimed := all[k]; claimed {
			all[k] = true
		}
	}
	return all
}

// unclaimed is the kind of the first object for an address of the machine that the backup
// lacks, nil when it lacks none, and the name of the IPAddressClaim. CAPV
// makes an IPAddressClaim again, waits until it has an address, and writes that into the VM's
// metadata, whatever the VM has (controllers/vspherevm_ipaddress_reconciler.go and ReconcileVM
// in pkg/services/govmomi/service.go v1.6.0 to v1.16.1). A claim without its IPAddress is given
// the first that is free (cluster-api-ipam-provider-in-cluster FindFreeAddress).
func (objs *objects) unclaimed(m *member) (lost backup.AnyKind, claim string) {
	if m.vm == nil {
		return nil, ""
	}
	for device, text := range m.vm.Data.Pools {
		var pools []struct{}
		if json.Unmarshal([]byte(text), &pools) != nil {
			continue // of a device without pools there is no text
		}
		for pool := range pools {
			name := fmt.Sprintf("%s-%d-%d", m.vm.Name, device, pool)
			switch whole, claimed := objs.claims[capi.Object{Backup: m.vm.Backup, Namespace: m.vm.Namespace, Name: name}]; {
			case !claimed:
				return addressClaims, name
			case !whole:
				return addresses, name
			}
		}
	}
	return nil, ""
}

// zoneOfMachine is the VSphereDeploymentZone that a Machine names. CAPV follows the
// Machine alone, not the VSphereMachine (pkg/services/vimmachine.go v1.16.1).
func (objs *objects) zoneOfMachine(m *member) (name string, zone *backup.Record[vsphereZone]) {
	if name = objs.snapshot.Machines[m.index].FailureDomain; name == "" {
		return "", nil
	}
	return name, objs.zones[capi.Object{Backup: m.cluster.Backup, Name: name}]
}

// lacks are the cluster-scoped objects of the machine's placement that the backup
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

// refused says why CAPV does nothing for the machine: it cannot update the machine's
// VSphereVM. It writes the VSphereMachine's clone spec with the zone's placement into the VSphereVM again each
// time, and its own webhook forbids any change of that (pkg/services/vimmachine.go and
// internal/webhooks/vspherevm.go v1.16.1).
func (objs *objects) refused(m *member) string {
	if m.vm == nil {
		return ""
	}
	want, needs := m.machine.Data.Spec, m.machine.Data.Needs
	if _, zone := objs.zoneOfMachine(m); zone != nil {
		domain := objs.domains[capi.Object{Backup: zone.Backup, Name: zone.Data.Domain}]
		want.Server, want.Datacenter = zone.Data.Server, domain.Data.Datacenter
		want.Folder = cmp.Or(zone.Data.Folder, want.Folder)
		needs.Pool = cmp.Or(zone.Data.Pool, needs.Pool)
		needs.Datastore = cmp.Or(domain.Data.Datastore, needs.Datastore)
	}
	if want.Server == "" {
		c := objs.vsphereCluster(m.cluster)
		if c == nil {
			return "" // the cluster as a whole is not reconciled
		}
		want.Server = c.Data.Server
	}
	have := &m.vm.Data
	var differ []string
	for _, f := range []struct{ name, have, want string }{
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
	if differ == nil {
		return ""
	}
	return fmt.Sprintf("spec.%s of VSphereVM %s differs from what VSphereMachine %s and its failure domain say, and CAPV's webhook refuses to change it",
		strings.Join(differ, ", spec."), m.vm.Name, m.machine.Name)
}

// recipes are what templates and machines without an instance need.
func (objs *objects) recipes() []infra.Recipe {
	n := objs.needed()
	list := make([]infra.Recipe, 0, len(n.uses))
	var needs []infra.Need
	for i, u := range n.uses {
		if i == 0 || !slices.Equal(u.things, n.uses[i-1].things) {
			needs = make([]infra.Need, len(u.things))
			for i, t := range u.things {
				needs[i] = infra.Need{Kind: t.kind, Name: t.name, UsedBy: t.users}
			}
		}
		list = append(list, infra.Recipe{Cluster: u.cluster, Machine: u.machine, Object: u.name(), Needs: needs})
	}
	return list
}

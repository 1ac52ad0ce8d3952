package vsphere

import (
	"fmt"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

var (
	ruleCredential = check.Rule{
		Code: "CredentialAbsent", Severity: code.CheckError, Mended: true,
		Happens: "The backup lacks a credential for the infrastructure.",
		Why:     "CAPV can't log in to the vCenter: after the restore nothing of these clusters is reconciled.",
		Do:      "create the Secret by hand, or correct it, before the clusters are unpaused; give user and password to drift-detector detect with --credentials",
	}
	ruleBadIdentity = capi.NewBadIdentityRule("CAPV", "pkg/identity/identity.go", referenceField)
	rulesForbidden  = capi.NewForbiddenRules("CAPV", "pkg/identity/identity.go", "spec.allowedNamespaces")
	ruleBootstrap   = check.Rule{
		Code: "BootstrapDataAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks the bootstrap data of a machine.",
		Why:     "CAPV creates the VSphereVM again, without the BIOS UUID, and looks for the VM by its name; where it finds none, it can't clone one without the bootstrap data.",
		Do:      "see whether its VM is there under its name (run drift-detector detect); if not, delete the Machine after the restore, so that its owner creates another",
	}
	ruleAddress = check.Rule{
		Code: "AddressAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks the address that a machine has from a pool.",
		Why:     "CAPV does nothing for the machine until another one has an address from the pool, which may be one that another machine has, and then writes that into the VM's metadata.",
		Do:      "take a newer backup without that filter, or an older one that holds it; else create both by hand, with the address that the VM has, before the cluster is unpaused",
		LiveDo:  "find out why it is gone, or create it again, from your sources or an older backup; else create both by hand, with the address that the VM has, before the cluster is unpaused",
	}
	ruleGone = check.Rule{
		Code: "VMGone", Severity: code.CheckWarning,
		Happens: "The controller had lost the VM of a machine before the backup.",
		Why:     "CAPV has not found the VM by its BIOS UUID any more, and says so nowhere but in this condition: Machine and VSphereMachine look fine. It never creates a recorded VM again.",
		Do:      "see whether the VM is gone for good (run drift-detector detect); after the restore a MachineHealthCheck replaces the Machine, or a person deletes it",
	}
)

// notFound is the reason of a VSphereVM's condition when its VM is gone (CAPV
// api/govmomi/v1beta2/condition_consts.go v1.16.1).
const notFound = "NotFoundByBIOSUUID"

// Check returns what will not work with CAPV after a restore: credentials that the backup
// lacks, that cannot be had from what names them, or that a namespace may not use, machines
// that lack their bootstrap data or their addresses from pools, VMs that were gone when the
// backup was taken, and API versions that CAPV does not serve.
func (p *Provider) Check(s *backup.Snapshot, secrets *backup.Secrets, _ time.Time) []check.Finding {
	objs := p.read.Swap(nil)
	if objs == nil || objs.snapshot != s {
		objs = newObjects(s)
	}
	homes := objs.homeScopes()
	return slices.Concat(objs.credentialsAbsent(homes, secrets), objs.identitiesForbidden(homes), objs.gone(), objs.addressesAbsent(), objs.bootstrapAbsent(secrets), check.Versions(s, versionedKinds, servedVersions))
}

// servedVersions are CAPV's: v1.8 still served both alphas, v1.10 does not (config
// CRDs v1.8.10, v1.10.4).
var servedVersions = []check.ServedVersion{
	{Version: "v1alpha3", Until: "Cluster API Provider vSphere serves it up to release v1.8 or v1.9"},
	{Version: "v1alpha4", Until: "Cluster API Provider vSphere serves it up to release v1.8 or v1.9"},
}

var versionedKinds = []*check.VersionKind{check.NewVersionKind("vsphereclusters." + group)}

// bootstrapAbsent reports machines without VSphereVM that lack their bootstrap data.
func (objs *objects) bootstrapAbsent(secrets *backup.Secrets) []check.Finding {
	var found []check.Finding
	for i := range objs.members {
		m := &objs.members[i]
		if m.index < 0 || m.machine == nil || m.vm != nil {
			continue
		}
		machine := &objs.snapshot.Machines[m.index]
		if machine.ProviderID == "" || !check.LacksBootstrap(machine, secrets) {
			continue // without a provider id it is waited for, and found as such
		}
		found = append(found, ruleBootstrap.On(machine.Backup, fmt.Sprintf("Secret %s/%s", machine.Namespace, machine.BootstrapSecret),
			"not in %s; bootstrap data of Machine %s, which has no %s there", objs.snapshot.Subject().The(), machine.Name, vmKind).
			At("secrets", machine.Namespace).Of(machine.Cluster))
	}
	return found
}

// addressesAbsent returns the objects for addresses from pools that machines lack, one for each
// cluster: mostly the backup holds none at all.
func (objs *objects) addressesAbsent() []check.Finding {
	first, count := map[backup.ClusterID]*member{}, map[backup.ClusterID]int{}
	for i := range objs.members {
		m := &objs.members[i]
		if lost, _ := objs.unclaimed(m); lost == nil || m.index < 0 {
			continue
		}
		if count[m.cluster]++; first[m.cluster] == nil {
			first[m.cluster] = m
		}
	}
	var found []check.Finding
	for id, m := range first {
		at := m.vmAt()
		lost, claim := objs.unclaimed(m)
		what := "it"
		if lost == addresses {
			what = "its IPAddress"
		}
		f := ruleAddress.On(id.Backup, claimKind+" "+at.Namespace+"/"+claim,
			"%s is not in %s, and has an address of %s %s/%s", what, objs.snapshot.Subject().The(), vmKind, at.Namespace, at.Name)
		if n := count[id] - 1; n > 0 {
			f = f.And(fmt.Sprintf("likewise of %d more in the cluster", n))
		}
		found = append(found, f.At(lost.Resource(), at.Namespace).Of(id))
	}
	return found
}

// credentialsAbsent returns the identities that CAPV cannot log in with, or of which the login is
// not in the backup.
func (objs *objects) credentialsAbsent(homes []*homeScope, secrets *backup.Secrets) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		if h.identity.Kind == unknownIdentity {
			continue // the VSphereCluster itself is what the backup lacks
		}
		id := h.identity
		if why := mistake(id.Kind); why != "" {
			found.Add(ruleBadIdentity.On(h.backup, "identity "+id.String(), "%s", why), h.clusters...)
			continue
		}
		_, fault := objs.credentialOf(h, secrets)
		if id.Kind == identityKind {
			if objs.identities[capi.Object{Backup: h.backup, Name: id.Name}] == nil && objs.snapshot.IsUnread(h.backup, identityKind) {
				continue // nobody knows which Secret is its
			}
			// That the identity is absent, and who may use it, are findings of their own.
			_, fault = objs.fromIdentity(h, secrets)
		}
		if fault == nil {
			continue
		}
		what, namespace := "credential of "+id.Kind+" "+id.Name, managerSpace
		switch id.Kind {
		case secretKind:
			what, namespace = secretKind+" "+id.Namespace+"/"+id.Name, id.Namespace
		case managerIdentity:
			what = secretKind + " " + managerSpace + "/" + managerSecret
		}
		found.Add(ruleCredential.On(h.backup, what, "%s", fault.Message).At("secrets", namespace), h.clusters...)
	}
	return found.Findings()
}

// identitiesForbidden returns the identities that a cluster names and that its namespace may
// not use.
func (objs *objects) identitiesForbidden(homes []*homeScope) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		for _, id := range h.clusters {
			c := objs.vsphereCluster(id)
			shared := objs.sharedIdentity(c)
			if shared == nil {
				continue
			}
			if why, decided := objs.excluded(c, shared); why != "" {
				found.Add(rulesForbidden.On(id, identityKind+" "+shared.Name, why, decided), id)
			}
		}
	}
	return found.Findings()
}

func (objs *objects) gone() []check.Finding {
	var found []check.Finding
	for i := range objs.members {
		m := &objs.members[i]
		if m.vm == nil || m.vm.Data.Missing == nil || m.vm.Data.Missing.Reason != notFound {
			continue
		}
		says := "its Machine " + objs.snapshot.Lacks(m.vm.Backup, "Machine")
		if m.index >= 0 {
			says = "its Machine says " + objs.snapshot.Machines[m.index].Phase
		}
		found = append(found, ruleGone.On(m.vm.Backup, vmKind+" "+m.vm.Namespace+"/"+m.vm.Name,
			"condition says %s, while %s", notFound, says).Of(m.cluster))
	}
	return found
}

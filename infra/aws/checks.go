package aws

import (
	"fmt"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

var (
	ruleCredential = check.Rule{
		Code: "CredentialAbsent", Severity: code.CheckError, Mended: true,
		Happens: "The backup lacks a credential for the infrastructure.",
		Why:     "CAPA can't log in to AWS: after the restore nothing of these clusters is reconciled.",
		Do:      "create the Secret by hand, or correct it, before the clusters are unpaused; use credentials of your own for drift-detector detect with --aws-profile or --aws-ambient",
	}
	ruleControllerCredential = check.Rule{
		Code: "CredentialAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks a credential for the infrastructure.",
		Why:     "Unless CAPA gets its credential from its service account or its instance, it can't log in to AWS after the restore, and nothing of these clusters is reconciled.",
		Do:      "where CAPA used a Secret, create or correct it by hand before the clusters are unpaused; use credentials of your own for drift-detector detect with --aws-profile or --aws-ambient",
	}
	ruleBadIdentity = capi.NewBadIdentityRule("CAPA", "pkg/cloud/scope/session.go", referenceFields)
	rulesForbidden  = capi.NewForbiddenRules("CAPA", "pkg/cloud/scope/session.go", "spec.allowedNamespaces")
	ruleKubeconfig  = check.Rule{
		Code: "KubeconfigNotAdopted", Severity: code.CheckError, Mended: true,
		Happens: "The backup holds a kubeconfig that its controller does not take back.",
		Why:     "A restore takes ownerReferences away, and CAPA refuses a kubeconfig that its AWSManagedControlPlane does not own (pkg/cloud/services/eks/config.go): the control plane is never ready again. Without the Secret CAPA creates a new one.",
		Do:      "leave the Secret out of the restore (velero restore create --exclude-resources or a label selector), or delete it after the restore, before the cluster is unpaused",
	}
	ruleBootstrap = check.Rule{
		Code: "BootstrapDataAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks the bootstrap data of a machine.",
		Why:     "The AWSMachine records no instance: CAPA looks for one by its tags, and where it finds none that runs, it can't launch one without the bootstrap data.",
		Do:      "see whether its instance runs (run drift-detector detect); if not, delete the Machine after the restore, so that its owner creates another",
	}
)

// servedVersions are CAPA's: it served v1alpha3 and v1alpha4 up to v1.5 and v1beta1 up
// to v2.3 (config/crd/bases v1.5.5, v2.0.0, v2.3.0, v2.4.0).
var servedVersions = []check.ServedVersion{
	{Version: "v1alpha3", Until: "Cluster API Provider AWS serves it up to release v1.5"},
	{Version: "v1alpha4", Until: "Cluster API Provider AWS serves it up to release v1.5"},
	{Version: "v1beta1", Until: "Cluster API Provider AWS serves it up to release v2.3"},
}

// Check returns what will not work with CAPA after a restore: credentials that the
// backup lacks, that cannot be had from what names them, or that a namespace may not use, kubeconfigs that CAPA does not take
// back, and API versions that it does not serve.
func (p *Provider) Check(s *backup.Snapshot, secrets *backup.Secrets, _ time.Time) []check.Finding {
	objs := newObjects(s)
	return slices.Concat(objs.credentialsAbsent(secrets), objs.identitiesForbidden(), objs.kubeconfigs(secrets), objs.bootstrapAbsent(secrets),
		check.Versions(s, versionedKinds, servedVersions))
}

// credentialsAbsent returns the identities that CAPA cannot log in with, or of which the keys
// are not in the backup.
func (objs *objects) credentialsAbsent(secrets *backup.Secrets) []check.Finding {
	var found check.Shared
	for _, h := range objs.homeScopes() {
		if h.identity.Kind == unknownIdentity {
			continue // the cluster's own object is what the backup lacks
		}
		h.forbidden = "" // a finding of its own: the keys may be absent as well
		if why := objs.mistake(h.backup, h.identity); why != "" {
			found.Add(ruleBadIdentity.On(h.backup, "identity "+h.identity.String(), "%s", why), h.clusters...)
			continue
		}
		_, fault := objs.credentialOf(h, secrets, infra.Access{})
		if fault == nil || fault.Reason == ruleBadIdentity.Code {
			continue // more roles than are followed here
		}
		rule, what := ruleCredential, "credential of "+h.identity.Kind+" "+h.identity.Name
		// A role is assumed with what its chain ends with.
		chain := objs.chain(h.backup, h.identity)
		if end := chain[len(chain)-1]; end.Kind == controllerIdentity {
			rule, what = ruleControllerCredential, "Secret "+managerSpace+"/"+managerSecret
		}
		found.Add(rule.On(h.backup, what, "%s", fault.Message).At("secrets", managerSpace), h.clusters...)
	}
	return found.Findings()
}

// identitiesForbidden returns the identities that a cluster names, by itself or along a
// chain of roles, and that its namespace may not use.
func (objs *objects) identitiesForbidden() []check.Finding {
	var found check.Shared
	for _, id := range objs.order() {
		for _, at := range objs.chain(id.Backup, identityOf(id, objs.locations[id])) {
			if p, why := objs.permission(id, at); p != Allowed {
				found.Add(rulesForbidden.On(id, at.String(), why, p == Forbidden), id)
			}
		}
	}
	return found.Findings()
}

// kubeconfigs returns those of EKS clusters, whose presence is what breaks.
func (objs *objects) kubeconfigs(secrets *backup.Secrets) []check.Finding {
	var found []check.Finding
	for _, id := range objs.order() {
		name := id.Name + code.KubeconfigSecret
		if s := objs.locations[id]; s.record != nil && s.kind == planeKind && !objs.snapshot.Moved(id.Backup) && secrets.Named(id.Backup, id.Namespace, name) != nil {
			found = append(found, ruleKubeconfig.On(id.Backup, fmt.Sprintf("Secret %s/%s", id.Namespace, name),
				"in %s, and without an owner after the restore", objs.snapshot.Subject().The()).Of(id))
		}
	}
	return found
}

// bootstrapAbsent reports machines of which no instance is on record and that lack their
// bootstrap data, although the Machine has had an instance.
func (objs *objects) bootstrapAbsent(secrets *backup.Secrets) []check.Finding {
	var found []check.Finding
	for i := range objs.members {
		m := &objs.members[i]
		if m.index < 0 || m.machine == nil || m.machine.Data.ProviderID != "" || m.machine.Data.InstanceID != "" {
			continue
		}
		machine := &objs.snapshot.Machines[m.index]
		if machine.ProviderID == "" || !check.LacksBootstrap(machine, secrets) {
			continue // without a provider id it is waited for, and found as such
		}
		found = append(found, ruleBootstrap.On(machine.Backup, fmt.Sprintf("Secret %s/%s", machine.Namespace, machine.BootstrapSecret),
			"not in %s; bootstrap data of Machine %s, whose %s records no instance", objs.snapshot.Subject().The(), machine.Name, machineKind).
			At("secrets", machine.Namespace).Of(machine.Cluster))
	}
	return found
}

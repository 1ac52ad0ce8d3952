package openstack

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
		Why:     "CAPO, or ORC for an Image, can't log in to OpenStack: after the restore nothing that names the credential is reconciled, until 74 seconds after it is there (as seen with CAPO v0.14.7).",
		Do:      "create the Secret by hand, or correct it, before the clusters are unpaused; use a credential of your own for drift-detector detect with --openstack-cloud",
	}
	ruleBadIdentity = capi.NewBadIdentityRule("CAPO", "pkg/scope/provider.go", referenceFields)
	rulesForbidden  = capi.NewForbiddenRules("CAPO", "pkg/scope/provider.go", "spec.namespaceSelector")
	ruleBootstrap   = check.Rule{
		Code: "BootstrapDataAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks the bootstrap data of a machine.",
		Why:     "CAPO up to release 0.10 reads the bootstrap data of a machine before it looks for its server: it does nothing for the machine, although its server runs.",
		Do:      "take a backup that holds the Secret; else create it before the cluster is unpaused: where the server runs, any content under the key value will do",
		LiveDo:  "take backups that hold the Secret; else create it before the cluster is unpaused: where the server runs, any content under the key value will do",
	}
	ruleOtherCloud = check.Rule{
		Code: "IdentityDiffers", Severity: code.CheckWarning,
		Happens: "Objects of one cluster name different identities.",
		Why:     "CAPO looks for a server where the OpenStackServer says, and creates the cluster's network where the OpenStackCluster says: with another project in each, a new server finds no network.",
		Do:      "see that both identities lead to the same project",
	}
)

// servedVersions are CAPO's: v0.10 served v1alpha6 the last, v0.11 v1alpha7 (config/crd
// v0.8.0 to v0.13.9).
var servedVersions = []check.ServedVersion{
	{Version: "v1alpha5", Until: "Cluster API Provider OpenStack serves it up to release v0.9"},
	{Version: "v1alpha6", Until: "Cluster API Provider OpenStack serves it up to release v0.10"},
	{Version: "v1alpha7", Until: "Cluster API Provider OpenStack serves it up to release v0.11"},
}

// Check returns what will not work with CAPO after a restore: credentials that the backup
// lacks, that cannot be had from what names them, or that a namespace may not use, and API versions that it does not serve.
func (p *Provider) Check(s *backup.Snapshot, secrets *backup.Secrets, _ time.Time) []check.Finding {
	objs := newObjects(s)
	homes := objs.homeScopes()
	return slices.Concat(objs.credentialsAbsent(homes, secrets), objs.identitiesForbidden(homes), objs.identitiesDiffer(), objs.addressesAbsent(), objs.bootstrapAbsent(secrets), check.Versions(s, versionedKinds, servedVersions))
}

// credentialsAbsent returns the homes of which the credential is not in the backup, or not one
// that CAPO can log in with.
func (objs *objects) credentialsAbsent(homes []*homeScope, secrets *backup.Secrets) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		if h.kind == unknownIdentity {
			continue // the cluster's own object is what the backup lacks
		}
		if why := h.mistake(); why != "" {
			found.Add(ruleBadIdentity.On(h.backup, "identity "+h.name, "%s", why), h.clusters...)
			continue
		}
		at := h.home
		if at.kind == identityKind {
			object := objs.identities[capi.Object{Backup: h.backup, Name: h.name}]
			if object == nil {
				continue // an absence of its own
			}
			// Who may use it is a finding of its own: its Secret may be absent as well.
			at.forbidden, at.namespace = false, object.Data.Namespace
		}
		_, fault := objs.fromBackup(at, secrets)
		if fault == nil || fault.Reason != code.NoCredential {
			continue
		}
		found.Add(ruleCredential.On(h.backup, "credential of "+h.what(), "%s", fault.Message).At("secrets", at.namespace), h.clusters...)
	}
	return found.Findings()
}

// identitiesForbidden returns the identities that a cluster or a machine of it names and that
// its namespace may not use.
func (objs *objects) identitiesForbidden(homes []*homeScope) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		if h.kind != identityKind {
			continue
		}
		for _, id := range h.clusters {
			if why, undecided := objs.forbidden(id.Backup, h.name, id.Namespace); why != "" {
				found.Add(rulesForbidden.On(id, h.what(), why, !undecided), id)
			}
		}
	}
	return found.Findings()
}

// identitiesDiffer reports machines that go by another identity than their cluster.
func (objs *objects) identitiesDiffer() []check.Finding {
	var found check.Shared
	for i := range objs.members {
		m := &objs.members[i]
		l := objs.locations[m.cluster]
		mine, theirs := objs.homeOf(m.cluster, m, l), objs.homeOf(m.cluster, nil, l)
		mine.region, theirs.region = "", ""
		if l.record == nil || mine == theirs {
			continue
		}
		found.Add(ruleOtherCloud.On(m.cluster.Backup, fmt.Sprintf("machines of %s/%s", m.cluster.Namespace, m.cluster.Name),
			"%s uses %s, cloud %s, and its cluster %s, cloud %s", objs.serverName(m), mine.what(), infra.Brief(mine.cloud), theirs.what(), infra.Brief(theirs.cloud)), m.cluster)
	}
	return found.Findings()
}

// bootstrapAbsent reports machines that had a server, and whose bootstrap data is read all the same.
func (objs *objects) bootstrapAbsent(secrets *backup.Secrets) []check.Finding {
	var found []check.Finding
	for i := range objs.members {
		m := &objs.members[i]
		if m.index < 0 || objs.locations[m.cluster].release > withoutServers {
			continue
		}
		machine := &objs.snapshot.Machines[m.index]
		if machine.ProviderID == "" || !check.LacksBootstrap(machine, secrets) {
			continue // without a provider id it is waited for, and found as such
		}
		found = append(found, ruleBootstrap.On(machine.Backup, fmt.Sprintf("Secret %s/%s", machine.Namespace, machine.BootstrapSecret),
			"not in %s; bootstrap data of Machine %s", objs.snapshot.Subject().The(), machine.Name).
			At("secrets", machine.Namespace).Of(machine.Cluster))
	}
	return found
}

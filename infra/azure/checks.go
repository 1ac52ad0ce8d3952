package azure

import (
	"slices"
	"strings"
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
		Why:     "CAPZ cannot log in to Azure: after the restore nothing of these clusters is reconciled.",
		Do:      "create the Secret by hand before the clusters are unpaused; use a login of your own for drift-detector detect with --azure-cli",
	}
	ruleBadIdentity  = capi.NewBadIdentityRule("CAPZ", "azure/scope/identity.go", "type, tenantID, clientID and clientSecret of the AzureClusterIdentity")
	rulesForbidden   = capi.NewForbiddenRules("CAPZ", "azure/scope/identity.go", "spec.allowedNamespaces")
	ruleSecretPadded = check.Rule{
		Code: "CredentialPadded", Severity: code.CheckWarning,
		Happens: "The secret of a service principal begins or ends in white space.",
		Why:     "CAPZ logs in with the value as it is in the Secret (GetTokenCredential in azure/scope/identity.go v1.26.0), and Entra refuses a secret with a newline behind it (AADSTS7000215).",
		Do:      "write the value without the white space into the Secret, and restart CAPZ, which keeps the old one for a day",
	}
)

// Check returns what will not work with CAPZ after a restore: credentials that the backup
// lacks, that cannot be used, or that a namespace may not use.
func (p *Provider) Check(s *backup.Snapshot, secrets *backup.Secrets, _ time.Time) []check.Finding {
	objs := newObjects(s)
	homes := objs.homeScopes()
	return slices.Concat(objs.credentialsAbsent(homes, secrets), objs.identitiesForbidden(homes), objs.secretsPadded(homes, secrets))
}

// credentialsAbsent returns the homes of which the backup is to hold the credential and does not,
// or holds one that CAPZ cannot log in with. A workload identity is in no backup.
func (objs *objects) credentialsAbsent(homes []*homeScope, secrets *backup.Secrets) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		object := objs.identities[h.object()]
		if h.reason != "" || object == nil {
			continue // an absence of its own
		}
		if t := object.Data.Type; t == typeWorkload || t == typeMSI || t == typeUserAssigned || t == typeCertificate && object.Data.CertPath != "" {
			continue
		}
		of := h.home
		of.forbidden = ""
		_, fault := objs.fromBackup(of, secrets)
		switch {
		case fault == nil:
		case fault.Reason == code.BadIdentity:
			found.Add(ruleBadIdentity.On(h.backup, h.what(), "%s", fault.Message), h.clusters...)
		default:
			found.Add(ruleCredential.On(h.backup, "credential of "+h.what(), "%s", fault.Message).At("secrets", object.Data.SecretIn), h.clusters...)
		}
	}
	return found.Findings()
}

// identitiesForbidden returns the identities that a cluster names and that its namespace may not
// use.
func (objs *objects) identitiesForbidden(homes []*homeScope) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		if h.reason != "" {
			continue
		}
		for _, id := range h.clusters {
			if why, undecided := objs.forbidden(h.home, id.Namespace); why != "" {
				found.Add(rulesForbidden.On(id, h.what(), why, !undecided), id)
			}
		}
	}
	return found.Findings()
}

func (objs *objects) secretsPadded(homes []*homeScope, secrets *backup.Secrets) []check.Finding {
	var found check.Shared
	for _, h := range homes {
		f, fault := objs.fromBackup(h.home, secrets)
		if fault == nil && f.Secret != strings.TrimSpace(f.Secret) {
			found.Add(ruleSecretPadded.On(h.backup, f.source, "%s of %s", secretKey, h.what()), h.clusters...)
		}
	}
	return found.Findings()
}

package azure

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// restoreRows are asked while Velero restores.
var (
	rowW1 = &walk.Row{
		ID: "azure.W1", Of: machineKind,
		Asks: "the Cluster of its label, and the AzureCluster of that, in a webhook, as Velero restores it; an AzureMachinePool that is Flexible, or has an identity of the system, asks for its MachinePool likewise",
		Differs: walk.Does{
			Effect: walk.Writes, Code: code.RefusedAtFirst,
			What: "CAPZ's webhook refuses AzureMachines, and AzureMachinePools that ask for the MachinePool. Velero ends PartiallyFailed, and a second restore of the same backup brings them. Until then a health check that deletes a Machine leaves its VM running, which no object knows",
		},
		Source: "SetDefaultsAzureMachine: azuremachine_default.go, SetIdentityDefaults: azuremachinepool_default.go v1.13.0 to v1.26.0; seen with v1.26.0",
	}
	restoreRows = []*walk.Row{rowW1}
)

// Rows of the login, which every controller of CAPZ wants before all else.
var (
	rowS1 = &walk.Row{
		ID: "azure.S1", Of: clusterKind,
		Asks:    "the AzureClusterIdentity that spec.identityRef names, of a type that it knows",
		None:    walk.Halts.Says("CAPZ has no login and does nothing for the cluster"),
		Differs: walk.Halts.Says("CAPZ has no login and does nothing for the cluster"),
		Source:  "NewAzureCredentialsProvider, GetTokenCredential: azure/scope/identity.go v1.13.0 to v1.26.0",
	}
	rowS2 = &walk.Row{
		ID: "azure.S2", Of: clusterKind,
		Asks:    "spec.allowedNamespaces of its identity, which must let the cluster's namespace",
		Differs: walk.Halts.Says("CAPZ does nothing for the cluster (NamespaceNotAllowedByIdentity)"),
		Refused: "the Namespace, which the backup lacks",
		Source:  "EnsureClusterIdentity: controllers/helpers.go; IsClusterNamespaceAllowed: azure/scope/identity.go v1.13.0 to v1.26.0",
	}
	rowS3 = &walk.Row{
		ID: "azure.S3", Of: clusterKind,
		Asks:      "a login with the Secret of a service principal, as it is: CAPZ trims nothing",
		None:      walk.Halts.Says("CAPZ cannot log in and does nothing for the cluster"),
		Differs:   walk.Halts.Says("CAPZ cannot log in and does nothing for the cluster"),
		Condition: code.CredentialUntried,
		Source:    "GetTokenCredential, GetClientSecret: azure/scope/identity.go v1.13.0 to v1.26.0",
	}
	rowS4 = &walk.Row{
		ID: "azure.S4", Of: clusterKind,
		Asks:      "a login of its own: with the token of its pod, an identity of its VM, or a file beside it",
		Condition: code.ControllerLogin,
		Source:    "GetTokenCredential: azure/scope/identity.go v1.13.0 to v1.26.0",
	}
	sessionRows = []*walk.Row{rowS1, rowS2, rowS3, rowS4}
)

// refused counts what the webhooks of CAPZ refuse at first, by cluster.
func (objs *objects) refused() map[backup.ClusterID]int {
	n := map[backup.ClusterID]int{}
	for i := range objs.members {
		if m := &objs.members[i]; m.kind == machineKind && m.record != nil {
			n[m.cluster]++
		}
	}
	for i := range objs.pools {
		if p := &objs.pools[i]; p.kind == poolKind && p.record != nil && (p.record.Data.Mode == "Flexible" || p.record.Data.Identity == "SystemAssigned") {
			n[p.cluster]++
		}
	}
	return n
}

// askRefused asks W1.
func (q *questions) askRefused(id backup.ClusterID, n int) {
	if n == 0 {
		q.Note(rowW1, id, pass)
		return
	}
	q.Note(rowW1, id, walk.Answer{Found: walk.Differs, Why: "Velero restores Clusters last"})
}

// askSession asks whether CAPZ has a login for a cluster.
func (q *questions) askSession(id backup.ClusterID, l *location) {
	h := l.home
	switch {
	case h.reason == noIdentity:
		object := fmt.Sprintf("%s %s/%s", l.kind, l.record.Namespace, l.record.Name)
		q.Note(rowS1, id, answer(walk.None, object, object+" names no identity", "names one"))
		return
	case h.reason != "":
		return // what would say it is absent, or ASO's own
	}
	identity := q.objs.identities[h.object()]
	if identity == nil {
		return // that it is absent halts the cluster
	}
	if why := q.objs.mistake(h); why != "" {
		q.Note(rowS1, id, answer(walk.Differs, identityKind+" "+h.name, why, "is of a type that CAPZ knows"))
		return
	}
	q.Note(rowS1, id, pass)
	switch why, undecided := q.objs.forbidden(h, id.Namespace); {
	case undecided:
		q.Note(rowS2, id, walk.Answer{Found: walk.Unread, Why: why, Objects: []string{identityKind + " " + h.name}})
	case why != "":
		q.Note(rowS2, id, answer(walk.Differs, identityKind+" "+h.name, why, "may be used"))
		return
	default:
		q.Note(rowS2, id, pass)
	}
	d := &identity.Data
	if d.Type == typeSecret || d.Type == typeManual || d.Type == typeCertificate && d.CertPath == "" {
		at := infra.AccessAt{Cluster: id, Subject: infra.ClusterTitle(id), ID: l.target, With: fmt.Sprintf("Secret %s/%s", d.SecretIn, d.Secret)}
		q.Steps = append(q.Steps, at.CredentialStep(rowS3))
		q.Note(rowS4, id, pass)
		return
	}
	q.Note(rowS4, id, unseen(fmt.Sprintf("%s (%s)", h.what(), d.Type)))
}

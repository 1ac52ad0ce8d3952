package azure

import (
	"drift-detector/backup"
	"drift-detector/infra"
)

// Identities returns the AzureClusterIdentities that clusters name and the backup lacks, and
// the Secrets with their credentials (api/v1beta1/azureclusteridentity_types.go v1.26.0).
func (p *Provider) Identities(s *backup.Snapshot, secrets *backup.Secrets) []infra.Manifest {
	objs := newObjects(s)
	var all []infra.Manifest
	known := map[string]bool{}
	for _, h := range objs.homeScopes() {
		if h.reason != "" {
			continue
		}
		object := objs.identities[h.object()]
		if object == nil {
			m := infra.Manifest{Backup: h.backup, APIVersion: group + "/v1beta1", Kind: identityKind, Namespace: h.namespace, Name: h.name, Clusters: h.clusters, Says: []string{"The backup lacks it: find out in your sources which type it had."}}
			m.Fields = map[string]any{"spec": map[string]any{
				"type": infra.Open(typeWorkload + ", or another type"), "tenantID": infra.Open("id of the tenant"), "clientID": infra.Open("id of the application"),
				"allowedNamespaces": map[string]any{"list": m.MayUse(h.clusters)},
			}}
			if !known[m.Title()] {
				known[m.Title()] = true
				all = append(all, m)
			}
			continue
		}
		d := &object.Data
		if d.Type != typeSecret && d.Type != typeManual && (d.Type != typeCertificate || d.CertPath != "") || d.Secret == "" {
			continue
		}
		if one := secrets.Named(h.backup, d.SecretIn, d.Secret); one == nil || one.Value(secretKey).IsZero() {
			m := infra.Manifest{
				Backup: h.backup, APIVersion: "v1", Kind: "Secret", Namespace: d.SecretIn, Name: d.Secret, Clusters: h.clusters,
				Fields: map[string]any{"type": "Opaque", "stringData": map[string]any{secretKey: infra.Open("secret, or certificate with its key in PEM form, of application " + UUIDOf(d.Client))}},
				Says:   []string{"The backup lacks it, or its " + secretKey + ". Write the value without a newline behind it."},
			}
			if !known[m.Title()] {
				known[m.Title()] = true
				all = append(all, m)
			}
		}
	}
	return all
}

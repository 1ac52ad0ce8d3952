package openstack

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Identities returns the Secrets with a clouds.yaml that clusters and machines name and the
// backup lacks, and the OpenStackClusterIdentities (CAPO pkg/scope/provider.go and
// api/v1alpha1/openstackclusteridentity_types.go v0.14.7).
func (p *Provider) Identities(s *backup.Snapshot, secrets *backup.Secrets) []infra.Manifest {
	objs := newObjects(s)
	var all []infra.Manifest
	known := map[string]bool{}
	once := func(m infra.Manifest) {
		if key := fmt.Sprint(m.Backup, " ", m.Title()); !known[key] {
			known[key] = true
			all = append(all, m)
		}
	}
	uses := map[capi.Object][]backup.ClusterID{}
	homes := objs.homeScopes()
	for _, h := range homes {
		if h.kind == identityKind {
			at := capi.Object{Backup: h.backup, Name: h.name}
			uses[at] = append(uses[at], h.clusters...)
		}
	}
	for _, h := range homes {
		namespace, name := h.namespace, h.name
		at := capi.Object{Backup: h.backup, Name: h.name}
		switch object := objs.identities[at]; {
		case h.kind == identityKind && object == nil:
			m := infra.Manifest{Backup: h.backup, APIVersion: group + "/v1alpha1", Kind: identityKind, Name: h.name, NeedsSecret: true, Says: []string{"The backup lacks it, and nothing says in which Secret its clouds.yaml is: find that in your sources."}}
			m.Fields = map[string]any{"spec": map[string]any{
				"secretRef":         map[string]any{"namespace": infra.Open("namespace of the Secret with its " + cloudsKey), "name": infra.Open("name of that Secret")},
				"namespaceSelector": infra.OnlyNamespaces(m.MayUse(uses[at])),
			}}
			once(m)
			continue
		case h.kind == identityKind:
			namespace, name = object.Data.Namespace, object.Data.Secret
		case h.kind != secretKind:
			continue
		}
		if s := secrets.Named(h.backup, namespace, name); s == nil || s.Value(cloudsKey).IsZero() {
			once(cloudsSecret(h, namespace, name))
		}
	}
	return all
}

// cloudsSecret returns a Secret with a clouds.yaml of which the cloud is known, and its region
// where an object names that.
func cloudsSecret(h *homeScope, namespace, name string) infra.Manifest {
	const unknown = "FILL IN"
	entry := map[string]any{
		"auth_type": "v3applicationcredential",
		"auth":      map[string]any{"auth_url": unknown, "application_credential_id": unknown, "application_credential_secret": unknown},
	}
	if h.region != "" {
		entry["region_name"] = h.region
	}
	text, err := yaml.Marshal(map[string]any{"clouds": map[string]any{h.cloud: entry}})
	if err != nil {
		panic(err) // a map of texts
	}
	return infra.Manifest{
		Backup: h.backup, APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name, Clusters: h.clusters,
		Fields: map[string]any{"type": "Opaque", "stringData": map[string]any{cloudsKey: string(text), "fill-in": infra.Open("all of " + cloudsKey + "; then remove this key")}},
		Says: []string{
			"The backup lacks it, or its " + cloudsKey + ". Objects name cloud " + h.cloud + " of it.",
			"Add the CA of Keystone as " + caKey + " where it is not one that all know.",
		},
	}
}

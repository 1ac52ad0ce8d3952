package vsphere

import (
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Identities returns the VSphereClusterIdentities that the backup lacks, and the Secrets that
// clusters log in with (CAPV apis/v1beta1/vsphereclusteridentity_types.go and
// pkg/identity/identity.go v1.16.1).
func (p *Provider) Identities(s *backup.Snapshot, secrets *backup.Secrets) []infra.Manifest {
	objs := newObjects(s)
	var all []infra.Manifest
	uses := map[capi.Object][]backup.ClusterID{}
	unproven := map[capi.Object][]backup.ClusterID{}
	var order []capi.Object
	for _, id := range slices.SortedFunc(maps.Keys(objs.known), capi.CompareClusters) {
		c := objs.vsphereCluster(id)
		if c == nil {
			continue
		}
		switch at := (capi.Object{Backup: c.Backup, Name: c.Data.IdentityName}); c.Data.IdentityKind {
		case secretKind:
			if _, fault := objs.fromSecret(c.Backup, secrets.Named(c.Backup, c.Namespace, at.Name), ""); fault != nil {
				all = append(all, infra.LoginSecret(c.Backup, []backup.ClusterID{id}, c.Namespace, at.Name, userKey, passKey))
			}
		case identityKind:
			if uses[at] == nil && unproven[at] == nil {
				order = append(order, at)
			}
			if objs.identities[at] == nil && !objs.hasLoggedIn(id, c) {
				unproven[at] = append(unproven[at], id)
				continue
			}
			uses[at] = append(uses[at], id)
		}
	}
	for _, at := range order {
		all = append(all, objs.identityAgain(at, uses[at], unproven[at], secrets)...)
	}
	return all
}

// identityAgain returns an identity that the backup lacks, with the Secret of one that lacks it.
func (objs *objects) identityAgain(at capi.Object, uses []backup.ClusterID, unproven []backup.ClusterID, secrets *backup.Secrets) (all []infra.Manifest) {
	id := capi.Identity{Backup: at.Backup, Kind: identityKind, Name: at.Name, Key: passKey}
	object := objs.identities[at]
	if object != nil {
		id.Known, id.Secret = true, object.Data.Secret
	}
	s, _, _ := ofManager.OfIdentity(objs.snapshot, secrets, id)
	if s == nil && id.Secret != "" {
		all = append(all, infra.LoginSecret(at.Backup, uses, managerSpace, id.Secret, userKey, passKey))
	}
	if object != nil {
		return all
	}
	m := infra.Manifest{Backup: at.Backup, APIVersion: objs.versionOf(slices.Concat(uses, unproven)), Kind: identityKind, Name: at.Name, NeedsSecret: true}
	name := infra.Open("name of the Secret with its " + userKey + " and " + passKey + ", in namespace " + managerSpace)
	if s != nil {
		name = s.Name
		m.Says = append(m.Says, fmt.Sprintf("The backup lacks it. Its Secret %s/%s comes back with the restore: CAPV reads it in its own namespace.", s.Namespace, s.Name))
	} else {
		m.Says = append(m.Says, "The backup lacks it, and nothing says which Secret is its: find that in your sources, or create one.")
	}
	allowed := infra.Open("namespaces that may use it")
	if len(uses) > 0 {
		allowed = map[string]any{"selector": infra.OnlyNamespaces(m.MayUse(uses))}
	}
	m.Clusters = slices.Concat(uses, unproven)
	for _, id := range unproven {
		m.Says = append(m.Says, "A cluster of namespace "+id.Namespace+" names it, too, and nothing shows that CAPV has logged in for it: the namespace is not among those that may use it.")
	}
	m.Fields = map[string]any{"spec": map[string]any{"secretName": name, "allowedNamespaces": allowed}}
	return append(all, m)
}

// versionOf returns the apiVersion that the backup has of objects of the group: that of the first of
// the clusters. CAPV serves identities in each version in which it serves clusters
// (apis/v1beta1, and apis/v1beta2 of v1.16.1).
func (objs *objects) versionOf(uses []backup.ClusterID) string {
	have := ""
	for _, id := range uses {
		if c := objs.vsphereCluster(id); c != nil && have == "" {
			have = c.Data.APIVersion
		}
	}
	return infra.VersionLike(have, group, "v1beta1")
}

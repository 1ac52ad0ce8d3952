package aws

import (
	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Identities returns the identities that the backup lacks of each chain that clusters name,
// and the Secrets of those with keys (CAPA api/v1beta2/awsidentity_types.go v2.13.0).
func (p *Provider) Identities(s *backup.Snapshot, secrets *backup.Secrets) []infra.Manifest {
	type use struct {
		backup int
		identity
	}
	objs := newObjects(s)
	uses := map[use][]backup.ClusterID{}
	var order []use
	for _, id := range objs.order() {
		l := objs.locations[id]
		if l.record == nil {
			continue
		}
		for _, at := range objs.chain(id.Backup, identityOf(id, l)) {
			u := use{id.Backup, at}
			if uses[u] == nil {
				order = append(order, u)
			}
			uses[u] = append(uses[u], id)
		}
	}
	var all []infra.Manifest
	for _, u := range order {
		m := infra.Manifest{Backup: u.backup, APIVersion: infra.VersionLike(objs.locations[uses[u][0]].record.Data.APIVersion, group, "v1beta2"), Kind: u.Kind, Name: u.Name}
		spec := map[string]any{}
		switch u.Kind {
		case staticIdentity:
			secret, absent := objs.staticSecret(u.backup, u.Name, uses[u], secrets)
			all = append(all, absent...)
			spec["secretRef"], m.NeedsSecret = secret, true
			m.Says = append(m.Says, "The backup lacks it. CAPA reads its Secret in its own namespace.")
		case roleIdentity:
			spec["roleARN"] = infra.Open("arn:aws:iam::ACCOUNT:role/NAME")
			spec["sourceIdentityRef"] = map[string]any{
				"kind": infra.Open("kind of the identity that assumes the role; as a rule " + controllerIdentity),
				"name": infra.Open("its name; as a rule " + defaultIdentity),
			}
			m.Says = append(m.Says, "The backup lacks it. Add externalID if the role asks for one.")
		case controllerIdentity:
			m.Says = append(m.Says, "The backup lacks it. CAPA creates it, for all namespaces, when it starts, unless its feature AutoControllerIdentityCreator is off: only then is this needed.")
			spec["allowedNamespaces"], m.Clusters = map[string]any{}, uses[u]
		default:
			continue
		}
		if objs.holds(u.backup, u.identity) {
			continue
		}
		if u.Kind != controllerIdentity {
			spec["allowedNamespaces"] = map[string]any{"list": m.MayUse(uses[u])}
		}
		m.Fields = map[string]any{"spec": spec}
		all = append(all, m)
	}
	return all
}

// staticSecret names the Secret of an identity, as far as that is known, and returns it where the
// backup lacks it.
func (objs *objects) staticSecret(n int, name string, uses []backup.ClusterID, secrets *backup.Secrets) (any, []infra.Manifest) {
	id := capi.Identity{Backup: n, Kind: staticIdentity, Name: name, Key: secretKey}
	if r := objs.statics[capi.Object{Backup: n, Name: name}]; r != nil {
		id.Known, id.Secret = true, r.Data.Secret
	}
	switch s, _, _ := ofManager.OfIdentity(objs.snapshot, secrets, id); {
	case s != nil:
		return s.Name, nil
	case id.Secret == "":
		return infra.Open("name of the Secret with its " + accessKey + " and " + secretKey + ", in namespace " + managerSpace), nil
	}
	return id.Secret, []infra.Manifest{infra.LoginSecret(n, uses, managerSpace, id.Secret, accessKey, secretKey)}
}

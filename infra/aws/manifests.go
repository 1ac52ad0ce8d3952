package aws

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Identities returns the identities that the backup lacks of each chain that clusters name,
// and the Secrets of those with keys (CAPA api/v1beta2/awsidentity_types.go v2.13.0).
func (p *provider) Identities(s *backup.Snapshot, secrets *backup.Secrets) []infra.Manifest {
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
		m := infra.Manifest{Backup: u.backup, APIVersion: group + "/v1beta2", Kind: u.Kind, Name: u.Name}
		spec := map[string]any{}
		switch u.Kind {
		case staticIdentity:
			secret, absent := objs.staticSecret(u.backup, u.Name, uses[u], secrets)
			all = append(all, absent...)
			spec["secretRef"] = secret
			m.Says = append(m.Says, fmt.Sprintf("The backup lacks it. CAPA reads Secret %s in its own namespace.", secret))
		case roleIdentity:
			spec["roleARN"] = infra.Open("arn:aws:iam::ACCOUNT:role/NAME")
			spec["sourceIdentityRef"] = map[string]any{"kind": controllerIdentity, "name": defaultIdentity}
			m.Says = append(m.Says, "The backup lacks it. Where the role is not assumed with the controller's own identity, correct sourceIdentityRef; add externalID if the role asks for one.")
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

// staticSecret names the Secret of an identity, and returns it where the backup lacks it.
func (objs *objects) staticSecret(n int, name string, uses []backup.ClusterID, secrets *backup.Secrets) (string, []infra.Manifest) {
	id := capi.Identity{Backup: n, Kind: staticIdentity, Name: name, Key: secretKey}
	if r := objs.statics[capi.Object{Backup: n, Name: name}]; r != nil {
		id.Known, id.Secret = true, r.Data.Secret
	}
	if s, _, _ := ofManager.OfIdentity(secrets, id); s != nil {
		return s.Name, nil
	}
	if id.Secret == "" {
		id.Secret = name
	}
	return id.Secret, []infra.Manifest{infra.LoginSecret(n, uses, managerSpace, id.Secret, accessKey, secretKey)}
}

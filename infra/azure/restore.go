package azure

import (
	"cmp"
	"fmt"

	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// restore returns what the objects behind a machine say of the restore beside its id.
func (objs *objects) restore(m *member) *infra.Restore {
	if m.record == nil {
		return nil
	}
	var r infra.Restore
	d := &m.record.Data
	if d.ControlPlane {
		r.Template = d.Template
	}
	r.Failure = d.Failure
	if m.record.Paused {
		r.Paused = m.kind + " " + m.record.Name
	}
	r.Refused = objs.unusable(m)
	if r.Template == "" && r.Failure == "" && r.Paused == "" && r.Refused == "" {
		return nil
	}
	return &r
}

// unusable says why CAPZ may not use the identity of a machine's cluster, whatever is in
// Secrets, or "".
func (objs *objects) unusable(m *member) string {
	h := objs.locations[m.cluster].home
	if h.reason != "" {
		return ""
	}
	if objs.identities[h.object()] == nil {
		return h.what() + " " + objs.snapshot.Lacks(m.cluster.Backup, identityKind)
	}
	why, _ := objs.forbidden(h, m.cluster.Namespace)
	return cmp.Or(why, objs.mistake(h))
}

// object returns the AzureClusterIdentity that a home names.
func (h home) object() capi.Object {
	return capi.Object{Backup: h.backup, Namespace: h.namespace, Name: h.name}
}

// mistake says why CAPZ cannot log in with an identity, whatever Secrets there are, or "".
func (objs *objects) mistake(h home) string {
	i := objs.identities[h.object()]
	if i == nil {
		return ""
	}
	switch d := &i.Data; d.Type {
	case typeSecret, typeManual, typeCertificate, typeWorkload, typeMSI, typeUserAssigned:
		return ""
	default:
		return fmt.Sprintf("type %q of %s is none that CAPZ knows", d.Type, h.what())
	}
}

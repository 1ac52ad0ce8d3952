package aws

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra/capi"
)

// absent lists the identities that objects refer to and the backup lacks, each
// once.
func (objs *objects) absent() []backup.Absence {
	var m capi.Missing
	at := func(n int, id identity) capi.Object { return capi.Object{Backup: n, Name: id.Name} }
	note := func(n int, id identity, by string) {
		// CAPA makes the controller's identity by itself when it starts
		// (feature AutoControllerIdentityCreator, on by default).
		if (id.Kind == staticIdentity || id.Kind == roleIdentity) && !objs.holds(n, id) {
			m.Refer(id.Kind, at(n, id), by)
		}
	}
	for _, id := range objs.order() {
		s := objs.locations[id]
		if s.record == nil {
			continue
		}
		note(id.Backup, identityOf(id, s), fmt.Sprintf("%s %s/%s", s.kind, s.record.Namespace, s.record.Name))
		// Without any identity of the chain CAPA has no session for the cluster.
		for _, i := range objs.chain(id.Backup, identityOf(id, s)) {
			m.Concern(i.Kind, at(id.Backup, i), id)
		}
	}
	for r := range roles.In(objs.snapshot).All() {
		note(r.Backup, sourceOf(r.Data), roleIdentity+" "+r.Name)
	}
	list := m.List()
	for i := range list {
		list[i].Why, list[i].Halts = capi.WhyHalted, list[i].Clusters
	}
	return list
}

// holds reports whether a backup holds an identity.
func (objs *objects) holds(n int, id identity) bool {
	_, found, _ := objs.allowedOf(n, id)
	return found
}

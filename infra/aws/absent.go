package aws

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
)

const whyClusterScoped = "Velero leaves cluster-scoped objects out unless --include-cluster-resources=true; after a restore its clusters stand still until it is created again"

// absent lists the identities that objects refer to and the backup lacks, each
// once. Velero leaves cluster-scoped objects out of most backups
// (pkg/util/collections/includes_excludes.go v1.18.1).
func (e *estate) absent() []backup.Absence {
	type missing struct {
		backup int
		identity
	}
	referrers := map[missing][]string{}
	halts := map[missing][]backup.ClusterID{}
	note := func(n int, id identity, by string) {
		// CAPA makes the controller's identity by itself when it starts
		// (feature AutoControllerIdentityCreator, on by default).
		if id.Kind != unknownIdentity && id.Kind != controllerIdentity && !e.holds(n, id) {
			m := missing{n, id}
			referrers[m] = append(referrers[m], by)
		}
	}
	for _, id := range e.order() {
		s := e.sites[id]
		if s.record == nil {
			continue
		}
		note(id.Backup, identityOf(id, s), fmt.Sprintf("%s %s/%s", s.kind, s.record.Namespace, s.record.Name))
		// Without any identity of the chain CAPA has no session for the cluster.
		for _, at := range e.chain(id.Backup, identityOf(id, s)) {
			halts[missing{id.Backup, at}] = append(halts[missing{id.Backup, at}], id)
		}
	}
	for r := range roles.In(e.snapshot).All() {
		note(r.Backup, sourceOf(r.Data), roleIdentity+" "+r.Name)
	}
	var list []backup.Absence
	for m, from := range referrers {
		by := from[0]
		if n := len(from) - 1; n > 0 {
			by += fmt.Sprintf(" and %d more", n)
		}
		list = append(list, backup.Absence{Backup: m.backup, Kind: m.Kind, Name: m.Name, ReferredBy: by, Why: whyClusterScoped, Clusters: halts[m], Halts: halts[m]})
	}
	slices.SortFunc(list, func(a, b backup.Absence) int {
		return cmp.Or(cmp.Compare(a.Backup, b.Backup), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// holds reports whether a backup holds an identity.
func (e *estate) holds(n int, id identity) bool {
	_, found, _ := e.allowedOf(n, id)
	return found
}

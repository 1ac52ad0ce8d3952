// Package capi is what the infrastructure providers of Cluster API have in common:
// how their objects refer to each other, what the labels of an infrastructure machine
// say, where a controller keeps its credentials, and how missing objects are listed.
// It knows none of the providers and contacts nothing.
package capi

import (
	"cmp"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Object names one object of a backup within its kind. Namespace is empty for one that
// is cluster-scoped. The zero Object names none.
type Object struct {
	Backup          int // index into Snapshot.Backups
	Namespace, Name string
}

// ObjectOf returns the name of an object.
func ObjectOf(m *backup.Meta) Object { return Object{m.Backup, m.Namespace, m.Name} }

// LeadsAway reports whether a reference names another namespace than the one of the
// object that refers. Cluster API forbids it (internal/webhooks/cluster.go v1.13.3),
// and following it would give away another tenant's objects and credentials.
func LeadsAway(ref backup.Ref, namespace string) bool {
	return ref.Namespace != "" && ref.Namespace != namespace
}

// Referred returns the object that a reference from an object of a backup and a
// namespace names: none where the reference leads away.
func Referred(backup int, namespace string, ref backup.Ref) Object {
	if LeadsAway(ref, namespace) {
		return Object{}
	}
	return Object{backup, namespace, ref.Name}
}

// CompareObjects orders objects as a Table does: by backup, namespace and name.
func CompareObjects(a, b Object) int {
	return cmp.Or(cmp.Compare(a.Backup, b.Backup), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Index returns the records of a table by their names.
func Index[T any](t *backup.Table[T]) map[Object]*backup.Record[T] {
	m := make(map[Object]*backup.Record[T], t.Len())
	for r := range t.All() {
		m[ObjectOf(&r.Meta)] = r
	}
	return m
}

// Clusters returns the Clusters of a Snapshot by their names: its own values.
func Clusters(s *backup.Snapshot) map[backup.ClusterID]*backup.Cluster {
	m := make(map[backup.ClusterID]*backup.Cluster, len(s.Clusters))
	for i := range s.Clusters {
		m[s.Clusters[i].ID()] = &s.Clusters[i]
	}
	return m
}

// Providers names the provider of each cluster that it has a place for.
func Providers[T any](places map[backup.ClusterID]T, name string) map[backup.ClusterID]string {
	ours := make(map[backup.ClusterID]string, len(places))
	for id := range places {
		ours[id] = name
	}
	return ours
}

// OwnerOf returns the name of the first owner of a kind.
func OwnerOf(m *backup.Meta, kind string) (name string, ok bool) {
	for _, o := range m.Owners {
		if o.Kind == kind {
			return o.Name, true
		}
	}
	return "", false
}

// ClusterOf returns the cluster that the label of an object names.
func ClusterOf(m *backup.Meta) backup.ClusterID {
	return backup.ClusterID{Backup: m.Backup, Namespace: m.Namespace, Name: m.ClusterName}
}

// CompareClusters orders clusters by backup, namespace and name.
func CompareClusters(a, b backup.ClusterID) int {
	return cmp.Or(cmp.Compare(a.Backup, b.Backup), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// CompareKeys orders keys by kind and value.
func CompareKeys(a, b infra.Key) int {
	return cmp.Or(a.Kind.Compare(b.Kind), cmp.Compare(a.Value, b.Value))
}

// SortedKeys returns the keys of a set in order.
func SortedKeys(set map[infra.Key]bool) []infra.Key {
	return slices.SortedFunc(maps.Keys(set), CompareKeys)
}

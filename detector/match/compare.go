package match

import (
	"cmp"

	"drift-detector/backup"
	"drift-detector/infra"
)

// CompareClusters orders clusters by namespace and name, then by the backup that they are from.
func CompareClusters(a, b backup.ClusterID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Backup, b.Backup))
}

// CompareInstances orders instances by what a person finds them by.
func CompareInstances(a, b *infra.Instance) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Ref, b.Ref))
}

func compareKeys(a, b infra.Key) int {
	return cmp.Or(a.Kind.Compare(b.Kind), cmp.Compare(a.Value, b.Value))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

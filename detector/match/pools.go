package match

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Membership is the ids of a pool's members in the backup, and of those that live; sorted.
type Membership struct{ Then, Now []string }

// Pool is a pool with what was found of it.
type Pool struct {
	*infra.Pool
	Membership
	State  code.Presence
	Why    string // why it is not known whether it exists
	Denied bool   // for the reason that it was not found, but instances say that they are its members
	// Size is what it is set to where it is, and Living how many of its members run or come to.
	Size, Living backup.Number
}

// comparePools puts the worst of several pools of one name first.
func comparePools(a, b Pool) int {
	return cmp.Or(CompareClusters(a.Cluster, b.Cluster), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
		b.State.Severity()-a.State.Severity(), compareKeys(a.Key, b.Key),
		cmp.Compare(a.Target, b.Target), compareKeys(a.Probe, b.Probe), cmp.Compare(a.ManagedBy, b.ManagedBy),
		cmp.Compare(a.Desired.N, b.Desired.N), compareBool(a.Desired.Known, b.Desired.Known), slices.Compare(a.Then, b.Then))
}

func sortedOnce(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

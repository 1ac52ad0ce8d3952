package backup

import (
	"maps"
	"slices"
)

// Keep forgets the objects of all kinds but these, once whatever reads the others has
// done so. What is the Snapshot's own, such as its Machines, stays.
func (s *Snapshot) Keep(kinds ...AnyKind) {
	maps.DeleteFunc(s.tables, func(k AnyKind, _ any) bool { return !slices.Contains(kinds, k) })
}

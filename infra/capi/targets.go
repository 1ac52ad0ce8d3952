package capi

import (
	"fmt"
	"slices"

	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// Numbered returns the id of a target. Two backups may use one name for two
// credentials, so the backup's number ends the id in all but the first: "…#2".
func Numbered(id string, backup int) string {
	if backup > 0 {
		id += fmt.Sprintf("#%d", backup+1)
	}
	return id
}

// Tidy sorts the lists of a target and drops what they hold twice.
func Tidy(t *infra.Target) {
	slices.Sort(t.IDs)
	sorting.By(t.Clusters, CompareClusters)
	t.Clusters = slices.Compact(t.Clusters)
	slices.SortFunc(t.Probes, CompareKeys)
	t.Probes = slices.Compact(t.Probes)
	slices.Sort(t.Warnings)
	t.Warnings = slices.Compact(t.Warnings)
}

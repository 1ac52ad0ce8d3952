package program

import (
	"slices"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/report"
)

// selectionFlags say which clusters are shown.
func (o *backupOptions) selectionFlags() []urfave.Flag {
	return []urfave.Flag{
		&urfave.StringSliceFlag{Name: "cluster", Usage: "only the cluster `NAME`, or namespace/name; no other is contacted or reported; repeatable"},
		&urfave.StringSliceFlag{Name: "namespace", Usage: "only the clusters in namespace `NAME`; repeatable"},
		&urfave.StringFlag{Name: "selector", Aliases: []string{"l"}, Usage: "only the clusters whose labels match `SELECTOR`; as kubectl takes it", Destination: &o.selection.Selector},
	}
}

// filter says in the report which clusters are shown.
func (o *backupOptions) filter() *report.Filter {
	if o.selection.IsZero() {
		return nil
	}
	return &report.Filter{Clusters: o.selection.Clusters, Namespaces: o.selection.Namespaces, Selector: o.selection.Selector}
}

// narrow leaves out what the backup lacks and only clusters miss that are not shown.
func (e *loadedBackup) narrow() {
	if e.shows == nil {
		return
	}
	elsewhere := func(a backup.Absence) bool {
		return len(a.Clusters) > 0 && !slices.ContainsFunc(a.Clusters, e.shows)
	}
	shown := *e.snapshot
	shown.Absent = slices.DeleteFunc(slices.Clone(shown.Absent), elsewhere)
	e.snapshot, e.expected.Absent = &shown, slices.DeleteFunc(e.expected.Absent, elsewhere)
}

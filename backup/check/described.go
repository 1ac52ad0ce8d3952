package check

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/backup/archive"
)

// Runs are the Backups that a tarball has as running. One that backs up the namespace of Velero has
// its own object in it.
type Runs struct{ all []Outline }

// Visitor returns what finds them while a tarball is read.
func (r *Runs) Visitor() archive.Visitor {
	return archive.Visitor{
		Want: func(h *archive.Header) (bool, error) { return h.Resource == "backups.velero.io", nil },
		Visit: func(i *archive.Item) error {
			// What is no Backup is none that runs; more than two are as good as two.
			o, err := ReadOutline("", i.Body)
			if err == nil && o.Phase == "InProgress" && len(r.all) < 2 && !slices.ContainsFunc(r.all, func(k Outline) bool { return k.Namespace == o.Namespace && k.Name == o.Name }) {
				r.all = append(r.all, Outline{Name: o.Name, Namespace: o.Namespace, Started: o.Started})
			}
			return nil
		},
	}
}

// Described returns what Velero says of a backup: in its own file, or in the one Backup of the
// tarball that ran. It is nil where neither is there, or fits the times of the tarball.
func Described(b backup.Info, v *VeleroBackup, r *Runs) *Outline {
	switch {
	case v != nil && !v.Started.IsZero() && !b.Undated && v.Of(b):
		return &v.Outline
	case r == nil || len(r.all) != 1 || r.all[0].Started.IsZero() || b.WrittenTo.Before(r.all[0].Started):
		return nil
	}
	return &r.all[0]
}

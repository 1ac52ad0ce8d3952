package match

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
)

// Missing returns why the instance may be that of a machine which only the backup
// lacks, or empty when the link's owner made it later. What was created after the
// backup was written needs no counting.
func (f *InstanceFacts) Missing(b Link) string {
	ix, v := f.index, f.VM
	if why := ix.kindsUnread[infra.Reading{Backup: b.Cluster().Backup, Provider: v.Provider}]; why != "" {
		return why
	}
	if name := ix.made[b.Cluster()]; name != "" && (v.Created.IsZero() || v.Created.After(ix.snap.Backups[b.Cluster().Backup].WrittenFrom.Add(-clockSkew))) {
		return "Machine " + name + " was made while the infrastructure was listed"
	}
	current := func(i int32) bool { return ix.tooOld(&ix.scopes.listings[i], b.Cluster()) == nil }
	if !slices.ContainsFunc(v.seen, current) {
		return "it was listed before " + ix.subject.Written() + ", and may be gone with its machine since"
	}
	if p := ix.unaskedPool(v, b); p != nil {
		return fmt.Sprintf("it may be a member of %s %s, which was not asked for where it was listed", p.Kind, p.Name)
	}
	owner := b.Owner()
	if b.ControlPlane && owner.Kind == "" {
		owner = ix.Owners.planeOf(b.Cluster(), backup.Owner{})
	}
	c := ix.unnamed[owner]
	if known := ix.Owners.resolve(owner); known.Kind != "" {
		c = cmp.Or(c, ix.unnamed[known])
	}
	if c != nil {
		return fmt.Sprintf("it may be that of machine %s/%s, for which %s has neither the id nor the name of its instance", c.Of.Namespace, c.Of.Name, ix.subject.The())
	}
	if v.Created.After(ix.writtenTo(b.Cluster()).Add(clockSkew)) {
		return ""
	}
	return ix.Owners.missing(ix.Owners.resolve(owner))
}

// Doubt returns why instances that a name or an endpoint ties to a cluster may belong
// to others (the fourth law), or empty. For a mark that only the cluster's
// controllers write, the only doubt is a missing Node.
func (f *InstanceFacts) Doubt(all []Link) string {
	ix, v := f.index, f.VM
	b := all[0]
	byName := !slices.ContainsFunc(all, func(b Link) bool { return !b.byName })
	switch {
	case byName && v.Created.IsZero():
		return "when it was created is not known"
	case byName && !v.Created.After(ix.writtenTo(b.Cluster())):
		return ix.subject.Or("it is older than the backup, which", "it was there before the management cluster was read, which") + " would hold its machine"
	case ix.nodes.lists[b.Cluster()].State == report.NodesRead && len(ix.nodes.on(v)) == 0:
		return "the cluster has no Node on it, or none yet"
	}
	return ""
}

// writtenTo returns when the backup of a cluster was written to its end; in the far
// future when that is not known, so that nothing is younger.
func (ix *Index) writtenTo(id backup.ClusterID) time.Time {
	if at := ix.dated(id); !at.IsZero() {
		return at
	}
	return time.Unix(1<<40, 0)
}

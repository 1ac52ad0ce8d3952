package backup

import (
	"cmp"
	"fmt"
	"strings"
)

// overlap is a pair of backups that are of one management cluster.
type overlap struct {
	first, second int
	shared        string
}

// met notes that two backups hold one object. No two management clusters have an
// object with one uid: a move or a restore makes new ones. What belongs to a
// cluster then appears twice, in two versions, and a machine that one of them
// lacks was deleted meanwhile or is new: those backups overlap. Identities and
// the like may be in several backups, each of some clusters.
func (l *loading) met(a, b *Meta, alone string) {
	if alone == "" && a.ClusterName != "" {
		alone = "objects of cluster " + a.Namespace + "/" + a.ClusterName + " with the same uids"
	}
	if alone == "" {
		return
	}
	t := overlap{min(a.Backup, b.Backup), max(a.Backup, b.Backup), alone}
	if l.overlaps == nil || t.compare(*l.overlaps) < 0 {
		l.overlaps = &t
	}
}

func (t overlap) compare(u overlap) int {
	return cmp.Or(cmp.Compare(t.first, u.first), cmp.Compare(t.second, u.second), strings.Compare(t.shared, u.shared))
}

// refuseOverlaps refuses two backups of one management cluster: whatever differs
// between them would appear twice, in two versions.
func (l *loading) refuseOverlaps(sources []Source) error {
	t := l.overlaps
	if t == nil {
		return nil
	}
	return &InputError{
		Name:    sources[t.second].Name,
		Problem: fmt.Sprintf("a backup of the same management cluster as %s: both hold %s", sources[t.first].Name, t.shared),
		Next:    "give one of them; to compare two, run detect on each and 'drift-detector diff' on the reports",
	}
}

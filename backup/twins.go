package backup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// twin is a pair of backups that are of one management cluster.
type twin struct {
	first, second int
	shared        string
}

// met notes that two backups hold one object. When that may not be, the backups
// are twins. Else they show one cluster, of which each may hold some objects:
// those without a Cluster object are then put together under the newer backup.
func (l *loading) met(a, b *Meta, alone string) {
	if alone != "" {
		l.twins = append(l.twins, twin{min(a.Backup, b.Backup), max(a.Backup, b.Backup), alone})
		return
	}
	if a.ClusterName == "" || a.Backup == b.Backup {
		return
	}
	older, newer := a.Backup, b.Backup
	if l.newer(older, newer) {
		older, newer = newer, older
	}
	id := ClusterID{older, a.Namespace, a.ClusterName}
	if to, ok := l.moved[id]; !ok || l.newer(newer, to.Backup) {
		l.moved[id] = ClusterID{newer, a.Namespace, a.ClusterName}
	}
}

// newer says whether one backup was written after another.
func (l *loading) newer(i, j int) bool {
	return cmp.Or(l.infos[i].WrittenTo.Compare(l.infos[j].WrittenTo), cmp.Compare(i, j)) > 0
}

// refuseTwins refuses two backups of one management cluster: whatever differs
// between them would be told twice, in two versions.
func (l *loading) refuseTwins(sources []Source) error {
	if len(l.twins) == 0 {
		return nil
	}
	t := slices.MinFunc(l.twins, func(a, b twin) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second), -strings.Compare(a.shared, b.shared))
	})
	return &InputError{
		Name:    sources[t.second].Name,
		Problem: fmt.Sprintf("a backup of the same management cluster as %s: both hold %s", sources[t.first].Name, t.shared),
		Next:    "give one of them; to compare two, run detect on each and 'drift-detector diff' on the reports",
	}
}

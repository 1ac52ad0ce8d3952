package report

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"

	"drift-detector/internal/lazyregexp"
)

// What a plan's restore takes for granted of the new management cluster: its lines look at it
// right before they act, and ready looks at it as a whole.

// ModifiersName and ModifiersKey are where the plan keeps the Modifiers: a ConfigMap of Velero's
// namespace, and its one key.
const (
	ModifiersName = "restore-paused"
	ModifiersKey  = "modifiers.yaml"
)

// Modifiers make Velero pause every Cluster that it restores (Velero
// internal/resourcemodifiers v1.18.3).
const Modifiers = `{"version":"v1","resourceModifierRules":[{"conditions":{"groupResource":"clusters.cluster.x-k8s.io"},"mergePatches":[{"patchData":"{\"spec\":{\"paused\":true}}"}]}]}`

// ArePausing reports whether the data of a ConfigMap is the Modifiers and nothing else, but for
// the white space that a line of several rows has. Velero takes the only key, whatever its name.
func ArePausing(data map[string]string) bool {
	var b bytes.Buffer
	return len(data) == 1 && json.Compact(&b, []byte(data[ModifiersKey])) == nil && b.String() == Modifiers
}

// What ready reads of the new management cluster beside its Clusters, as kubectl names it: of all
// namespaces, and of that of Velero.
var (
	LooksAt         = []string{"namespaces", "nodes", "deployments.apps", "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "providers.clusterctl.cluster.x-k8s.io"}
	LooksAtInVelero = []string{"backupstoragelocations.velero.io", "backups.velero.io", "configmaps"}
)

// LabelForm is what a value of a label looks like.
var LabelForm = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// Tellable returns by what a label selector of the restore can tell a cluster from all others: it
// knows no namespaces, and a report of some clusters does not know what others are called.
func (r *Report) Tellable() func(*Cluster) bool {
	names := make(map[string]int, len(r.Clusters))
	for i := range r.Clusters {
		names[r.Clusters[i].Name]++
	}
	return func(c *Cluster) bool {
		return r.Options.Filter == nil && names[c.Name] == 1 && LabelForm.MatchString(c.Name)
	}
}

// IsOld reports whether a management cluster is one of those that were backed up, by the uid of
// its namespace kube-system and when that was created. It is another one where each backup has
// another uid, or was written before it was created. Otherwise it is not known.
func (r *Report) IsOld(uid string, created time.Time) (is, known bool) {
	if uid == "" {
		return false, false
	}
	known = len(r.Backups) > 0
	for i := range r.Backups {
		b := &r.Backups[i]
		if b.KubeSystemUID == uid {
			return true, true
		}
		known = known && (b.KubeSystemUID != "" || !b.WrittenTo.IsZero() && created.After(b.WrittenTo))
	}
	return false, known
}

// VeleroBackup is a Backup of Velero, as far as it tells which tarball it is of. Velero creates it
// from velero-backup.json in every cluster that reads its location, with another uid
// (pkg/controller/backup_sync_controller.go v1.18.3).
type VeleroBackup struct {
	Name, UID, Phase string
	Started, Ended   time.Time
	Items            int // that it counted
}

// Restorable reports whether Velero restores it: it has ended, with all objects or with errors.
func (v *VeleroBackup) Restorable() bool {
	return v.Phase == "Completed" || v.Phase == "PartiallyFailed"
}

// Likeness is how surely a Backup of Velero is that of a tarball.
type Likeness int

// The times of a Backup are those of every cluster with the same schedule: only what Velero itself
// says of the tarball tells them apart.
const (
	Other    Likeness = iota
	Possible          // nothing shows that it is another one, nor that it is this
	Same
)

// Is compares it with a tarball: its items were written while it ran, by the same clock, and where
// the tarball is in a store its folder has the name. The slack is that of backup/check for the file
// beside a tarball. It is the same where what Velero says of the tarball is what it says of itself,
// with as many items as Velero counted, or the tarball holds: Velero counts what it writes
// (pkg/backup/backup.go v1.18.3).
func (v *VeleroBackup) Is(b *Backup) Likeness {
	const slack = time.Minute
	if b.WrittenFrom.IsZero() || v.Started.IsZero() || v.Ended.IsZero() || b.WrittenFrom.Before(v.Started.Add(-slack)) || b.WrittenTo.After(v.Ended.Add(slack)) {
		return Other
	}
	if dir := path.Dir(b.Path); strings.HasPrefix(b.Path, "s3://") && path.Base(path.Dir(dir)) == "backups" && path.Base(dir) != v.Name {
		return Other
	}
	d, items := b.Velero, b.Items
	if d != nil && d.Items > 0 {
		items = d.Items
	}
	switch {
	case v.Items > 0 && items > 0 && v.Items != items:
		return Other
	case d == nil:
		return Possible
	case d.Name != v.Name || !d.Started.Equal(v.Started) || !d.Ended.IsZero() && !d.Ended.Equal(v.Ended):
		return Other
	case v.Items == 0 || d.Started.IsZero():
		return Possible
	}
	return Same
}

// Best returns the Backups that are those of the tarball, and how surely: where none is the same,
// those that may be.
func (b *Backup) Best(all []VeleroBackup) (of []VeleroBackup, how Likeness) {
	for i := range all {
		switch is := all[i].Is(b); {
		case is > how:
			of, how = []VeleroBackup{all[i]}, is
		case is == how && is != Other:
			of = append(of, all[i])
		}
	}
	return of, how
}

// Upgrade is how the release of a provider compares with that of the backup.
type Upgrade int

// Later releases of the same minor serve the same API versions; of others it is for a person to
// see whether they still do (Cluster API docs/book/src/reference/versions.md v1.14.0).
const (
	OtherRelease Upgrade = iota // older, or not to be compared
	SameMinor                   // the same release, or a later patch
	LaterMinor
)

var releaseForm = lazyregexp.New(`^v([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})$`)

// Compare says what a release is to that of the backup.
func (p *Installed) Compare(release string) Upgrade {
	if release == p.Version && release != "" {
		return SameMinor
	}
	old, now := releaseForm.FindStringSubmatch(p.Version), releaseForm.FindStringSubmatch(release)
	if old == nil || now == nil {
		return OtherRelease
	}
	for i := range 3 {
		was, _ := strconv.Atoi(old[i+1])
		is, _ := strconv.Atoi(now[i+1])
		switch {
		case is < was:
			return OtherRelease
		case is > was && i == 2:
			return SameMinor
		case is > was:
			return LaterMinor
		}
	}
	return SameMinor
}

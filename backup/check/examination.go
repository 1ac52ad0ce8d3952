package check

import (
	"time"

	"drift-detector/backup"
)

// object names one object of a backup, within its kind.
type object struct {
	backup          int
	namespace, name string
}

func objectOf(m *backup.Meta) object { return object{m.Backup, m.Namespace, m.Name} }

// owner names what makes machines.
type owner struct {
	kind string
	object
}

// examination is a backup with the indexes that several checks need.
type examination struct {
	*backup.Snapshot
	secrets *backup.Secrets
	options Options

	hasSecrets []bool // by backup
	groups     map[owner]*backup.Group
	planes     map[owner]*backup.ControlPlane
	machines   map[owner][]*backup.Machine // by what made them
	kubeadm    map[backup.ClusterID]bool   // clusters with a KubeadmControlPlane
	configs    map[object]*backup.Record[configFields]
	ends       map[backup.Sensitive]time.Time // of certificates that were read
}

func examine(s *backup.Snapshot, secrets *backup.Secrets, o Options) *examination {
	e := &examination{
		Snapshot: s, secrets: secrets, options: o, hasSecrets: make([]bool, len(s.Backups)),
		groups: make(map[owner]*backup.Group, len(s.Groups)), planes: make(map[owner]*backup.ControlPlane, len(s.ControlPlanes)),
		machines: make(map[owner][]*backup.Machine, len(s.Groups)), kubeadm: make(map[backup.ClusterID]bool, len(s.Clusters)),
		configs: make(map[object]*backup.Record[configFields], configKind.In(s).Len()),
		ends:    map[backup.Sensitive]time.Time{},
	}
	for secret := range secrets.All() {
		e.hasSecrets[secret.Backup] = true
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		e.groups[owner{g.Kind, objectOf(&g.Meta)}] = g
	}
	for i := range s.ControlPlanes {
		c := &s.ControlPlanes[i]
		e.planes[owner{c.Kind, objectOf(&c.Meta)}] = c
	}
	for i := range s.Clusters {
		c := &s.Clusters[i]
		e.kubeadm[c.ID()] = c.ControlPlane.Kind == "KubeadmControlPlane"
	}
	for i := range s.Machines {
		if m := &s.Machines[i]; m.Owner.Name != "" {
			by := ownerOf(m)
			e.machines[by] = append(e.machines[by], m)
		}
	}
	for c := range configKind.In(s).All() {
		e.configs[objectOf(&c.Meta)] = c
	}
	return e
}

func ownerOf(m *backup.Machine) owner {
	return owner{m.Owner.Kind, object{m.Backup, m.Namespace, m.Owner.Name}}
}

// velero is what Velero says about a backup, or nil.
func (e *examination) velero(i int) *VeleroBackup {
	if i < len(e.options.Velero) {
		return e.options.Velero[i]
	}
	return nil
}

// tarball is how findings about a whole backup call it.
func (e *examination) tarball(i int) string { return "backup " + e.Backups[i].Path }

// set returns the index of a table.
func set[T any](t *backup.Table[T]) map[object]bool {
	all := make(map[object]bool, t.Len())
	for r := range t.All() {
		all[objectOf(&r.Meta)] = true
	}
	return all
}

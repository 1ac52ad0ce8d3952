package check

import (
	"cmp"

	"drift-detector/backup"
	"drift-detector/report/code"
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

// made is what one owner has made.
type made struct {
	machines int
	first    *backup.Machine
}

// examination is a backup with the indexes that several checks need.
type examination struct {
	*backup.Snapshot
	secrets *backup.Secrets
	options Options

	hasSecrets []bool // by backup
	made       map[owner]*made
}

func examine(s *backup.Snapshot, secrets *backup.Secrets, o Options) *examination {
	e := &examination{
		Snapshot: s, secrets: secrets, options: o, hasSecrets: make([]bool, len(s.Backups)),
		made: make(map[owner]*made, len(s.Groups)),
	}
	for secret := range secrets.All() {
		e.hasSecrets[secret.Backup] = true
	}
	var last *made // machines of one owner come one after the other
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Owner.Name == "" {
			continue
		}
		if by := ownerOf(m); last == nil || ownerOf(last.first) != by {
			if last = e.made[by]; last == nil {
				last = &made{first: m}
				e.made[by] = last
			}
		}
		last.machines++
	}
	return e
}

func ownerOf(m *backup.Machine) owner {
	return owner{m.Owner.Kind, object{m.Backup, m.Namespace, m.Owner.Name}}
}

// lacksGroup reports whether the backup does not hold what makes machines.
func (e *examination) lacksGroup(by owner) bool {
	return e.Group(by.backup, by.namespace, by.kind, by.name) == nil
}

// restsOn are the kinds of which nothing may be absent, so that a finding is one, where it does
// not name them as absent.
var restsOn = map[code.Reason]string{
	ruleHealth.Code:         "machinehealthchecks." + coreGroup,
	ruleClusterLeftOut.Code: "clusters." + coreGroup,
}

// unsure reports whether a finding says that something is absent of a kind that could not be
// read.
func (e *examination) unsure(f Finding) bool {
	_, unread := e.Backups[f.Backup].Unread[cmp.Or(restsOn[f.Code], f.Absent.Resource)]
	return unread
}

// velero returns what Velero says about a backup, or nil.
func (e *examination) velero(i int) *VeleroBackup {
	if i < len(e.options.Velero) {
		return e.options.Velero[i]
	}
	return nil
}

// now says when an object was as it was read.
func (e *examination) now() string { return e.Subject().Or("when the backup was taken", "now") }

// tarball returns how findings about a whole backup call it.
func (e *examination) tarball(i int) string {
	return e.Subject().String() + " " + e.Backups[i].Path
}

// set returns the index of a table.
func set[T any](t *backup.Table[T]) map[object]bool {
	all := make(map[object]bool, t.Len())
	for r := range t.All() {
		all[objectOf(&r.Meta)] = true
	}
	return all
}

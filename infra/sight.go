package infra

import (
	"slices"
	"time"

	"drift-detector/backup"
)

// sight says what a management cluster that runs shows, and a tarball does not: what could not
// be read, of which nothing is absent, and what is being deleted.
func (r *Registry) sight(s *backup.Snapshot, all *Expected) {
	all.Absent = known(s, all.Absent)
	for n := range s.Backups {
		for _, p := range r.providers {
			spec := p.Spec()
			if resource, why := s.Unread(n, spec.Want.Kinds); resource != "" {
				if all.Unread == nil {
					all.Unread = map[Reading]string{}
				}
				all.Unread[Reading{n, spec.Name}] = resource + " could not be read: " + why
			}
		}
	}
	for i := range all.Machines {
		c := &all.Machines[i]
		if c.Machine < 0 {
			if o := c.Orphan; o != nil {
				c.Dying = dying(s, o.Cluster.Backup, object{o.Kind, o.Namespace, o.Name})
			}
			continue
		}
		m := &s.Machines[c.Machine]
		c.Dying = dying(s, m.Backup, object{"Machine", m.Namespace, m.Name},
			object{m.Infrastructure.Kind, m.Infrastructure.Namespace, m.Infrastructure.Name},
			object{m.Owner.Kind, m.Namespace, m.Owner.Name}, object{"Cluster", m.Namespace, m.Cluster.Name})
	}
}

// known leaves out what is absent only because its kind could not be read.
func known(s *backup.Snapshot, all []backup.Absence) []backup.Absence {
	return slices.DeleteFunc(all, func(a backup.Absence) bool {
		_, unread := s.Backups[a.Backup].Unread[a.Resource]
		return unread
	})
}

// object is one in a namespace.
type object struct{ kind, namespace, name string }

// dying names the first of some objects that is being deleted, and says since when.
func dying(s *backup.Snapshot, n int, objects ...object) string {
	for _, o := range objects {
		if what, since := s.Deleting(n, o.kind, o.namespace, o.name); !since.IsZero() {
			return what + " is being deleted, since " + since.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

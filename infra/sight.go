package infra

import (
	"fmt"
	"maps"
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

// Meanwhile says what became of the Machines of a management cluster that runs while its places
// were listed: after is it again, read since. A Machine that has gone took its VM along, and a VM
// may be that of a Machine which was made. after is nil where it could not be read again, which
// is why: nothing about it is certain then.
func (c *Expected) Meanwhile(n int, before, after *backup.Snapshot, why string) {
	if why != "" {
		c.doubt(n, "what became of the Machines while the infrastructure was listed is not known: "+why)
		return
	}
	now := make(map[string]*backup.Machine, len(after.Machines))
	for i := range after.Machines {
		now[after.Machines[i].UID] = &after.Machines[i]
	}
	for i := range c.Machines {
		one := &c.Machines[i]
		if one.Machine < 0 || before.Machines[one.Machine].Backup != n || one.Dying != nil {
			continue
		}
		m := &before.Machines[one.Machine]
		if at := now[m.UID]; at == nil {
			one.Dying = &Deletion{Text: "Machine " + m.Namespace + "/" + m.Name + " was deleted while the infrastructure was listed"}
		} else {
			one.Dying = dying(after, at.Backup, object{"Machine", m.Namespace, m.Name})
		}
	}
	for i := range before.Machines {
		delete(now, before.Machines[i].UID)
	}
	made := make(map[object]bool, len(now)) // what was left without a Machine only because that came later
	for _, m := range now {
		if m.Infrastructure.IsZero() {
			continue
		}
		made[object{m.Infrastructure.Kind, m.Infrastructure.Namespace, m.Infrastructure.Name}] = true
	}
	c.Machines = slices.DeleteFunc(c.Machines, func(one ExpectedMachine) bool {
		o := one.Orphan
		return o != nil && o.Cluster.Backup == n && made[object{o.Kind, o.Namespace, o.Name}]
	})
	for _, m := range now {
		if c.Made == nil {
			c.Made = map[backup.ClusterID]string{}
		}
		id := backup.ClusterID{Backup: n, Namespace: m.Cluster.Namespace, Name: m.Cluster.Name}
		c.Made[id] = max(c.Made[id], m.Namespace+"/"+m.Name)
	}
}

// doubt has nothing be concluded about the machines of a management cluster that runs.
func (c *Expected) doubt(n int, why string) {
	if c.Unread == nil {
		c.Unread = map[Reading]string{}
	}
	for _, provider := range append(slices.Collect(maps.Keys(c.Words)), "") {
		c.Unread[Reading{n, provider}] = why
	}
}

// Machineless says why the list of Machines of a management cluster that runs is not believed: it
// is empty, and infrastructure machines are there, none of which has a Machine then. Nothing is
// concluded about them. It is empty where the list may be right.
func (c *Expected) Machineless(n int, s *backup.Snapshot) string {
	if slices.ContainsFunc(s.Machines, func(m backup.Machine) bool { return m.Backup == n }) {
		return ""
	}
	orphans := 0
	for i := range c.Machines {
		if o := c.Machines[i].Orphan; o != nil && o.Cluster.Backup == n {
			orphans++
		}
	}
	if orphans == 0 {
		return ""
	}
	why := fmt.Sprintf("its list is empty, and of %d infrastructure machines none would have its Machine", orphans)
	c.doubt(n, why)
	return why
}

// known leaves out what is absent only because its kind could not be read.
func known(s *backup.Snapshot, all []backup.Absence) []backup.Absence {
	return slices.DeleteFunc(all, func(a backup.Absence) bool { return s.IsUnread(a.Backup, a.Kind) })
}

// object is one in a namespace.
type object struct{ kind, namespace, name string }

// dying names the first of some objects that is being deleted, and says since when.
func dying(s *backup.Snapshot, n int, objects ...object) *Deletion {
	for _, o := range objects {
		if what, since := s.Deleting(n, o.kind, o.namespace, o.name); !since.IsZero() {
			return &Deletion{what + " is being deleted, since " + since.UTC().Format(time.RFC3339), since}
		}
	}
	return nil
}

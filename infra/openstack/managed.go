package openstack

import (
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
)

// managed is a thing that CAPO made for a cluster, which it looks for by its name alone
// after a restore: the status in which it keeps the id is gone (getNetworkByName in
// pkg/cloud/services/networking/network.go, getExistingRouter in router.go,
// getSecurityGroupByName in securitygroups.go, v0.10.0 to v0.14.7).
type managed struct {
	kind, id, name string // the id is empty where the backup records none
	thing          string // for people
}

// managed returns the things of the cluster that CAPO made, or makes.
func (l *location) managed(id backup.ClusterID) (list []managed) {
	if l.record == nil {
		return nil
	}
	d := &l.record.Data
	add := func(kind, id, name, thing string) {
		list = append(list, managed{kind, uuidOf(id), name, thing})
	}
	if name := networkPrefix + resourceName(id); d.manages() {
		add(keyNetwork.String(), d.Network.ID, name, thingNetwork)
		if !given(d.SpecRouter) && !d.noExternal() {
			add(keyRouter.String(), d.Router.ID, name, "router")
		}
	}
	for i, r := range groupRoles {
		if d.makesGroups() && (r.role != roleBastion || d.BastionEnabled) {
			add(keySecurity.String(), d.Groups[i].ID, groupPrefix+resourceName(id)+groupMiddle+r.role, thingGroup)
		}
	}
	return list
}

// renamedKey returns the probe of a thing that is there and has another name, namesakesKey that of
// several things of its name, and namedKey that of any.
func (m *managed) renamedKey() infra.Key {
	return infra.Key{Kind: keyRenamed, Value: m.kind + "/" + m.id + "/" + m.name}
}

func (m *managed) namesakesKey() infra.Key {
	return infra.Key{Kind: keyNamesakes, Value: m.kind + "/" + m.name}
}

func (m *managed) namedKey() infra.Key {
	return infra.Key{Kind: keyManaged, Value: m.kind + "/" + m.name}
}

// probes returns what the rows of a cluster ask for beside the things that it has.
func (l *location) probes(id backup.ClusterID) []infra.Key {
	if l.record == nil {
		return nil
	}
	d := &l.record.Data
	keys := []infra.Key{l.anySubnets(), l.managedSubnet(), l.unusedGroup(id), l.stuckBastion(id), l.floatingElsewhere(), l.bastionElsewhere()}
	if ip := l.bastionAddress(); ip != "" {
		keys = append(keys, infra.Key{Kind: keyFloating, Value: ip})
	}
	if !d.noExternal() && !given(d.SpecExternal) {
		keys = append(keys, infra.Key{Kind: keyExternal, Value: several}, infra.Key{Kind: keyExternal, Value: one})
	}
	for _, m := range l.managed(id) {
		keys = append(keys, m.namesakesKey(), m.namedKey())
		if m.id != "" {
			keys = append(keys, m.renamedKey())
		}
	}
	return keys
}

// noteManaged notes of a thing that exists whether it has its name, and whether another one
// has it. An administrator sees those that the backup's user may not.
func (l *listing) noteManaged(kind, id string, t *thingAnswer) {
	if k, asked := l.managed[kind+"/"+id]; asked && k.Value != kind+"/"+id+"/"+t.Name {
		l.ProbesFound = append(l.ProbesFound, k)
	}
	k := infra.Key{Kind: keyNamesakes, Value: kind + "/" + t.Name}
	l.noteUsed(kind, id, t.Name)
	if !l.marks[k] || !l.cloud.own && t.Project != l.Identity {
		return
	}
	if first, seen := l.named[k]; !seen {
		l.named[k] = id
		l.found(keyManaged, k.Value)
	} else if first != id {
		l.ProbesFound = append(l.ProbesFound, k)
	}
}

// noteUsed notes a security group of a name that is asked for whether anything is in it, and
// several of the name. An administrator sees those of other projects, too.
func (l *listing) noteUsed(kind, id, name string) {
	k := infra.Key{Kind: keyUsed, Value: name}
	if kind != keySecurity.String() || !l.marks[k] {
		return
	}
	if first := l.named[k]; first != "" && first != id {
		l.several(k)
	}
	l.named[k] = id
	if l.ports.used[id] {
		l.found(keyUsed, name)
	}
}

// mark takes a probe that is looked for.
func (l *listing) mark(k infra.Key) {
	l.marks[k] = true
	first, rest, _ := strings.Cut(k.Value, "/")
	switch k.Kind {
	case keyRenamed:
		id, _, _ := strings.Cut(rest, "/")
		l.managed[first+"/"+id] = k
	case keyLost:
		l.kept[first] = append(l.kept[first], rest)
	}
}

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
	kind, id, name string
	thing, renamed string // for people: what it is, and what CAPO does when its name is another
}

// What CAPO does when a thing that it made does not have its name.
const (
	secondNetwork = "CAPO, which looks for it by name, makes a second network and cannot connect that to the router, because the addresses of both overlap: the cluster never gets ready"
	secondRouter  = "CAPO, which looks for it by name, makes a second router and cannot connect that to the subnet, because the first one has the address: the cluster never gets ready"
	secondGroup   = "CAPO, which looks for it by name, makes a second one: machines made from then on are in that one, whose rules do not let them and those of the first one reach each other"
)

// managed are the things of the cluster that CAPO made, by the ids that the backup records.
func (l *location) managed(id backup.ClusterID) (list []managed) {
	if l.record == nil {
		return nil
	}
	d := &l.record.Data
	add := func(kind, id, name, thing, renamed string) {
		if id = uuidOf(id); id != "" {
			list = append(list, managed{kind, id, name, thing, renamed})
		}
	}
	if name := networkPrefix + resourceName(id); (given(d.ManagedSubnets) || d.NodeCIDR != "") && !given(d.SpecNetwork) {
		add(keyNetwork.String(), d.Network.ID, name, thingNetwork, secondNetwork)
		if !given(d.SpecRouter) && !d.noExternal() {
			add(keyRouter.String(), d.Router.ID, name, "router", secondRouter)
		}
	}
	for i, r := range groupRoles {
		if r.role != roleBastion || d.BastionEnabled {
			add(keySecurity.String(), d.Groups[i].ID, groupPrefix+resourceName(id)+groupMiddle+r.role, thingGroup, secondGroup)
		}
	}
	return list
}

// renamedKey is the probe of a thing that is there and has another name, and namesakesKey
// that of several things of its name.
func (m *managed) renamedKey() infra.Key {
	return infra.Key{Kind: keyRenamed, Value: m.kind + "/" + m.id + "/" + m.name}
}

func (m *managed) namesakesKey() infra.Key {
	return infra.Key{Kind: keyNamesakes, Value: m.kind + "/" + m.name}
}

// misnamed are the blockers of what CAPO made and no longer finds, or finds twice.
func (l *location) misnamed(id backup.ClusterID) (list []infra.Blocker) {
	for _, m := range l.managed(id) {
		list = append(list,
			infra.Blocker{Key: m.namesakesKey(), Why: "the project has several with the name of the cluster's " + m.thing + " (" + infra.Brief(m.name) + "), and CAPO, which looks for it by name, fails and never calls the cluster ready: leave the name to " + m.id + " alone"},
			infra.Blocker{Key: m.renamedKey(), Why: "the cluster's " + m.thing + " " + m.id + " is there and does not have its name (" + infra.Brief(m.name) + "): " + m.renamed + "; rename it back"})
	}
	return list
}

// noteManaged notes of a thing that exists whether it has its name, and whether another one
// has it. An administrator sees those that the backup's user may not.
func (l *listing) noteManaged(kind, id string, t *thingAnswer) {
	if k, asked := l.managed[kind+"/"+id]; asked && k.Value != kind+"/"+id+"/"+t.Name {
		l.ProbesFound = append(l.ProbesFound, k)
	}
	k := infra.Key{Kind: keyNamesakes, Value: kind + "/" + t.Name}
	if !l.marks[k] || !l.cloud.own && t.Project != l.Identity {
		return
	}
	if first, seen := l.named[k]; !seen {
		l.named[k] = id
	} else if first != id {
		l.ProbesFound = append(l.ProbesFound, k)
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

package openstack

import (
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
		list = append(list, managed{kind, UUIDOf(id), name, thing})
	}
	if name := networkPrefix + resourceName(id); d.manages() {
		add(KeyNetwork.String(), d.Network.ID, name, thingNetwork)
		if !given(d.SpecRouter) && !d.noExternal() {
			add(KeyRouter.String(), d.Router.ID, name, "router")
		}
	}
	for i, r := range groupRoles {
		if d.makesGroups() && (r.role != roleBastion || d.bastioned()) {
			add(KeySecurity.String(), d.Groups[i].ID, groupPrefix+resourceName(id)+groupMiddle+r.role, thingGroup)
		}
	}
	return list
}

// renamedKey returns the probe of a thing that is there and has another name, namesakesKey that of
// several things of its name, and namedKey that of any.
func (m *managed) renamedKey() infra.Key {
	return infra.Key{Kind: KeyRenamed, Value: m.kind + "/" + m.id + "/" + m.name}
}

func (m *managed) namesakesKey() infra.Key {
	return infra.Key{Kind: KeyNamesakes, Value: m.kind + "/" + m.name}
}

func (m *managed) namedKey() infra.Key {
	return infra.Key{Kind: KeyManaged, Value: m.kind + "/" + m.name}
}

// probes returns what the rows of a cluster ask for beside the things that it has.
func (l *location) probes(id backup.ClusterID) []infra.Key {
	if l.record == nil {
		return nil
	}
	d := &l.record.Data
	keys := []infra.Key{l.anySubnets(), l.managedSubnet(), l.unusedGroup(id), l.stuckBastion(id), l.floatingElsewhere(), l.bastionElsewhere()}
	if l.address() != "" {
		keys = append(keys, l.bastionHad())
	}
	if ip := l.bastionAddress(); ip != "" {
		keys = append(keys, infra.Key{Kind: KeyFloating, Value: ip})
	}
	if !d.noExternal() && !given(d.SpecExternal) {
		keys = append(keys, infra.Key{Kind: KeyExternal, Value: SeveralExternal}, infra.Key{Kind: KeyExternal, Value: OneExternal})
	}
	for _, m := range l.managed(id) {
		keys = append(keys, m.namesakesKey(), m.namedKey())
		if m.id != "" {
			keys = append(keys, m.renamedKey())
		}
	}
	return keys
}

// same reports whether the thing that CAPO finds by its name has the id that the backup records.
func (m *managed) same(p *place) (same, known bool) {
	here, named := idKey(infra.KeyKindOf(m.kind), m.id), m.namedKey()
	switch {
	case here.IsZero(), p.IsSilent(named), p.IsSilent(here):
		return false, false
	case p.Finds(m.renamedKey()), !p.Finds(named), !p.Finds(here):
		return false, true
	}
	return true, true
}

// bastionHad returns the probe of the floating IP that CAPO gave the bastion, where spec asks for none.
// Inventories of older versions asked for it only together with that of an API server.
func (l *location) bastionHad() infra.Key {
	if l.record == nil {
		return infra.Key{}
	}
	if d := &l.record.Data; d.bastioned() && !d.noExternal() && d.BastionAddress == "" && isAddress(d.BastionFloatingIP) {
		return infra.Key{Kind: KeyFloating, Value: d.BastionFloatingIP}
	}
	return infra.Key{}
}

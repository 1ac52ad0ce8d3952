package openstack

import (
	"cmp"
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// own returns the probe of something of a kind that the project of the credential owns. What
// is only shared with the project proves nothing: others see it, too.
func own(kind infra.KeyKind, id string) infra.Key {
	if id = UUIDOf(id); id == "" {
		return infra.Key{}
	}
	return infra.Key{Kind: KeyOwn, Value: kind.String() + "/" + id}
}

// landmarks returns the probes that show the project of a cluster, all of them by ids that the
// backup records: its network, router and security groups, where the project owns them.
func (l *location) landmarks() []infra.Key {
	if l.record == nil {
		return nil
	}
	d := &l.record.Data
	keys := []infra.Key{own(KeyNetwork, d.Network.ID), own(KeyRouter, d.Router.ID), own(KeyBalancer, d.LB.ID)}
	for _, id := range d.Subnets {
		keys = append(keys, own(KeySubnet, id))
	}
	for _, g := range d.Groups {
		keys = append(keys, own(KeySecurity, g.ID))
	}
	return keys
}

// ports returns the probes of the ports that the backup records for a machine, which stay when
// its server is deleted behind CAPO's back.
func (m *member) ports() (keys []infra.Key) {
	if m.server == nil {
		return nil
	}
	for _, id := range m.server.Data.PortIDs {
		if u := UUIDOf(id); u != "" {
			keys = append(keys, infra.Key{Kind: KeyPort, Value: u})
		}
	}
	return keys
}

// ownGroup returns the probe of the server group that the backup records by id for a machine, where the
// project owns it.
func (m *member) ownGroup() infra.Key {
	var w *wish
	switch {
	case m.server != nil:
		w = &m.server.Data.Wish
	case m.machine != nil:
		w = &m.machine.Data.Wish
	default:
		return infra.Key{}
	}
	return own(KeyServerGroup, cmp.Or(w.ServerGroupID, paramOf(w.ServerGroup).id))
}

const hintProof = "nothing was seen in this project that %s records by id: no server, port, network, router or security group of the clusters that use this credential; check that the project and region are those that the clusters are in"

// proofs returns what a listing must show before absence may be concluded from it: one
// thing that the backup records by id for any of the clusters of the target. A target is
// one project in one region, so that what shows it for one cluster shows it for all.
func (objs *objects) proofs() []infra.VisibilityProof {
	sights := map[string]map[infra.Key]bool{} // by target
	targets := map[backup.ClusterID]map[string]bool{}
	note := func(id backup.ClusterID, target string, keys ...infra.Key) {
		if sights[target] == nil {
			sights[target] = map[infra.Key]bool{}
		}
		if targets[id] == nil {
			targets[id] = map[string]bool{}
		}
		targets[id][target] = true
		for _, k := range keys {
			if !k.IsZero() {
				sights[target][k] = true
			}
		}
	}
	for id, l := range objs.locations {
		note(id, l.home, l.landmarks()...)
	}
	for i := range objs.members {
		m := &objs.members[i]
		key, _, _, _ := objs.strong(m)
		note(m.cluster, m.home, append(m.ports(), key, m.ownGroup())...)
	}
	hint := fmt.Sprintf(hintProof, objs.snapshot.Subject().The())
	shared := map[string][]infra.Key{}
	for target, keys := range sights {
		shared[target] = capi.SortedKeys(keys)
	}
	var proofs []infra.VisibilityProof
	for _, id := range objs.order() {
		for _, target := range sortedNames(targets[id]) {
			proofs = append(proofs, infra.VisibilityProof{Cluster: id, Target: target, Any: shared[target], Hint: hint})
		}
	}
	return proofs
}

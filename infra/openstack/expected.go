package openstack

import (
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Expected returns which servers the backup expects, and what ties others to its clusters.
func (p *Provider) Expected(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	c := infra.Expected{Providers: capi.Providers(objs.locations, Name), Controllers: objs.controllers()}
	c.Machines = make([]infra.ExpectedMachine, len(objs.members))
	for i := range objs.members {
		c.Machines[i] = objs.expectedMachine(&objs.members[i])
	}
	c.OwnershipHints = objs.ownershipHints()
	c.Proofs = objs.proofs()
	c.Exclude = objs.exclusions()
	c.Resources = objs.resources()
	c.Recipes = objs.recipes()
	c.LoadBalancers = objs.loadBalancers()
	c.Absent = objs.absent()
	c.Halts, c.Alone = objs.halts(), objs.alone
	c.Steps = objs.steps()
	if len(objs.members) > 0 {
		c.OnInstance = map[string]func(int, infra.Sight) []walk.Step{Name: objs.onInstance()}
	}
	for _, id := range objs.order() {
		c.OwnerTags = append(c.OwnerTags, infra.Key{Kind: infra.OwnerTag, Value: resourceName(id)})
	}
	return c
}

// Survey returns what checks need of Expected.
func (p *Provider) Survey(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	return infra.Expected{Providers: capi.Providers(objs.locations, Name), Absent: objs.absent(), Machines: capi.Orphans(objs.members, objs.orphan)}
}

func (objs *objects) expectedMachine(m *member) infra.ExpectedMachine {
	name := objs.serverName(m)
	c := infra.ExpectedMachine{
		Machine: m.index, Provider: Name, Home: infra.HomeScope{Target: m.home},
		// The Machine names the OpenStackMachine: the OpenStackServer alone makes none ready.
		InfraMissing: m.index >= 0 && m.machine == nil,
		Names:        []infra.Key{{Kind: keyName, Value: name}},
		// A server never gets another id. One that has the machine's name may be a
		// replacement for it, unless CAPO's own port of that name shows that it is none.
		Witness: []infra.Key{{Kind: keyStandIn, Value: name}},
		// Nova keeps the host name that a server was made with when it is renamed.
		Hosts:  []infra.Key{{Kind: KeyHost, Value: strings.ToLower(name)}},
		Weak:   []infra.Key{{Kind: keyMade, Value: infra.Join(m.cluster.Name, name)}, {Kind: keyMade, Value: infra.Join(resourceName(m.cluster), name)}},
		Expect: []infra.Expectation{{Key: infra.Key{Kind: keyName, Value: name}, Warning: code.Renamed}},
	}
	if m.index >= 0 && objs.snapshot.Machines[m.index].Name != name {
		c.Names = append(c.Names, infra.Key{Kind: keyName, Value: objs.snapshot.Machines[m.index].Name})
	}
	c.Orphan = objs.orphan(m)
	c.Strong, c.Source, c.Conflict, c.Doubted = objs.strong(m)
	if c.Strong.IsZero() {
		// The id of a server in a cell that is down is known, and its name is not.
		c.Blind = []infra.Key{Nameless}
	}
	c.Hidden = []infra.Key{Nameless}
	c.Blockers = append(objs.portBlockers(m), objs.floatingLost(m)...)
	// Its own reference may lead elsewhere: the floating IP is where the cluster is.
	if l := objs.locations[m.cluster]; !l.floatingElsewhere().IsZero() {
		c.Blockers = append(c.Blockers, infra.Blocker{Key: l.floatingElsewhere(), Why: floatingElsewhere, Target: l.home})
	}
	if k := m.twinImages(); !k.IsZero() {
		c.Blockers = append(c.Blockers, infra.Blocker{Key: k, Why: imagesBlock})
	}
	if m.meta() != nil {
		c.Searches = []infra.Key{{Kind: keyName, Value: name}, {Kind: KeySought, Value: name}}
	}
	c.Restore = objs.restore(m)
	return c
}

// orphan describes what is left of a machine without its Machine; of one that has it, it
// returns nil.
func (objs *objects) orphan(m *member) *infra.Orphan {
	if m.index >= 0 {
		return nil
	}
	if m.machine == nil {
		o := capi.Orphan(serverKind, &m.server.Meta, &capi.Labels{}, objs.controlPlanes)
		o.ProviderID = providerIDPrefix + "/" + m.server.Data.InstanceID
		return o
	}
	o := capi.Orphan(machineKind, &m.machine.Meta, &m.machine.Data.Labels, objs.controlPlanes)
	o.ProviderID = m.machine.Data.ProviderID
	return o
}

// strong returns the server id that the backup records. CAPO writes it in several places;
// if two of them differ, which server is meant is not known. The region in a provider id
// counts for nothing.
func (objs *objects) strong(m *member) (key infra.Key, source, conflict string, others []infra.Key) {
	var all []infra.Recorded
	if m.machine != nil {
		all = append(all, infra.Recorded{Source: "OpenStackMachine.spec.providerID", Raw: m.machine.Data.ProviderID})
	}
	if m.index >= 0 {
		all = append(all, infra.Recorded{Source: "Machine.spec.providerID", Raw: objs.snapshot.Machines[m.index].ProviderID})
	}
	if m.machine != nil {
		all = append(all, infra.Recorded{Source: "OpenStackMachine.status.instanceID", Raw: m.machine.Data.InstanceID})
	}
	if m.server != nil {
		all = append(all, infra.Recorded{Source: "OpenStackServer.status.instanceID", Raw: m.server.Data.InstanceID})
	}
	return infra.Agreed(KeyServer, "server id", all, func(raw string) string {
		if keys := providerIDKeys(raw); keys != nil {
			return keys[0].Value
		}
		return UUIDOf(raw)
	})
}

// exclusions returns the servers that CAPO makes for no machine: bastions, by their
// recorded id, and by the port that CAPO makes under the name of a bastion, or in the
// bastions' security group.
func (objs *objects) exclusions() []infra.Exclusion {
	var list []infra.Exclusion
	add := func(k infra.Key) { list = append(list, infra.Exclusion{Key: k, Cause: roleBastion}) }
	for _, id := range objs.order() {
		l := objs.locations[id]
		if l.record == nil {
			continue
		}
		if u := UUIDOf(l.record.Data.Bastion.ID); u != "" {
			add(infra.Key{Kind: KeyServer, Value: u})
		}
		for _, c := range clusterNames(id) {
			add(infra.Key{Kind: keyMade, Value: infra.Join(c, id.Name+"-"+roleBastion)})
			if g := l.group(roleBastion); g != "" {
				add(infra.Key{Kind: keyGroup, Value: infra.Join(c, g)})
			}
		}
	}
	for r := range servers.In(objs.snapshot).All() {
		if u := UUIDOf(r.Data.InstanceID); u != "" && isBastion(r) {
			add(infra.Key{Kind: KeyServer, Value: u})
		}
	}
	return list
}

package openstack

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// inspection answers the rows of servers that exist. Those that pass are answered without
// making anything.
type inspection struct {
	q       *questions
	members []*member        // by index into Snapshot.Machines
	first   map[int][]needed // what is looked up before the server, by the same index
	answers map[lookedUp]walk.Answer
}

// needed is a thing that is looked up before the server.
type needed struct {
	row    *walk.Row
	key    infra.Key
	object string
}

// lookedUp is what was asked of a place: machines of one template ask the same.
type lookedUp struct {
	place *place
	key   infra.Key
}

// onInstance returns what asks the rows of the server that a machine's controller takes.
func (objs *objects) onInstance() func(int, infra.Sight) []walk.Step {
	x := &inspection{
		q: &questions{objs: objs, places: map[*infra.Listing]*place{}}, members: make([]*member, len(objs.snapshot.Machines)),
		first: map[int][]needed{}, answers: map[lookedUp]walk.Answer{},
	}
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 {
			x.members[m.index] = m
		}
	}
	n := objs.needed()
	for u, things := range n.first {
		for _, t := range things {
			if d := n.things[t]; len(d.keys) == 1 && rowOf[t.kind] != nil {
				x.first[u.machine] = append(x.first[u.machine], needed{rowOf[t.kind], d.keys[0], t.kind + " " + t.name})
			}
		}
	}
	return x.inspect
}

// inspect asks them in CAPO's order, which ends at the first that it does not pass.
func (x *inspection) inspect(machine int, at infra.Sight) []walk.Step {
	m := x.members[machine]
	if m == nil || m.meta() == nil || at.Listing == nil || m.resolved() == nil {
		return nil
	}
	p := x.q.placeOf(at.Listing)
	if p == nil {
		return nil
	}
	steps := x.network(m, p)
	for _, n := range x.first[machine] {
		a, known := x.answers[lookedUp{p, n.key}]
		if !known {
			a = p.thing(n.key, n.object)
			x.answers[lookedUp{p, n.key}] = a
		}
		steps = x.keep(steps, n.row, a)
	}
	return x.ports(x.aimed(steps, m, p, at.Instance), m, p, at.Instance)
}

// aimed asks S6 and S7 whether the ports of a server are in the networks that CAPO finds for them. It
// finds those of all ports before it creates one.
func (x *inspection) aimed(steps []walk.Step, m *member, p *place, server *infra.Instance) []walk.Step {
	ports, title, name := m.resolved().ports(), x.q.objs.titleOf(m), x.q.objs.serverName(m)
	in := make([]answered, len(ports))
	for i := range ports {
		network := paramOf(string(ports[i].Network))
		in[i], _ = p.meant(network, KeyNetwork)
		subnets := make([]param, len(ports[i].FixedIPs))
		for j := range subnets {
			subnets[j] = portSubnet(string(ports[i].FixedIPs[j].Subnet), network, len(subnets))
			if at, _ := p.meant(subnets[j], KeySubnet); !network.given && in[i].id == "" {
				in[i].id = at.network
			}
		}
		for _, s := range subnets {
			all := p.answered[s.key(KeySubnet)]
			if in[i].id != "" && len(all) > 0 && !slices.ContainsFunc(all, func(a answered) bool { return a.network == in[i].id }) {
				steps = x.keep(steps, rowS7, answer(walk.None, title, fmt.Sprintf("subnet %s is not in network %s", s.people(), in[i].id), "has a port with a subnet of its network"))
			}
		}
	}
	if slices.ContainsFunc(steps, func(s walk.Step) bool { return s.Does().Effect == walk.Waits }) {
		return steps
	}
	for i := range ports {
		network, port := paramOf(string(ports[i].Network)), ports[i].named(name, i)
		switch had := p.portIn(m, i, port, server.ID); {
		case network.id != "" || !network.given && !ports[i].aimed():
		case in[i].id == "" || had == nil:
			steps = x.keep(steps, rowS6, walk.Answer{Found: walk.Unseen, Objects: []string{title}})
		case !slices.Contains(had, in[i].id):
			steps = x.keep(steps, rowS6, answer(walk.Differs, title, fmt.Sprintf("port %s of its server is in network %s, and its object leads to network %s now", port, strings.Join(had, ", "), in[i].id), "names the network by its id"))
		}
	}
	return steps
}

// FactPortIn names, with the name of a port behind it, its network and the device that has it.
const FactPortIn = "portIn"

// portIn returns the network that the backup records for the i-th port, or those in which the server has
// a port of the name; none where neither is known.
func (p *place) portIn(m *member, i int, name, server string) (networks []string) {
	for _, r := range []*backup.Record[osServer]{m.server, m.machine} {
		if r != nil && len(r.Data.Networks) == len(m.resolved().ports()) {
			return []string{strings.ToLower(r.Data.Networks[i])}
		}
	}
	for _, text := range p.Facts.All(FactPortIn + "/" + name) {
		if network, device, _ := strings.Cut(text, " "); device == server {
			networks = append(networks, network)
		}
	}
	return networks
}

// keep adds a step; one that passes only the first time.
func (x *inspection) keep(steps []walk.Step, r *walk.Row, a walk.Answer) []walk.Step {
	if !x.q.Keeps(r, a) {
		return steps
	}
	return append(steps, walk.Step{Row: r, Answer: a})
}

// network asks M12.
func (x *inspection) network(m *member, p *place) []walk.Step {
	l := x.q.objs.locations[m.cluster]
	if l.record == nil || !x.q.objs.snapshot.Machines[m.index].ControlPlane {
		return nil
	}
	d := &l.record.Data
	if d.balanced() || d.noFloatingIP() || given(d.SpecExternal) {
		return nil
	}
	k := infra.Key{Kind: KeyExternal, Value: OneExternal}
	switch {
	case !p.Asks(k) && m.home != l.home:
		return x.keep(nil, rowM12, elsewhere(m))
	case p.Finds(k):
		return x.keep(nil, rowM12, pass)
	case p.IsSilent(k):
		return nil
	}
	return x.keep(nil, rowM12, answer(walk.None, "external network", p.title()+" sees no external network", "is shared with the project"))
}

// ports asks S9, S11, S11b, S13 and S14. What is nowhere in a place is not looked for there machine by
// machine.
func (x *inspection) ports(steps []walk.Step, m *member, p *place, server *infra.Instance) []walk.Step {
	if p.State != code.ScopeComplete {
		return steps
	}
	for _, r := range [...]struct {
		row  *walk.Row
		kind infra.KeyKind
		of   func(*member, *place) walk.Answer
	}{{rowS9, KeyTwins, x.twin}, {rowS11, KeyPortless, x.portless}, {rowS14, KeyLost, x.lost}} {
		switch {
		case p.kinds[r.kind]:
			steps = x.keep(steps, r.row, r.of(m, p))
		case p.kindsAsked[r.kind]:
			steps = x.keep(steps, r.row, pass)
		}
	}
	if p.lacking[KeyNetwork] && p.lacking[KeyHeld] {
		steps = x.keep(steps, rowS11, x.networkless(m, p))
	}
	if name := x.q.objs.serverName(m); x.q.objs.locations[m.cluster].release >= withServers {
		a := pass
		if p.several[name] {
			a = answer(walk.Several, x.q.objs.titleOf(m), fmt.Sprintf("several servers are called %s, or are what a search for that finds", name), "is found alone: the owner of another one renames that")
		}
		steps = x.keep(steps, rowS12, a)
	}
	switch {
	case server.Name == "" || !p.kindsAsked[KeyHeld]:
		return steps
	case server.Name == x.q.objs.serverName(m):
		if a := pass; !slices.ContainsFunc(steps, func(s walk.Step) bool { return s.Row == rowS11 && s.Answer.Found != walk.Passed }) {
			if p.lacking[KeyHeld] {
				a = x.unnamed(m, p)
			}
			steps = x.keep(steps, rowS11b, a)
		}
		return x.keep(steps, rowS13, pass)
	}
	return x.keep(steps, rowS13, x.second(m, p, server))
}

// twin asks S9.
func (x *inspection) twin(m *member, p *place) walk.Answer {
	objs := x.q.objs
	for i, k := range objs.twinPorts(m) {
		if p.Finds(k) {
			return answer(walk.Several, objs.titleOf(m), fmt.Sprintf("several ports are called %s", m.resolved().ports()[i].named(objs.serverName(m), i)), "has one alone")
		}
	}
	return pass
}

// portless asks S11.
func (x *inspection) portless(m *member, p *place) walk.Answer {
	for _, b := range x.q.objs.portBlockers(m) {
		if b.Key.Kind == KeyPortless && p.Finds(b.Key) {
			return answer(walk.Differs, x.q.objs.titleOf(m), "its server's port does not have its name, and has the address that the spec gives", "has a port of its name")
		}
	}
	return pass
}

// networkless asks S11 for the networks in which ports are to be made that are gone.
func (x *inspection) networkless(m *member, p *place) walk.Answer {
	objs := x.q.objs
	for i, k := range objs.twinPorts(m) {
		id, _, _ := strings.Cut(k.Value, "/")
		network, own := idKey(KeyNetwork, id), infra.Key{Kind: KeyHeld, Value: k.Value}
		if !p.IsSilent(network) && !p.Finds(network) && !p.FindsSeveral(network) && !p.IsSilent(own) && !p.Finds(own) {
			port := m.resolved().ports()[i].named(objs.serverName(m), i)
			return answer(walk.None, "network "+id, fmt.Sprintf("network %s is gone, and no server has port %s", id, port), "exists, or no port of the machine names it")
		}
	}
	return walk.Answer{}
}

// unnamed asks S11b. Ports of the name that are free count as none.
func (x *inspection) unnamed(m *member, p *place) walk.Answer {
	ports, object := m.resolved().ports(), x.q.objs.titleOf(m)
	for i, k := range x.q.objs.twinPorts(m) {
		switch own := (infra.Key{Kind: KeyHeld, Value: k.Value}); {
		case p.IsSilent(own) || p.Finds(own):
		case ports[i].MACAddress != "":
			return answer(walk.Differs, object, "its server's port does not have its name, and the spec gives its MAC address", "has a port of its name")
		default:
			return answer(walk.None, object, "its server's port does not have its name (OpenStackMachine name and -0, or the suffix of the port)", "has a port of its name")
		}
	}
	return pass
}

// lost asks S14.
func (x *inspection) lost(m *member, p *place) walk.Answer {
	for _, b := range x.q.objs.floatingLost(m) {
		if p.Finds(b.Key) {
			return answer(walk.Differs, x.q.objs.titleOf(m), "its server does not have the floating IP that its IPAddress keeps", "has it")
		}
	}
	return pass
}

// second asks S13 of a server that has another name than the machine's.
func (x *inspection) second(m *member, p *place, server *infra.Instance) walk.Answer {
	for _, k := range x.q.objs.twinPorts(m) {
		own := infra.Key{Kind: KeyHeld, Value: k.Value}
		switch {
		case !p.Asks(own):
			return walk.Answer{}
		case p.Finds(own):
			return pass
		}
	}
	return answer(walk.Differs, x.q.objs.titleOf(m), fmt.Sprintf("its server is called %s, and nothing has a port of the machine's name", infra.Brief(server.Name)), "has a server of its name")
}

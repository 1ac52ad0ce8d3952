package openstack

import (
	"fmt"

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
	for _, a := range x.ports(m, p, at.Instance) {
		steps = x.keep(steps, a.Row, a.Answer)
	}
	return steps
}

// keep adds a step; one that passes only the first time.
func (x *inspection) keep(steps []walk.Step, r *walk.Row, a walk.Answer) []walk.Step {
	if a.Found == "" || a.Found == walk.Passed && x.q.passed[r] {
		return steps
	}
	if a.Found == walk.Passed {
		if x.q.passed == nil {
			x.q.passed = map[*walk.Row]bool{}
		}
		x.q.passed[r] = true
	}
	return append(steps, walk.Step{Row: r, Answer: a})
}

// network asks M12.
func (x *inspection) network(m *member, p *place) []walk.Step {
	l := x.q.objs.locations[m.cluster]
	if l.record == nil || !x.q.objs.snapshot.Machines[m.index].ControlPlane || m.home != l.home {
		return nil
	}
	d := &l.record.Data
	if d.LBEnabled || d.noFloatingIP() || given(d.SpecExternal) {
		return nil
	}
	k := infra.Key{Kind: keyExternal, Value: one}
	switch {
	case p.found[k]:
		return x.keep(nil, rowM12, pass)
	case p.silent(k):
		return nil
	}
	return x.keep(nil, rowM12, answer(walk.None, "external network", p.title()+" sees no external network", "is shared with the project"))
}

// ports asks S9, S11, S13 and S14.
func (x *inspection) ports(m *member, p *place, server *infra.Instance) []walk.Step {
	objs := x.q.objs
	title := objs.titleOf(m)
	steps := make([]walk.Step, 0, 4)
	add := func(r *walk.Row, a walk.Answer) { steps = append(steps, walk.Step{Row: r, Answer: a}) }
	held, asked := false, true
	for i, k := range objs.twinPorts(m) {
		a := pass
		if p.found[k] {
			a = answer(walk.Several, title, fmt.Sprintf("several ports are called %s", m.resolved().ports()[i].named(objs.serverName(m), i)), "has one alone")
		} else if p.silent(k) {
			a = walk.Answer{}
		}
		add(rowS9, a)
		own := infra.Key{Kind: keyHeld, Value: k.Value}
		held, asked = held || p.found[own], asked && p.asked[own]
	}
	for _, b := range objs.portBlockers(m) {
		if b.Key.Kind != keyPortless {
			continue
		}
		a := pass
		if p.found[b.Key] {
			a = answer(walk.Differs, title, "its server has the address of the port, and the port has another name", "has a port of its name")
		}
		add(rowS11, a)
	}
	switch name := objs.serverName(m); {
	case server.Name == "" || !asked || p.State != code.ScopeComplete:
	case server.Name == name || held:
		add(rowS13, pass)
	default:
		add(rowS13, answer(walk.Differs, title, fmt.Sprintf("its server is called %s, and nothing has a port of the machine's name", infra.Brief(server.Name)), "has a server of its name"))
	}
	for _, b := range objs.floatingLost(m) {
		a := pass
		if p.found[b.Key] {
			a = answer(walk.Differs, title, "its server does not have the floating IP that its IPAddress keeps", "has it")
		}
		add(rowS14, a)
	}
	return steps
}

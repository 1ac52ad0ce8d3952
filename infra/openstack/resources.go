package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// thing is something beside servers that CAPO needs or makes.
type thing struct {
	cluster    backup.ClusterID
	target     string
	kind, name string // as people call it
}

// dependency is what is known of a thing.
type dependency struct {
	thing
	keys        []infra.Key // none where it cannot be looked up
	by          string      // the first object that names it
	more        int
	whenGone    code.WhenGone
	consequence string
	row         *walk.Row // that asks for it; nil: none of the cluster's
}

// user is an object of the backup that a server may yet be made from.
type user struct {
	cluster backup.ClusterID
	machine int // index into Snapshot.Machines; -1 for a template
	name    string
}

// needs collects things and who needs them.
type needs struct {
	objects *objects
	things  map[thing]*dependency
	uses    map[user][]thing
	first   map[user][]thing // of them, what CAPO looks up by name before it looks for the server
	order   []user
}

// What CAPO does without a thing (controllers/openstackcluster_controller.go,
// pkg/cloud/services/networking v0.14.7). What it makes again has another id, and the
// OpenStackServers of the backup name the old one.
const (
	madeWithOtherID = "CAPO creates a new one, with another id; OpenStackServers name the old one, so that none of their servers can be created again"
	neverMade       = "CAPO never creates one that the cluster was given: it does nothing for the cluster until it is back"
	lostAddress     = "CAPO asks for the same address again, which only an administrator of OpenStack may choose: it does nothing for the cluster until the project has it"
)

// needed collects all things: first those of the clusters, then those that templates and
// machines name.
func (objs *objects) needed() *needs {
	if objs.need != nil {
		return objs.need
	}
	n := &needs{objects: objs, things: map[thing]*dependency{}, uses: map[user][]thing{}, first: map[user][]thing{}}
	for _, id := range objs.order() {
		if l := objs.locations[id]; l.record != nil {
			n.addCluster(id, l)
		}
	}
	n.addTemplates()
	for i := range objs.members {
		n.addMember(&objs.members[i])
	}
	objs.need = n
	return n
}

// dependencies returns the things, in order.
func (objs *objects) dependencies() []*dependency {
	return slices.SortedFunc(maps.Values(objs.needed().things), func(a, b *dependency) int {
		return cmp.Or(capi.CompareClusters(a.cluster, b.cluster), cmp.Compare(a.target, b.target), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
}

func (d *dependency) usedBy() string {
	if d.more > 0 {
		return fmt.Sprintf("%s and %d more", d.by, d.more)
	}
	return d.by
}

func (objs *objects) resources() []infra.Resource {
	var list []infra.Resource
	for _, d := range objs.dependencies() {
		list = append(list, infra.Resource{
			Cluster: d.cluster, Target: d.target, Kind: d.kind, Name: d.name, Keys: d.keys, UsedBy: d.usedBy(),
			WhenGone: d.whenGone, Consequence: d.consequence,
		})
	}
	return list
}

// recipes returns what templates and machines need.
func (objs *objects) recipes() []infra.Recipe {
	n := objs.needed()
	var list []infra.Recipe
	for _, u := range n.order {
		r := infra.Recipe{Cluster: u.cluster, Machine: u.machine, Object: u.name}
		for _, t := range n.uses[u] {
			r.Needs = append(r.Needs, infra.Need{Kind: t.kind, Name: t.name, UsedBy: n.things[t].usedBy()})
		}
		for _, t := range n.first[u] {
			r.First = append(r.First, infra.Need{Kind: t.kind, Name: t.name, UsedBy: n.things[t].usedBy()})
		}
		list = append(list, r)
	}
	return list
}

// add notes a thing that an object names, once for each object.
func (n *needs) add(t thing, keys []infra.Key, by string, when code.WhenGone, consequence string) *dependency {
	if t.name == "" {
		return &dependency{}
	}
	keys = slices.DeleteFunc(keys, infra.Key.IsZero)
	d := n.things[t]
	if d != nil {
		d.more++
		return d
	}
	d = &dependency{thing: t, keys: keys, by: by, whenGone: when, consequence: consequence}
	n.things[t] = d
	return d
}

// Kinds of things, as people call them.
const (
	thingNetwork = "network"
	thingGroup   = "security group"
	thingSubnet  = "subnet"
)

// addCluster notes what an OpenStackCluster was given, and what CAPO made for it.
func (n *needs) addCluster(id backup.ClusterID, l *location) {
	d := &l.record.Data
	by := fmt.Sprintf("%s %s/%s", clusterKind, l.record.Namespace, l.record.Name)
	need := func(row *walk.Row, kind, name string, key infra.Key, consequence string) {
		n.add(thing{id, l.home, kind, name}, []infra.Key{key}, by, code.HaltsCluster, consequence).row = row
	}
	made := func(kind, name, consequence string, keys ...infra.Key) {
		n.add(thing{id, l.home, kind, name}, keys, by, code.MadeAgain, consequence)
	}
	part := func(row *walk.Row, kind string, keyKind infra.KeyKind, spec string, have named) {
		if p := paramOf(spec); p.given {
			need(row, kind, cmp.Or(p.called, p.name, have.Name, p.id, have.ID), p.key(keyKind), neverMade)
		} else {
			made(kind, cmp.Or(have.Name, have.ID), madeWithOtherID, idKey(keyKind, have.ID))
		}
	}
	if d.manages() {
		made(thingNetwork, cmp.Or(d.Network.Name, d.Network.ID), madeWithOtherID, idKey(KeyNetwork, d.Network.ID))
	} else {
		part(rowC8, thingNetwork, KeyNetwork, d.SpecNetwork, d.Network)
	}
	if d.Router != (named{}) || given(d.SpecRouter) {
		part(rowC11, "router", KeyRouter, d.SpecRouter, d.Router)
	}
	// Where none is named, CAPO takes the only external one, whichever that is, and C5 asks: the one that it took
	// before matters to the addresses of its router alone.
	if p := paramOf(d.SpecExternal); !d.noExternal() && (p.given || d.External.ID != "" && d.manages() && given(d.RouterIPs)) {
		if !p.given {
			p = param{given: true, id: d.External.ID}
		}
		need(rowC6, "external network", cmp.Or(d.External.Name, p.people()), p.with("router:external", "true").key(KeyNetwork), neverMade)
	}
	n.addSubnets(id, l, need, made)
	var ips []struct{ Subnet json.RawMessage }
	_ = json.Unmarshal([]byte(d.RouterIPs), &ips) // in another form there are none
	for _, ip := range ips {
		if p := paramOf(string(ip.Subnet)); p.given && d.manages() && !d.noExternal() {
			need(rowC15, thingSubnet, cmp.Or(p.people(), "of an address of the router"), p.anywhere().key(KeySubnet), neverMade)
		}
	}
	for _, g := range d.Groups {
		made(thingGroup, cmp.Or(g.Name, g.ID), madeWithOtherID, idKey(KeySecurity, g.ID))
	}
	if d.balanced() {
		made("load balancer", balancerName(id), "", idKey(KeyBalancer, d.LB.ID), infra.Key{Kind: KeyBalancer, Value: ByName + balancerName(id)})
		for _, g := range d.balancerGiven() {
			need(rowC16, g.thing, cmp.Or(g.people(), "of the load balancer"), g.key(g.kind), neverMade)
		}
	}
	if ip := l.address(); ip != "" {
		need(rowC23, "floating IP", ip, infra.Key{Kind: KeyFloating, Value: ip}, lostAddress)
	}
	n.addBastion(id, l, by)
}

// addSubnets notes the subnets of the cluster. CAPO looks in the cluster's network alone: for those
// that it was given as they are given, for its own by the addresses.
func (n *needs) addSubnets(id backup.ClusterID, l *location, need func(*walk.Row, string, string, infra.Key, string), made func(string, string, string, ...infra.Key)) {
	d := &l.record.Data
	given := !d.manages() && (given(d.SpecSubnets) || given(d.SpecSubnet) || given(d.SpecNetwork))
	for _, s := range d.Subnets {
		if given {
			need(rowC10, thingSubnet, s, idKey(KeySubnet, s), neverMade)
		} else {
			made(thingSubnet, s, "", idKey(KeySubnet, s), l.managedSubnet())
		}
	}
	if d.manages() {
		return
	}
	for i, raw := range d.givenSubnets() {
		if p := paramOf(string(raw)); p.id == "" && p.people() != "" && !p.vague {
			need(rowC10, thingSubnet, "named "+p.people(), l.subnet(i).key(KeySubnet), neverMade)
		}
	}
}

// addBastion notes the bastion that the cluster asks for, or the one that CAPO deletes
// because its OpenStackServer is in the backup and nobody asks for it any more.
func (n *needs) addBastion(id backup.ClusterID, l *location, by string) {
	name := id.Name + "-" + roleBastion
	t, keys := thing{id, l.home, roleBastion, name}, []infra.Key{{Kind: KeyBastion, Value: name}}
	switch n.objects.servers[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: name}] {
	case nil:
		if l.record.Data.bastioned() {
			n.add(t, keys, by, code.MadeAgain, "")
		}
	default:
		if l.record.Data.bastioned() {
			n.add(t, keys, by, code.MadeAgain, "")
		} else {
			n.add(t, keys, by, code.Unwanted, "CAPO deletes a bastion that spec.bastion does not ask for")
		}
	}
}

// isAddress reports whether the host of an endpoint is an address, as a floating IP is.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// addTemplates goes over the templates that owners make machines of.
func (n *needs) addTemplates() {
	s := n.objects.snapshot
	index := capi.Index(templates.In(s))
	seen := map[user]bool{}
	visit := func(id backup.ClusterID, ref backup.Ref) {
		l := n.objects.locations[id]
		if l == nil || ref.Kind != templateKind {
			return
		}
		t := index[capi.Referred(id.Backup, id.Namespace, ref)]
		if t == nil {
			return
		}
		if u := (user{id, -1, templateKind + " " + t.Namespace + "/" + t.Name}); !seen[u] {
			seen[u] = true
			n.addWish(u, l.home, &t.Data.Wish, nil)
		}
	}
	for i := range s.ControlPlanes {
		visit(s.ControlPlanes[i].Cluster, s.ControlPlanes[i].Infrastructure)
	}
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Kind == "MachineDeployment" {
			visit(g.Cluster, g.Infrastructure)
		}
	}
}

// addMember notes what a machine's server is made of, from its OpenStackServer, into
// which CAPO has resolved networks and security groups.
func (n *needs) addMember(m *member) {
	var first []infra.KeyKind // kinds that CAPO looks up by name before it looks for the server
	switch {
	case m.index < 0:
	case m.server != nil:
		first = []infra.KeyKind{KeyImage, KeyServerGroup, KeyFlavor}
		n.addWish(user{m.cluster, m.index, serverKind + " " + m.server.Namespace + "/" + m.server.Name}, m.home, &m.server.Data.Wish, first)
	case m.machine != nil:
		if m.resolved() != nil {
			if first = []infra.KeyKind{KeyImage, KeyServerGroup}; n.objects.locations[m.cluster].mayServe() {
				first = append(first, KeyFlavor) // since 0.11
			}
		}
		n.addWish(user{m.cluster, m.index, machineKind + " " + m.machine.Namespace + "/" + m.machine.Name}, m.home, &m.machine.Data.Wish, first)
	}
}

// addWish notes what a server is made of; first are the kinds of what is looked up before it.
func (n *needs) addWish(u user, target string, w *wish, first []infra.KeyKind) {
	n.order = append(n.order, u)
	note := func(kind, name string, key infra.Key) {
		if name == "" {
			return
		}
		t := thing{u.cluster, target, kind, name}
		if !slices.Contains(n.uses[u], t) {
			n.uses[u] = append(n.uses[u], t)
			n.add(t, []infra.Key{key}, u.name, code.FailsReplacement, "")
		}
	}
	byParam := func(kind string, keyKind infra.KeyKind, raw, id string) {
		p := paramOf(raw)
		if keyKind == KeyImage {
			p = imageOf(raw)
		}
		if id != "" {
			p = param{given: true, id: id}
		}
		note(kind, p.people(), p.key(keyKind))
		// What is named by its id is not looked up.
		if slices.Contains(first, keyKind) && p.id == "" && p.people() != "" && !p.vague {
			n.first[u] = append(n.first[u], thing{u.cluster, target, kind, p.people()})
		}
	}
	byParam("image", KeyImage, w.Image, w.ImageUUID)
	byParam("flavor", KeyFlavor, w.Flavor, w.FlavorID)
	byParam("server group", KeyServerGroup, w.ServerGroup, w.ServerGroupID)
	if w.KeyPair != "" {
		note("key pair", w.KeyPair, infra.Key{Kind: KeyKeyPair, Value: w.KeyPair})
	}
	// The ports are looked up before the server as well (ConstructPorts in
	// pkg/cloud/services/networking/port.go v0.10.0 to v0.15.0-beta.0).
	ofPort := func(kind string, keyKind infra.KeyKind, p param) {
		name, key := "named "+p.people(), p.key(keyKind) // the cluster's own of that name is looked up by its id
		switch {
		case p.id != "" && keyKind != KeySubnet: // CAPO takes the id as it is
			note(kind, n.called(u.cluster, p.id), idKey(keyKind, p.id))
			return
		case !p.given:
			return
		case p.id != "":
			name, key = "with id "+p.id, idKey(keyKind, p.id) // the cluster's own may be made again with another one
		case p.vague:
			name = "of a filter that is not followed here"
		}
		note(kind, name, key)
		if t := (thing{u.cluster, target, kind, name}); first != nil && !slices.Contains(n.first[u], t) {
			n.first[u] = append(n.first[u], t)
		}
	}
	var ports []struct {
		Network        json.RawMessage
		FixedIPs       []struct{ Subnet json.RawMessage }
		SecurityGroups []json.RawMessage
	}
	var groups []json.RawMessage
	_ = json.Unmarshal([]byte(w.Ports), &ports) // in another form it names none
	_ = json.Unmarshal([]byte(w.Groups), &groups)
	for _, p := range ports {
		network := paramOf(string(p.Network))
		ofPort(thingNetwork, KeyNetwork, network)
		for _, ip := range p.FixedIPs {
			ofPort(thingSubnet, KeySubnet, portSubnet(string(ip.Subnet), network, len(p.FixedIPs)))
		}
		groups = append(groups, p.SecurityGroups...)
	}
	for _, g := range groups {
		ofPort(thingGroup, KeySecurity, paramOf(string(g)))
	}
}

// portSubnet returns one of so many subnets of a port, as CAPO looks for it: in the port's network, which
// one that is alone says where the port names none.
func portSubnet(raw string, network param, of int) param {
	if !network.given && of == 1 {
		return paramOf(raw).anywhere()
	}
	return paramOf(raw).with("network_id", network.id)
}

// called returns the name of what a cluster's status records by the id, or the id.
func (n *needs) called(id backup.ClusterID, of string) string {
	if l := n.objects.locations[id]; l != nil && l.record != nil && of != "" {
		d := &l.record.Data
		for _, o := range append([]named{d.Network}, d.Groups[:]...) {
			if o.ID == of && o.Name != "" {
				return o.Name
			}
		}
	}
	return of
}

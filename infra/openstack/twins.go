package openstack

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"drift-detector/infra"
)

// twinsBlock says that there are several ports of a name on a network.
const twinsBlock = "its network has several ports with the name of its port (OpenStackMachine name and -0, or the suffix of the port), and CAPO, which looks for ports by name before it looks for the server, fails (found multiple ports with name): it does nothing for the machine until the port of its server alone has that name"

// portTaken says that another server has a port of the machine's.
const portTaken = "the port of its name is attached to another server, or to one that is gone, and Nova refuses it for a second one: detach it there, and clear status.instanceState of its OpenStackServer if that says ERROR by then"

// twinPorts returns the ports that CAPO looks for before it looks for the machine's server,
// because a restore drops the status in which it keeps their ids (AdoptPorts in
// pkg/cloud/services/networking/port.go v0.10.0, AdoptPortsServer v0.11.0 to
// v0.15.0-beta.0). Releases up to 0.9 look for the server first, and for ports only to
// make one.
func (objs *objects) twinPorts(m *member) []infra.Key {
	w, l := m.resolved(), objs.locations[m.cluster]
	if w == nil {
		return nil
	}
	var all []infra.Key
	for i, p := range w.ports() {
		network, name := paramOf(string(p.Network)), p.named(objs.serverName(m), i)
		// Without an id any network will do: where two ports share the name, it is theirs.
		id := UUIDOf(network.id)
		if !network.given && !p.aimed() {
			id = l.network()
		}
		all = append(all, TwinKey(id, name))
	}
	return all
}

// portless says that CAPO cannot make the port that it does not find.
const portless = "its server's port does not have its name (OpenStackMachine name and -0, or the suffix of the port), and CAPO, which looks for ports by name before it looks for the server, asks for a second one with the address that the spec gives, which Neutron refuses because the first one has it: rename the port of its server back"

// portBlockers returns what keeps CAPO from the machine by its ports: several of one name, one
// of another server, and one without its name whose address the spec gives (EnsurePorts in
// pkg/cloud/services/networking/port.go v0.12.0 to v0.14.7, CreatePorts v0.10.0, v0.11.0).
func (objs *objects) portBlockers(m *member) (list []infra.Blocker) {
	for i, k := range objs.twinPorts(m) {
		list = append(list, infra.Blocker{Key: k, Why: twinsBlock}, infra.Blocker{Key: infra.Key{Kind: KeyTaken, Value: k.Value}, Why: portTaken, Making: true})
		for _, fixed := range m.resolved().ports()[i].FixedIPs {
			if ip, err := netip.ParseAddr(fixed.IPAddress); err == nil {
				list = append(list, infra.Blocker{Key: infra.Key{Kind: KeyPortless, Value: k.Value + "/" + ip.String()}, Why: portless})
			}
		}
	}
	return list
}

// trunks returns the probes of the trunks that CAPO wants for the ports of a machine.
func (objs *objects) trunks(m *member) (keys []infra.Key) {
	w := m.resolved()
	if w == nil || m.index < 0 || !w.trunks() {
		return nil
	}
	for i, p := range w.ports() {
		if p.isTrunk(w) {
			keys = append(keys, infra.Key{Kind: KeyTrunk, Value: ByName + p.named(objs.serverName(m), i)})
		}
	}
	return keys
}

// wantedPort is what is read of a port that an object asks for.
type wantedPort struct {
	NameSuffix *string
	Network    json.RawMessage
	FixedIPs   []struct {
		IPAddress string
		Subnet    json.RawMessage
	}
	MACAddress string
	Trunk      *bool // nil: as the server
	Tags       []string
}

// aimed reports whether a subnet of the port says which network it is in, where it names none
// (normalizePortTarget in pkg/cloud/services/networking/port.go v0.14.7).
func (p *wantedPort) aimed() bool {
	for _, ip := range p.FixedIPs {
		if given(string(ip.Subnet)) {
			return true
		}
	}
	return false
}

// trunks reports whether a port of the server is to be a trunk.
func (w *wish) trunks() bool {
	return (w.Trunk || strings.Contains(w.Ports, `"trunk"`)) && slices.ContainsFunc(w.ports(), func(p wantedPort) bool { return p.isTrunk(w) })
}

func (p *wantedPort) isTrunk(w *wish) bool {
	return p.Trunk == nil && w.Trunk || p.Trunk != nil && *p.Trunk
}

// ports returns those that CAPO makes for the server.
func (w *wish) ports() []wantedPort {
	var wanted []wantedPort
	if json.Unmarshal([]byte(w.Ports), &wanted) != nil || len(wanted) == 0 {
		return []wantedPort{{}} // one port on the cluster's network
	}
	return wanted
}

// named returns the name of the i-th port of a server (getPortName in
// pkg/cloud/services/networking/port.go v0.14.7).
func (p *wantedPort) named(server string, i int) string {
	if p.NameSuffix != nil {
		return server + "-" + *p.NameSuffix
	}
	return server + "-" + strconv.Itoa(i)
}

// TwinKey returns the probe of several ports of a name in a network, by its id, or in any.
func TwinKey(network, name string) infra.Key {
	return infra.Key{Kind: KeyTwins, Value: infra.Join(network, name)}
}

package openstack

import (
	"cmp"
	"strings"

	"drift-detector/infra"
)

// floatingElsewhere says that the floating IP of an API server is another server's.
const floatingElsewhere = "the floating IP of its API server is attached to a server that is no control plane machine of the cluster, and CAPO leaves it there (Floating IP already associated to a port): who asks for the cluster's API reaches that server; detach it (openstack floating ip unset --port), and CAPO attaches it to a control plane machine"

// address returns the floating IP of the cluster's API server, or "".
func (l *location) address() string {
	if l.record == nil {
		return ""
	}
	d := &l.record.Data
	ip := cmp.Or(d.FloatingIP, d.Endpoint)
	switch {
	case !d.balanced() && isAddress(d.Endpoint): // what machines ask for (reconcileAPIServerLoadBalancer in controllers/openstackmachine_controller.go v0.10.0 to v0.15.0-beta.0)
		ip = d.Endpoint
	case d.balanced() && !isAddress(ip):
		ip = d.LBAddress // a name is looked up: the address is what it led to
	}
	if !d.noFloatingIP() && isAddress(ip) {
		return ip
	}
	return ""
}

// floatingElsewhere returns the probe of a floating IP that leads to another server than one of
// the cluster's control plane. With a load balancer CAPO attaches it again
// (reconcileAPIServerLoadBalancer in controllers/openstackmachine_controller.go v0.10.0 to
// v0.14.7; AssociateFloatingIP in pkg/cloud/services/networking/floatingip.go).
func (l *location) floatingElsewhere() infra.Key {
	ip := l.address()
	if ip == "" || l.record.Data.balanced() {
		return infra.Key{}
	}
	return infra.Key{Kind: KeyElsewhere, Value: ip}
}

// bastionAddress returns the floating IP that the cluster's bastion is to have, or "".
func (l *location) bastionAddress() string {
	if l.record == nil {
		return ""
	}
	if d := &l.record.Data; d.bastioned() && !d.noExternal() && isAddress(d.BastionAddress) {
		return d.BastionAddress
	}
	return ""
}

// bastionElsewhere returns the probe of that floating IP at another server.
func (l *location) bastionElsewhere() infra.Key {
	if ip := l.bastionAddress(); ip != "" {
		return infra.Key{Kind: KeyElsewhere, Value: ip}
	}
	return infra.Key{}
}

// planes are the control planes and bastions of the backup, by what says that a port is theirs: the ids
// of their servers, and what CAPO names a first port, with its description.
type planes struct {
	servers, ports map[string]string // to the floating IP of their API server, or of a bastion
	clusters       map[string]bool   // description/floating IP
}

func (objs *objects) planes() planes {
	p := planes{map[string]string{}, map[string]string{}, map[string]bool{}}
	for id, l := range objs.locations {
		for _, c := range clusterNames(id) {
			p.clusters[infra.Join(c, l.address())] = true
			p.clusters[infra.Join(c, l.bastionAddress())] = true
		}
		if ip := l.bastionAddress(); ip != "" {
			p.servers[UUIDOf(l.record.Data.Bastion.ID)] = ip
		}
	}
	for i := range objs.members {
		m := &objs.members[i]
		ip := objs.locations[m.cluster].address()
		if ip == "" || m.index < 0 || !objs.snapshot.Machines[m.index].ControlPlane {
			continue
		}
		if key, _, _, _ := objs.strong(m); !key.IsZero() {
			p.servers[key.Value] = ip
		}
		p.ports[objs.serverName(m)] = ip
	}
	return p
}

// LeadTo reports whether a floating IP at the port is at a control plane of its cluster, or
// at what is no server, as the port of a virtual address or of a load balancer is. A server
// that CAPO made for the cluster after the backup counts as one.
func (r *Recorded) LeadTo(p *Port, ip string) bool {
	device := UUIDOf(p.Device)
	if device == "" || !strings.HasPrefix(p.Owner, "compute:") || r.planes.servers[device] == ip {
		return true
	}
	cluster, name := p.MadeFor()
	return cluster != "" && r.planes.clusters[infra.Join(cluster, ip)] && (r.planes.ports[name] == ip || !r.Names[name])
}
